// Session log in a JSONL file: append-only, with a hash chain and one fenced writer.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/index.ts';
import { closedError, readOnlyError } from '../store-errors.ts';
import { toCursor, summarizeLinearFile, type SessionFileProblem } from './file-index.ts';
import { realDisk, readAll, type Disk } from './disk.ts';
import { followFile, reopenSameSession } from './follow.ts';
import { defaultLockTimeoutMs, type FileLock } from './lock.ts';
import { moveLockedFile } from './move.ts';
import { openForReading, openForWriting, type OpenedFile } from './open-file.ts';
import { createBranchReader } from './branch-reader.ts';
import { writeSidecar } from './sidecar.ts';
import { updateIndex, buildIndex } from './load-index.ts';
import { toDiskError } from './errors.ts';
import { createSessionFileWriter } from './writer.ts';

/** Options to open a session file. */
export type JsonlOptions = {
  /** `read` acquires no lock and changes nothing; any number of readers may read while one process writes. */
  readonly mode?: 'write' | 'read';
  /** The session id of a file that does not exist yet. */
  readonly session?: string;
  /** How long a running writer may send no heartbeat before its lock is taken over, in milliseconds; 30,000 by default. */
  readonly lockTimeoutMs?: number;
  /** Takes the lock over even from a responsive writer, whose further appends are refused. */
  readonly force?: boolean;
  /** The size from which a sidecar index is written, in bytes; 1 MiB by default. */
  readonly indexBytes?: number;
  /** The file operations; for tests. */
  readonly disk?: Disk;
};

/** A session log in a file. */
export type JsonlLog = Log & {
  /** Its current path: `move` changes it. */
  readonly file: string;
  readonly session: string;
  /** The problems that were found when the file was opened. */
  readonly report: readonly SessionFileProblem[];
  /** How it was opened: from the sidecar index or by a full scan, and how many lines were scanned. */
  readonly opened: { readonly from: 'index' | 'start'; readonly lines: number };
  /** The session as text, including appends that could not be written: to be saved elsewhere if the disk fails. */
  export(): string;
  /** Renames the open file to a name that must be free. Followers continue to follow it. */
  move(to: string): Promise<void>;
};

const defaultIndexBytes = 1024 * 1024;

/** Opens a session file; creates it if there is none. */
export async function openJsonl(name: string, options: JsonlOptions = {}): Promise<JsonlLog> {
  const { disk = realDisk, session, lockTimeoutMs = defaultLockTimeoutMs, force = false } = options;
  // Links resolved: a file has one lock, whatever its names.
  const file = disk.realpath(name);
  try {
    return options.mode === 'read'
      ? createReaderLog(disk, file, await openForReading(disk, file))
      : createWriterLog(disk, file, await openForWriting({ disk, file, session, lockTimeoutMs, force }), {
          indexBytes: defaultIndexBytes,
          lockTimeoutMs,
          ...options,
        });
  } catch (error) {
    throw toDiskError(error, file, 'open');
  }
}

const toOpenInfo = ({ loaded, problems }: OpenedFile): Pick<JsonlLog, 'session' | 'report' | 'opened'> => ({
  session: loaded.index.header?.session ?? '',
  report: problems,
  opened: { from: loaded.from, lines: loaded.lines },
});

function createWriterLog(
  disk: Disk,
  firstFile: string,
  opened: Awaited<ReturnType<typeof openForWriting>>,
  { indexBytes, lockTimeoutMs }: { readonly indexBytes: number; readonly lockTimeoutMs: number },
): JsonlLog {
  const { fd, loaded } = opened;
  const { index, prefix } = loaded;
  /** Everything that depends on the name of the file. */
  const createLocation = (file: string, lock: FileLock, lastWrite?: number) => {
    const branches = createBranchReader(disk, file, () => ({ fd, index }));
    return {
      file,
      lock,
      branches,
      writer: createSessionFileWriter({ disk, file, fd, lock, index, findLineEnd: branches.findLineEnd, lastWrite }),
    };
  };
  let location = createLocation(firstFile, opened.lock);
  const waiting = new Set<() => void>();
  const fullIndexOffset = loaded.from === 'index' && index.indexedFrom === 0 ? index.offset : 0;
  let savedOffset = index.indexedFrom;
  let saving: Promise<void> = Promise.resolve();
  let pending: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;

  /** The sidecar index is optional: an error while writing it is ignored. */
  function saveEpochIndex(): void {
    const { lastEpoch } = index;
    if (!lastEpoch || lastEpoch.offset <= savedOffset || lastEpoch.offset < indexBytes || index.problems.length > 0)
      return;
    savedOffset = lastEpoch.offset;
    saving = saving.then(() => writeSidecar(disk, location.file, fd, lastEpoch, prefix)).catch(() => {});
  }

  /** On close the index covers a whole file without branches: the next open need not scan its lines. */
  function saveFullIndex(): void {
    const straight = summarizeLinearFile(index);
    if (!straight || index.offset < indexBytes || index.offset === fullIndexOffset) return;
    const content = { ...toCursor(index), straight };
    saving = saving.then(() => writeSidecar(disk, location.file, fd, content, prefix)).catch(() => {});
  }

  function wake(): void {
    saveEpochIndex();
    for (const each of waiting) each();
  }

  /** Sets the modification time to that of the last event, so that the next open can detect writes of other programs. */
  function markClosed(): void {
    try {
      if (index.time !== '' && location.writer.isLastWriter()) disk.setModifiedTime(fd, Date.parse(index.time));
    } catch {}
  }

  async function close(): Promise<void> {
    await pending;
    try {
      await location.writer.flush();
      saveFullIndex();
      await saving;
      markClosed();
    } finally {
      location.lock.release();
      disk.close(fd);
    }
  }

  async function moveTo(to: string): Promise<void> {
    const { file, lock, writer } = location;
    // An empty append throws if the writer has failed: a new writer must not replace it.
    await writer.append(index.seq, []);
    await writer.flush();
    await saving;
    const next = await moveLockedFile({ disk, file, lock, to, lockTimeoutMs });
    lock.release();
    location = createLocation(to, next, writer.lastWrite);
  }

  saveEpochIndex();
  return {
    ...toOpenInfo(opened),
    get file() {
      return location.file;
    },
    read: (options) => location.branches.read(options),
    append(after, facts, options) {
      if (closed) return Promise.reject(closedError(location.file));
      const own = pending.then(() => location.writer.append(after, facts, options));
      pending = own.then(wake, () => {});
      return own;
    },
    follow(from, signal) {
      const end = (): number => index.offset;
      const waitForChange = (until: AbortSignal): Promise<void> => waitForWake(waiting, until);
      const file = (): string => location.file;
      return followFile({ disk, file, index, end, waitForChange, isClosed: () => closed !== undefined }, from, signal);
    },
    export: () => location.writer.text(),
    move(to) {
      if (closed) return Promise.reject(closedError(location.file));
      const own = pending
        .then(() => moveTo(to))
        .catch((error: unknown) => {
          throw toDiskError(error, location.file, 'move');
        });
      pending = own.catch(() => {});
      return own;
    },
    close() {
      closed ??= close();
      for (const each of waiting) each();
      return closed;
    },
  };
}

function waitForWake(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => {
    waiting.delete(wake);
    signal.removeEventListener('abort', wake);
    resolve();
  };
  waiting.add(wake);
  signal.addEventListener('abort', wake, { once: true });
  if (signal.aborted) wake();
  return promise;
}

const pollMs = 100;

/** Other processes may write: each read first updates the index, or opens the file that replaced this one. */
function createReaderLog(disk: Disk, file: string, opened: OpenedFile): JsonlLog {
  let current = { fd: opened.fd, index: opened.loaded.index };
  let refreshing: Promise<void> = Promise.resolve();
  let closed = false;
  const branches = createBranchReader(disk, file, () => current);

  async function refresh(): Promise<void> {
    const stat = disk.stat(current.fd);
    const inode = disk.inode(file);
    // A file that was moved or removed is still readable through its descriptor.
    const isSame = inode === undefined || inode === stat?.inode;
    const newFd = isSame ? undefined : reopenSameSession(disk, file, current.index.header);
    const size = stat?.size ?? 0;
    if (newFd === undefined && size === current.index.offset) return;
    if (newFd === undefined && size > current.index.offset)
      return void (await updateIndex(current.index, disk, file, current.fd));
    if (newFd !== undefined) disk.close(current.fd);
    const fd = newFd ?? current.fd;
    current = { fd, index: (await buildIndex(disk, file, fd)).index };
  }

  return {
    ...toOpenInfo(opened),
    file,
    async *read(options) {
      if (closed) throw closedError(file);
      refreshing = refreshing.catch(() => {}).then(refresh);
      await refreshing;
      yield* branches.read(options);
    },
    append: () => Promise.reject(readOnlyError(file)),
    follow(from, signal) {
      const end = (): undefined => undefined;
      const waitForChange = (until: AbortSignal): Promise<void> =>
        sleep(pollMs, undefined, { signal: until }).catch(() => {});
      return followFile(
        { disk, file: () => file, index: current.index, end, waitForChange, isClosed: () => closed },
        from,
        signal,
      );
    },
    export: () => readAll(disk, current.fd, 0, disk.stat(current.fd)?.size ?? 0).toString(),
    move: () => Promise.reject(readOnlyError(file)),
    async close() {
      if (closed) return;
      closed = true;
      disk.close(current.fd);
    },
  };
}
