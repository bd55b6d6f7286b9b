// The session file: an append-only log of readable lines, tied together by hashes, with one fenced writer.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, type Log } from '../../core/index.ts';
import { spotOf, straightOf, type Problem } from './chart.ts';
import { realDisk, readAll, type Disk } from './disk.ts';
import { followFile } from './follow.ts';
import { openToRead, openToWrite, type Opened } from './opening.ts';
import { pathsOf } from './paths.ts';
import { writeSidecar } from './sidecar.ts';
import { carryOn, fromStart } from './survey.ts';
import { diskTrouble } from './trouble.ts';
import { newWriter } from './writer.ts';

/** How to open a session file. */
export type JsonlOptions = {
  /** `read` takes no lock and changes nothing; any number may read while one writes. */
  readonly mode?: 'write' | 'read';
  /** The session's id, for a file that does not exist yet. */
  readonly session?: string;
  /** How long a live writer may give no sign of life before another may take its place. */
  readonly silentMs?: number;
  /** How much must lie before an epoch for an index to be worth a file. */
  readonly indexBytes?: number;
  readonly disk?: Disk;
};

/** A log in a file. */
export type JsonlLog = Log & {
  readonly file: string;
  readonly session: string;
  /** What was found wrong, mended or worth knowing when the file was opened. */
  readonly report: readonly Problem[];
  /** How it was opened: from where, and how many lines were looked at. */
  readonly opened: { readonly from: 'index' | 'start'; readonly lines: number };
  /** The session as text, with what could not be saved at its end: to be kept elsewhere when the disk gives up. */
  export(): string;
};

const usualSilence = 30_000;
const usualIndex = 1024 * 1024;

/** Opens a session file, or begins one. */
export async function openJsonl(name: string, options: JsonlOptions = {}): Promise<JsonlLog> {
  const { disk = realDisk, session, silentMs = usualSilence } = options;
  // One file, one lock, however many names lead to it.
  const file = disk.real(name);
  try {
    return options.mode === 'read'
      ? readerOf(disk, file, await openToRead(disk, file))
      : writerOf(disk, file, await openToWrite({ disk, file, session, silentMs }), options.indexBytes ?? usualIndex);
  } catch (error) {
    throw diskTrouble(error, file, 'open');
  }
}

const face = (file: string, { found, problems }: Opened): Pick<JsonlLog, 'file' | 'session' | 'report' | 'opened'> => ({
  file,
  session: found.chart.header?.session ?? '',
  report: problems,
  opened: { from: found.from, lines: found.lines },
});

function writerOf(
  disk: Disk,
  file: string,
  opened: Awaited<ReturnType<typeof openToWrite>>,
  indexBytes: number,
): JsonlLog {
  const { fd, found, lock } = opened;
  const { chart, prefix } = found;
  const paths = pathsOf(disk, file, () => ({ fd, chart }));
  const writer = newWriter({ disk, file, fd, lock, chart, endOf: paths.endOf });
  const waiting = new Set<() => void>();
  const whole = found.from === 'index' && chart.base === 0 ? chart.offset : 0;
  let indexed = chart.base;
  let indexing: Promise<void> = Promise.resolve();
  let turn: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;

  /** An index is a help, never a need: one that cannot be written is done without. */
  function index(): void {
    const { epoch } = chart;
    if (!epoch || epoch.offset <= indexed || epoch.offset < indexBytes || chart.problems.length > 0) return;
    indexed = epoch.offset;
    indexing = indexing.then(() => writeSidecar(disk, file, fd, epoch, prefix)).catch(() => {});
  }

  /** At the end a straight file is vouched for as a whole: the next to open it need not look at its lines. */
  function indexAll(): void {
    const straight = straightOf(chart);
    if (!straight || chart.offset < indexBytes || chart.offset === whole) return;
    const all = { ...spotOf(chart), straight };
    indexing = indexing.then(() => writeSidecar(disk, file, fd, all, prefix)).catch(() => {});
  }

  function wake(): void {
    index();
    for (const each of waiting) each();
  }

  /** Whoever opens the file next can tell by its time whether anybody wrote to it since; without it nobody can, which does no harm. */
  function stamp(): void {
    try {
      if (chart.time !== '' && writer.isAlone()) disk.stamp(fd, Date.parse(chart.time));
    } catch {}
  }

  async function shut(): Promise<void> {
    await turn;
    try {
      await writer.settle();
      indexAll();
      await indexing;
      stamp();
    } finally {
      lock.release();
      disk.close(fd);
    }
  }

  index();
  return {
    ...face(file, opened),
    read: paths.read,
    append(after, facts, options) {
      if (closed) return Promise.reject(closedTrouble(file));
      const mine = turn.then(() => writer.add(after, facts, options));
      turn = mine.then(wake, () => {});
      return mine;
    },
    follow(from, signal) {
      const end = (): number => chart.offset;
      const change = (until: AbortSignal): Promise<void> => nextWake(waiting, until);
      return followFile({ disk, file, chart, end, change, isClosed: () => closed !== undefined }, from, signal);
    },
    export: writer.text,
    close() {
      closed ??= shut();
      for (const each of waiting) each();
      return closed;
    },
  };
}

function nextWake(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
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
function readerOf(disk: Disk, file: string, opened: Opened): JsonlLog {
  let now = { fd: opened.fd, chart: opened.found.chart };
  let turn: Promise<void> = Promise.resolve();
  let closed = false;
  const paths = pathsOf(disk, file, () => now);

  async function refresh(): Promise<void> {
    const inode = disk.inode(file);
    const facts = disk.facts(now.fd);
    if (inode === undefined || (inode === facts?.inode && facts.size === now.chart.offset)) return;
    if (inode === facts?.inode && facts.size > now.chart.offset)
      return void (await carryOn(now.chart, disk, file, now.fd));
    const fd = disk.open(file, 'r');
    disk.close(now.fd);
    now = { fd, chart: (await fromStart(disk, file, fd)).chart };
  }

  return {
    ...face(file, opened),
    async *read(options) {
      if (closed) throw closedTrouble(file);
      turn = turn.catch(() => {}).then(refresh);
      await turn;
      yield* paths.read(options);
    },
    append: () => Promise.reject(readingTrouble(file)),
    follow(from, signal) {
      const end = (): undefined => undefined;
      const change = (until: AbortSignal): Promise<void> => sleep(pollMs, undefined, { signal: until }).catch(() => {});
      return followFile({ disk, file, chart: now.chart, end, change, isClosed: () => closed }, from, signal);
    },
    export: () => readAll(disk, now.fd, 0, disk.facts(now.fd)?.size ?? 0).toString(),
    async close() {
      if (closed) return;
      closed = true;
      disk.close(now.fd);
    },
  };
}

const closedTrouble = (file: string): FairleadError =>
  new FairleadError('store/closed', `The log of ${file} is closed.`, { blame: 'harness' });

const readingTrouble = (file: string): FairleadError =>
  new FairleadError('store/read-only', `${file} is open for reading only.`, {
    blame: 'user',
    hint: 'Open it for writing to add to it.',
  });
