// Makes a session file fit to be gone on with: keeps what is hurt in side files, cuts a torn end, records what a person changed.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { runStateView, type Event, type Fact, type RunState } from '../../core/index.ts';
import { branchRanges, type SessionFileIndex, type SessionFileProblem, type ByteRange } from './file-index.ts';
import { errnoCode, readAll, writeAll, writeNewFile, type Disk } from './disk.ts';
import { formatEventBody, hashLine, withHash } from './line.ts';
import { damagedFileName } from './bit-repair.ts';
import { readEventBatches } from './read-events.ts';

/** A file under its writer's lock. */
export type RecoveryTarget = {
  readonly disk: Disk;
  readonly file: string;
  readonly fd: number;
  readonly assertLocked: () => void;
};

/** Saves the bytes of an unfinished last line and cuts them off; answers the side file. */
export async function truncateTornTail({ disk, file, fd }: RecoveryTarget, offset: number): Promise<string> {
  const size = disk.stat(fd)?.size ?? offset;
  const kept = findFreeName(disk, `${file}.torn-`);
  await writeNewFile(disk, kept, readAll(disk, fd, offset, size - offset));
  disk.truncate(fd, offset);
  await disk.sync(fd);
  return kept;
}

/** Saves the bytes of every damaged line, once, and names the side file in the problem. */
export async function quarantineDamage({ disk, file, fd }: RecoveryTarget, chart: SessionFileIndex): Promise<void> {
  for (const { offset, end } of chart.damagedRanges) {
    const bytes = readAll(disk, fd, offset, end - offset);
    const kept = await writeBackupOnce(disk, damagedFileName(file, offset), bytes);
    chart.problems.forEach((problem, i) => {
      if (problem.offset === offset && problem.kept === undefined) chart.problems[i] = { ...problem, kept };
    });
  }
}

async function writeBackupOnce(disk: Disk, name: string, bytes: Buffer): Promise<string> {
  for (let n = 1; ; n++) {
    const kept = n === 1 ? name : `${name}-${n}`;
    if (disk.stat(kept) === undefined) {
      await writeNewFile(disk, kept, bytes);
      return kept;
    }
    const fd = disk.open(kept, 'r');
    try {
      if (readAll(disk, fd, 0, bytes.length + 1).equals(bytes)) return kept;
    } finally {
      disk.close(fd);
    }
  }
}

function findFreeName(disk: Disk, start: string): string {
  for (let n = 1; ; n++) if (disk.stat(`${start}${n}`) === undefined) return `${start}${n}`;
}

/**
 * Writes the file anew with text added, and puts it in the place of the old one in one step: all of it happens or none.
 * Whoever still has the old file open writes to something that nobody reads any more.
 */
export async function replaceFile(
  { disk, file, fd, assertLocked }: RecoveryTarget,
  length: number,
  added: Iterable<string> = [],
): Promise<void> {
  const fresh = `${file}.new-${randomBytes(6).toString('hex')}`;
  const out = disk.open(fresh, 'x');
  try {
    const piece = 1024 * 1024;
    for (let at = 0; at < length; at += piece) writeAll(disk, out, readAll(disk, fd, at, Math.min(piece, length - at)));
    for (const text of added) writeAll(disk, out, Buffer.from(text));
    await disk.sync(out);
    assertLocked();
    disk.rename(fresh, file);
    disk.syncDirectory(path.dirname(file));
  } catch (error) {
    disk.remove(fresh);
    throw error;
  } finally {
    disk.close(out);
  }
}

/**
 * Records what a person changed: the file as found is kept beside it, and what it now says, from the last quiet moment before the
 * change on, is added as a branch whose hashes are right. Answers nothing if the change is not on the way to the last event.
 */
export async function recordEdits(
  patient: RecoveryTarget,
  chart: SessionFileIndex,
  mark: string,
): Promise<SessionFileProblem | undefined> {
  const { disk, file, fd } = patient;
  const way = branchRanges(chart, chart.segments.at(-1)?.to ?? 0);
  const change = chart.modifiedLines.find(({ offset }) => way?.some(({ from, to }) => from <= offset && offset < to));
  if (!way || !change) return undefined;
  const quiet = findIdleEventBefore(disk, fd, chart, way, change.offset);
  const kept = findFreeName(disk, `${file}.edited-`);
  backUpFile(disk, file, kept);
  const lines = chart.modifiedLines.map(({ line }) => line);
  const what = `Line${lines.length > 1 ? 's' : ''} ${formatLineRanges(lines)} of ${chart.line} changed outside the program; the file as it was found is kept in ${path.basename(kept)}.`;
  const branch: Fact = { type: 'branch-started', from: quiet?.id ?? 'root', reason: 'edited', detail: what };
  await replaceFile(patient, chart.offset, createBranchLines(patient, chart, way, quiet, branch, mark));
  return { kind: 'edited', line: change.line, offset: change.offset, what, kept, healed: true };
}

function backUpFile(disk: Disk, file: string, kept: string): void {
  try {
    disk.link(file, kept);
  } catch (error) {
    if (errnoCode(error) === 'EEXIST' || errnoCode(error) === 'ENOENT') throw error;
    // No hard links here: the old file itself is kept under its new name only after it was replaced, so copy it.
    const fd = disk.open(file, 'r');
    const out = disk.open(kept, 'x');
    try {
      writeAll(disk, out, readAll(disk, fd, 0, disk.stat(fd)?.size ?? 0));
    } finally {
      disk.close(fd);
      disk.close(out);
    }
  }
}

/** The last event before a place at which no run, call or input was open: a branch closes those, and must not lose any. */
function findIdleEventBefore(
  disk: Disk,
  fd: number,
  chart: SessionFileIndex,
  way: readonly ByteRange[],
  limit: number,
): Event | undefined {
  const view = runStateView();
  let state: RunState = view.initial;
  let quiet: Event | undefined;
  for (const { events, offsets } of readEventBatches(disk, fd, chart, way)) {
    for (const [i, event] of events.entries()) {
      if ((offsets[i] ?? 0) >= limit) return quiet;
      state = view.on(state, event);
      const open = state.run !== undefined || state.calls.length || state.pending.length || state.queue.length;
      if (!open && event.type !== 'session-started') quiet = event;
    }
  }
  return quiet;
}

function* createBranchLines(
  { disk, fd }: RecoveryTarget,
  chart: SessionFileIndex,
  way: readonly ByteRange[],
  quiet: Event | undefined,
  branch: Fact,
  mark: string,
): Generator<string> {
  let { maxSeq: seq, link } = chart;
  let parent = quiet?.id ?? null;
  const line = (fact: Fact, time: string): string => {
    const id = `${(++seq).toString(36)}.${mark}`;
    const body = formatEventBody(fact, { seq, id, parent, time });
    link = hashLine(link, body);
    parent = id;
    return `${withHash(body, link)}\n`;
  };
  const last = readAll(disk, fd, chart.offset - 1, 1);
  yield `${last[0] === 10 ? '' : '\n'}${line(branch, new Date().toISOString())}`;
  let behind = quiet === undefined;
  for (const { events } of readEventBatches(disk, fd, chart, way)) {
    yield events.map((event) => (behind ? line(event, event.time) : ((behind = event.id === quiet?.id), ''))).join('');
  }
}

/** Line numbers as a person writes them: `3, 5 to 9`. */
function formatLineRanges(lines: readonly number[]): string {
  const found: [number, number][] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last && last[1] === line - 1) last[1] = line;
    else found.push([line, line]);
  }
  return found.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`)).join(', ');
}
