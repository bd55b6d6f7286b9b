// Adds lines to a session file: one write for the facts of a call, synced before they count, taken back if they cannot be.
import { randomBytes } from 'node:crypto';
import { FairleadError, type AppendOptions, type Event, type Fact } from '../../core/index.ts';
import { toCursor, type SessionFileIndex } from './file-index.ts';
import { readAll, writeAll, type Disk } from './disk.ts';
import { extendSegment, advancePast, setLastEvent } from './index-update.ts';
import { formatEventBody, hashLine, withHash } from './line.ts';
import type { FileLock } from './lock.ts';
import { fileChangedError, toDiskError, fileFencedError, fileGoneError } from './errors.ts';

/** What a writer writes to. */
export type WriterContext = {
  readonly disk: Disk;
  readonly file: string;
  readonly fd: number;
  readonly lock: FileLock;
  readonly chart: SessionFileIndex;
  /** Where the line of an event ends; throws if there is no such event. */
  readonly findLineEnd: (id: string) => Promise<number>;
  /** When the writer before this one last wrote, where this one takes its place. */
  readonly lastWrite: number | undefined;
};

/** The one who adds to a file. */
export type SessionFileWriter = {
  add(after: number, facts: readonly Fact[], options?: AppendOptions): Promise<readonly Event[]>;
  /** Makes everything added so far safe from a power cut. */
  flush(): Promise<void>;
  /** The session's text: what the file holds, what is not yet settled and, at the end, what could not be saved. */
  readonly text: () => string;
  /** When it last wrote to the file, if ever. */
  readonly lastWrite: number | undefined;
  /** Whether, by its size and its time, the last to write to the file was this one. */
  isLastWriter(): boolean;
};

type WrittenLine = { readonly event: Event; readonly text: string; readonly link: string };

/** How much unsettled text is kept in memory for an export. */
const maxUnsyncedChars = 4 * 1024 * 1024;

/** A random part for ids, so that two writers never make the same one. */
export const createIdSuffix = (): string => randomBytes(3).toString('base64url').replaceAll('-', '_').toLowerCase();

/** Makes the writer of a file. */
export function createSessionFileWriter({
  disk,
  file,
  fd,
  lock,
  chart,
  findLineEnd,
  ...before
}: WriterContext): SessionFileWriter {
  const mark = createIdSuffix();
  const inode = disk.stat(fd)?.inode;
  let held: string[] = [];
  let heldFrom = chart.offset;
  let heldSize = 0;
  let unsaved = '';
  let broken: Error | undefined;
  let { lastWrite } = before;

  function compose(facts: readonly Fact[], above: string | null): readonly WrittenLine[] {
    const time = new Date().toISOString();
    let { maxSeq: seq, link } = chart;
    let parent = above;
    return facts.map((fact) => {
      const spot = { seq: ++seq, id: `${seq.toString(36)}.${mark}`, parent, time };
      const body = formatEventBody(fact, spot);
      link = hashLine(link, body);
      parent = spot.id;
      return { event: { ...fact, ...spot }, text: `${withHash(body, link)}\n`, link };
    });
  }

  async function save(bytes: Buffer, settle: boolean): Promise<void> {
    try {
      checkPlace();
      writeAll(disk, fd, bytes);
      lastWrite = Date.now();
    } catch (error) {
      const trouble = toDiskError(error, file, 'write to');
      if (isLockLost(trouble) || !takeBack()) broken = trouble;
      throw trouble;
    }
    if (settle) await sync(chart.offset + bytes.length);
  }

  async function sync(size: number): Promise<void> {
    try {
      await disk.sync(fd);
      checkPlace();
      checkFile(size);
    } catch (error) {
      // After a failed sync nobody knows what the disk holds: nothing may succeed on this descriptor again.
      broken = toDiskError(error, file, 'make safe');
      if (!isLockLost(broken)) takeBack();
      throw broken;
    }
  }

  function checkPlace(): void {
    if (!lock.isHeld()) throw disk.inode(file) === undefined ? fileGoneError(file) : fileFencedError(file);
  }

  /** Where a promise is given, what was synced must be the session: not a file that was removed, replaced or written to by others. */
  function checkFile(size: number): void {
    if (disk.inode(file) !== inode) throw fileGoneError(file);
    if (disk.stat(fd)?.size !== size) throw fileChangedError(file);
  }

  /** Cuts off what was written of a call that failed. Never lengthens the file: bytes that are missing are not ours to invent. */
  function takeBack(): boolean {
    try {
      const size = disk.stat(fd)?.size ?? 0;
      if (size > chart.offset) disk.truncate(fd, chart.offset);
      return size >= chart.offset;
    } catch {
      return false;
    }
  }

  function count(written: readonly WrittenLine[], parentEnd: number | undefined): void {
    for (const { event, text, link } of written) {
      const { offset } = chart;
      const next = offset + Buffer.byteLength(text);
      const stretch = extendSegment(chart, { offset, next }, event.parent);
      if (stretch.from === offset) stretch.parentEnd = parentEnd;
      if (event.type === 'epoch-started' && event.baseline) {
        stretch.epochs.push(offset);
        chart.lastEpoch = toCursor(chart);
      }
      advancePast(chart, next);
      setLastEvent(chart, event, link);
    }
  }

  /** Unsettled text is kept until it is settled: it may be the only copy if the disk gives up. */
  function keep(text: string, settled: boolean): void {
    unsaved = '';
    if (settled || heldSize + text.length > maxUnsyncedChars) {
      held = [];
      heldSize = 0;
      heldFrom = chart.offset;
    } else {
      held.push(text);
      heldSize += text.length;
    }
  }

  return {
    async add(after, facts, options = {}) {
      if (broken) throw broken;
      if (after !== chart.seq) throw appendConflictError(after, chart.seq);
      if (facts.length === 0) return [];
      const above = options.parent ?? chart.id;
      const parentEnd = above === chart.id || above === null ? undefined : await findLineEnd(above);
      const written = compose(facts, above);
      const text = written.length === 1 ? (written[0]?.text ?? '') : written.map((each) => each.text).join('');
      try {
        await save(Buffer.from(text), options.durable === true);
      } catch (error) {
        unsaved = text;
        throw error;
      }
      count(written, parentEnd);
      keep(text, options.durable === true);
      return written.map(({ event }) => event);
    },
    async flush() {
      if (broken || held.length === 0) return;
      await sync(chart.offset);
      keep('', true);
    },
    get lastWrite() {
      return lastWrite;
    },
    isLastWriter() {
      if (lastWrite === undefined) return false;
      const facts = disk.stat(fd);
      return facts?.size === chart.offset && facts.mtimeMs <= lastWrite + 1;
    },
    text() {
      let saved = '';
      try {
        saved = readAll(disk, fd, 0, heldFrom).toString();
      } catch {
        // The disk does not even read: what memory holds is all there is.
      }
      return saved + held.join('') + unsaved;
    },
  };
}

const isLockLost = (error: Error): boolean =>
  error instanceof FairleadError && ['store/fenced', 'store/gone', 'store/changed'].includes(error.code);

const appendConflictError = (after: number, last: number): FairleadError =>
  new FairleadError(
    'store/conflict',
    `Another writer has added to this session: expected event ${after} to be the last, found ${last}.`,
    { blame: 'store' },
  );
