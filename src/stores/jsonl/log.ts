// The session file: an append-only log of readable lines, tied together by hashes, with one fenced writer.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, type Log } from '../../core/index.ts';
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

/** How to open a session file. */
export type JsonlOptions = {
  /** `read` takes no lock and changes nothing; any number may read while one writes. */
  readonly mode?: 'write' | 'read';
  /** The session's id, for a file that does not exist yet. */
  readonly session?: string;
  /** How long a live writer may give no sign of life before another may take its place. */
  readonly silentMs?: number;
  /** Takes the writer's place from whoever has it; what that one writes from then on is refused. */
  readonly force?: boolean;
  /** How much must lie before an epoch for an index to be worth a file. */
  readonly indexBytes?: number;
  readonly disk?: Disk;
};

/** A log in a file. */
export type JsonlLog = Log & {
  /** Where it is now: `move` changes it. */
  readonly file: string;
  readonly session: string;
  /** What was found wrong, mended or worth knowing when the file was opened. */
  readonly report: readonly SessionFileProblem[];
  /** How it was opened: from where, and how many lines were looked at. */
  readonly opened: { readonly from: 'index' | 'start'; readonly lines: number };
  /** The session as text, with what could not be saved at its end: to be kept elsewhere when the disk gives up. */
  export(): string;
  /** Gives the file another name, which must be free, while it stays open; whoever follows it goes on following. */
  move(to: string): Promise<void>;
};

const defaultIndexBytes = 1024 * 1024;

/** Opens a session file, or begins one. */
export async function openJsonl(name: string, options: JsonlOptions = {}): Promise<JsonlLog> {
  const { disk = realDisk, session, silentMs = defaultLockTimeoutMs, force = false } = options;
  // One file, one lock, however many names lead to it.
  const file = disk.realpath(name);
  try {
    return options.mode === 'read'
      ? createReaderLog(disk, file, await openForReading(disk, file))
      : createWriterLog(disk, file, await openForWriting({ disk, file, session, silentMs, force }), {
          indexBytes: defaultIndexBytes,
          silentMs,
          ...options,
        });
  } catch (error) {
    throw toDiskError(error, file, 'open');
  }
}

const toOpenInfo = ({ found, problems }: OpenedFile): Pick<JsonlLog, 'session' | 'report' | 'opened'> => ({
  session: found.chart.header?.session ?? '',
  report: problems,
  opened: { from: found.from, lines: found.lines },
});

function createWriterLog(
  disk: Disk,
  first: string,
  opened: Awaited<ReturnType<typeof openForWriting>>,
  { indexBytes, silentMs }: { readonly indexBytes: number; readonly silentMs: number },
): JsonlLog {
  const { fd, found } = opened;
  const { chart, prefix } = found;
  /** All that goes by the file's name. */
  const placeAt = (file: string, lock: FileLock, lastWrite?: number) => {
    const paths = createBranchReader(disk, file, () => ({ fd, chart }));
    return {
      file,
      lock,
      paths,
      writer: createSessionFileWriter({ disk, file, fd, lock, chart, findLineEnd: paths.findLineEnd, lastWrite }),
    };
  };
  let place = placeAt(first, opened.lock);
  const waiting = new Set<() => void>();
  const whole = found.from === 'index' && chart.indexedFrom === 0 ? chart.offset : 0;
  let indexed = chart.indexedFrom;
  let indexing: Promise<void> = Promise.resolve();
  let turn: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;

  /** An index is a help, never a need: one that cannot be written is done without. */
  function index(): void {
    const { lastEpoch } = chart;
    if (!lastEpoch || lastEpoch.offset <= indexed || lastEpoch.offset < indexBytes || chart.problems.length > 0) return;
    indexed = lastEpoch.offset;
    indexing = indexing.then(() => writeSidecar(disk, place.file, fd, lastEpoch, prefix)).catch(() => {});
  }

  /** At the end a straight file is vouched for as a whole: the next to open it need not look at its lines. */
  function indexAll(): void {
    const straight = summarizeLinearFile(chart);
    if (!straight || chart.offset < indexBytes || chart.offset === whole) return;
    const all = { ...toCursor(chart), straight };
    indexing = indexing.then(() => writeSidecar(disk, place.file, fd, all, prefix)).catch(() => {});
  }

  function wake(): void {
    index();
    for (const each of waiting) each();
  }

  /** Whoever opens the file next can tell by its time whether anybody wrote to it since; without it nobody can, which does no harm. */
  function stamp(): void {
    try {
      if (chart.time !== '' && place.writer.isLastWriter()) disk.setModifiedTime(fd, Date.parse(chart.time));
    } catch {}
  }

  async function shut(): Promise<void> {
    await turn;
    try {
      await place.writer.flush();
      indexAll();
      await indexing;
      stamp();
    } finally {
      place.lock.release();
      disk.close(fd);
    }
  }

  async function moveTo(to: string): Promise<void> {
    const { file, lock, writer } = place;
    // Nothing added, but a writer that has given up says so: a new one must not take its place.
    await writer.add(chart.seq, []);
    await writer.flush();
    await indexing;
    const next = await moveLockedFile({ disk, file, lock, to, silentMs });
    lock.release();
    place = placeAt(to, next, writer.lastWrite);
  }

  index();
  return {
    ...toOpenInfo(opened),
    get file() {
      return place.file;
    },
    read: (options) => place.paths.read(options),
    append(after, facts, options) {
      if (closed) return Promise.reject(fileLogClosedError(place.file));
      const mine = turn.then(() => place.writer.add(after, facts, options));
      turn = mine.then(wake, () => {});
      return mine;
    },
    follow(from, signal) {
      const end = (): number => chart.offset;
      const change = (until: AbortSignal): Promise<void> => waitForWake(waiting, until);
      const file = (): string => place.file;
      return followFile(
        { disk, file, chart, end, waitForChange: change, isClosed: () => closed !== undefined },
        from,
        signal,
      );
    },
    export: () => place.writer.text(),
    move(to) {
      if (closed) return Promise.reject(fileLogClosedError(place.file));
      const mine = turn
        .then(() => moveTo(to))
        .catch((error: unknown) => {
          throw toDiskError(error, place.file, 'move');
        });
      turn = mine.catch(() => {});
      return mine;
    },
    close() {
      closed ??= shut();
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

/** Others write: each reading first looks at what was added, or at the file that was put in this one's place. */
function createReaderLog(disk: Disk, file: string, opened: OpenedFile): JsonlLog {
  let now = { fd: opened.fd, chart: opened.found.chart };
  let turn: Promise<void> = Promise.resolve();
  let closed = false;
  const paths = createBranchReader(disk, file, () => now);

  async function refresh(): Promise<void> {
    const facts = disk.stat(now.fd);
    const inode = disk.inode(file);
    // A file that is gone from its place was moved or removed: what is open of it is still the session.
    const same = inode === undefined || inode === facts?.inode;
    const fresh = same ? undefined : reopenSameSession(disk, file, now.chart.header);
    const size = facts?.size ?? 0;
    if (fresh === undefined && size === now.chart.offset) return;
    if (fresh === undefined && size > now.chart.offset) return void (await updateIndex(now.chart, disk, file, now.fd));
    if (fresh !== undefined) disk.close(now.fd);
    const fd = fresh ?? now.fd;
    now = { fd, chart: (await buildIndex(disk, file, fd)).chart };
  }

  return {
    ...toOpenInfo(opened),
    file,
    async *read(options) {
      if (closed) throw fileLogClosedError(file);
      turn = turn.catch(() => {}).then(refresh);
      await turn;
      yield* paths.read(options);
    },
    append: () => Promise.reject(fileReadOnlyError(file)),
    follow(from, signal) {
      const end = (): undefined => undefined;
      const change = (until: AbortSignal): Promise<void> => sleep(pollMs, undefined, { signal: until }).catch(() => {});
      return followFile(
        { disk, file: () => file, chart: now.chart, end, waitForChange: change, isClosed: () => closed },
        from,
        signal,
      );
    },
    export: () => readAll(disk, now.fd, 0, disk.stat(now.fd)?.size ?? 0).toString(),
    move: () => Promise.reject(fileReadOnlyError(file)),
    async close() {
      if (closed) return;
      closed = true;
      disk.close(now.fd);
    },
  };
}

const fileLogClosedError = (file: string): FairleadError =>
  new FairleadError('store/closed', `The log of ${file} is closed.`, { blame: 'harness' });

const fileReadOnlyError = (file: string): FairleadError =>
  new FairleadError('store/read-only', `${file} is open for reading only.`, {
    blame: 'user',
    hint: 'Open it for writing to add to it.',
  });
