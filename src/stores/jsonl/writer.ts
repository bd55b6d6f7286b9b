// Appends lines to a session file: one write per append, synced if it must be durable, truncated again if it fails.
import { randomBytes } from 'node:crypto';
import { FairleadError, type AppendOptions, type Event, type Fact } from '../../core/index.ts';
import { toCursor, type SessionFileIndex } from './file-index.ts';
import { readAll, writeAll, type Disk } from './disk.ts';
import { extendSegment, advancePast, setLastEvent } from './index-update.ts';
import { formatEventBody, hashLine, withHash } from './line.ts';
import type { FileLock } from './lock.ts';
import { appendConflictError, fencedError } from '../store-errors.ts';
import { fileChangedError, toDiskError, fileGoneError } from './errors.ts';

/** What a writer needs. */
export type WriterContext = {
  readonly disk: Disk;
  readonly file: string;
  readonly fd: number;
  readonly lock: FileLock;
  readonly index: SessionFileIndex;
  /** The end offset of the line of an event; throws if there is none. */
  readonly findLineEnd: (id: string) => Promise<number>;
  /** The time of the last write of the writer that this one replaces after a move. */
  readonly lastWrite: number | undefined;
};

/** The writer of a file. */
export type SessionFileWriter = {
  append(after: number, facts: readonly Fact[], options?: AppendOptions): Promise<readonly Event[]>;
  /** Makes all appends so far durable. */
  flush(): Promise<void>;
  /** The text of the session: the file, then appends that are not durable yet, then an append that could not be written. */
  readonly text: () => string;
  /** The time of its last write, if any. */
  readonly lastWrite: number | undefined;
  /** Whether this writer was the last to write, by the size and the modification time of the file. */
  isLastWriter(): boolean;
};

type WrittenLine = { readonly event: Event; readonly text: string; readonly link: string };

/** How much text that is not durable is kept in memory for an export. */
const maxUnsyncedChars = 4 * 1024 * 1024;

/** A random suffix for event ids, so that two writers never create the same id. */
export const createIdSuffix = (): string => randomBytes(3).toString('base64url').replaceAll('-', '_').toLowerCase();

/** Creates the writer of a file. */
export function createSessionFileWriter({
  disk,
  file,
  fd,
  lock,
  index,
  findLineEnd,
  ...before
}: WriterContext): SessionFileWriter {
  const idSuffix = createIdSuffix();
  const inode = disk.stat(fd)?.inode;
  let unsynced: string[] = [];
  let unsyncedFrom = index.offset;
  let unsyncedChars = 0;
  let unsaved = '';
  let broken: Error | undefined;
  let { lastWrite } = before;

  function formatLines(facts: readonly Fact[], parentId: string | null): readonly WrittenLine[] {
    const time = new Date().toISOString();
    let { maxSeq: seq, link } = index;
    let parent = parentId;
    return facts.map((fact) => {
      const position = { seq: ++seq, id: `${seq.toString(36)}.${idSuffix}`, parent, time };
      const body = formatEventBody(fact, position);
      link = hashLine(link, body);
      parent = position.id;
      return { event: { ...fact, ...position }, text: `${withHash(body, link)}\n`, link };
    });
  }

  async function save(bytes: Buffer, durable: boolean): Promise<void> {
    try {
      assertLocked();
      writeAll(disk, fd, bytes);
      lastWrite = Date.now();
    } catch (error) {
      const diskError = toDiskError(error, file, 'write to');
      if (isLockLost(diskError) || !truncateFailedWrite()) broken = diskError;
      throw diskError;
    }
    if (durable) await sync(index.offset + bytes.length);
  }

  async function sync(size: number): Promise<void> {
    try {
      await disk.sync(fd);
      assertLocked();
      assertUnchanged(size);
    } catch (error) {
      // After a failed sync the content of the disk is unknown: no further write on this descriptor may succeed.
      broken = toDiskError(error, file, 'sync');
      if (!isLockLost(broken)) truncateFailedWrite();
      throw broken;
    }
  }

  function assertLocked(): void {
    if (!lock.isHeld()) throw disk.inode(file) === undefined ? fileGoneError(file) : fencedError(file);
  }

  /** Before an append is reported as durable: the synced file must still be the session file, with no bytes of other programs. */
  function assertUnchanged(size: number): void {
    if (disk.inode(file) !== inode) throw fileGoneError(file);
    if (disk.stat(fd)?.size !== size) throw fileChangedError(file);
  }

  /** Removes the bytes of a failed append. Returns false if the file is shorter than the index, which truncation must not extend. */
  function truncateFailedWrite(): boolean {
    try {
      const size = disk.stat(fd)?.size ?? 0;
      if (size > index.offset) disk.truncate(fd, index.offset);
      return size >= index.offset;
    } catch {
      return false;
    }
  }

  function updateIndex(written: readonly WrittenLine[], parentEnd: number | undefined): void {
    for (const { event, text, link } of written) {
      const { offset } = index;
      const next = offset + Buffer.byteLength(text);
      const segment = extendSegment(index, { offset, next }, event.parent);
      if (segment.from === offset) segment.parentEnd = parentEnd;
      if (event.type === 'epoch-started' && event.baseline) {
        segment.epochs.push(offset);
        index.lastEpoch = toCursor(index);
      }
      advancePast(index, next);
      setLastEvent(index, event, link);
    }
  }

  /** Keeps text until it is durable: if the disk fails, memory may hold the only copy. */
  function keepUnsynced(text: string, durable: boolean): void {
    unsaved = '';
    if (durable || unsyncedChars + text.length > maxUnsyncedChars) {
      unsynced = [];
      unsyncedChars = 0;
      unsyncedFrom = index.offset;
    } else {
      unsynced.push(text);
      unsyncedChars += text.length;
    }
  }

  return {
    async append(after, facts, options = {}) {
      if (broken) throw broken;
      if (after !== index.seq) throw appendConflictError(after, index.seq);
      if (facts.length === 0) return [];
      const parentId = options.parent ?? index.id;
      const parentEnd = parentId === index.id || parentId === null ? undefined : await findLineEnd(parentId);
      const written = formatLines(facts, parentId);
      const text = written.length === 1 ? (written[0]?.text ?? '') : written.map((each) => each.text).join('');
      try {
        await save(Buffer.from(text), options.durable === true);
      } catch (error) {
        unsaved = text;
        throw error;
      }
      updateIndex(written, parentEnd);
      keepUnsynced(text, options.durable === true);
      return written.map(({ event }) => event);
    },
    async flush() {
      if (broken || unsynced.length === 0) return;
      await sync(index.offset);
      keepUnsynced('', true);
    },
    get lastWrite() {
      return lastWrite;
    },
    isLastWriter() {
      if (lastWrite === undefined) return false;
      const stat = disk.stat(fd);
      return stat?.size === index.offset && stat.mtimeMs <= lastWrite + 1;
    },
    text() {
      let saved = '';
      try {
        saved = readAll(disk, fd, 0, unsyncedFrom).toString();
      } catch {
        // The disk cannot be read: memory holds all that is left.
      }
      return saved + unsynced.join('') + unsaved;
    },
  };
}

const isLockLost = (error: Error): boolean =>
  error instanceof FairleadError && ['store/fenced', 'store/gone', 'store/changed'].includes(error.code);
