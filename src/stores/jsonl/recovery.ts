// Recovers a session file for writing: copies damaged lines to side files, truncates a torn tail, and records edits of the user as a branch.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { runStateView, systemErrorCode, type Event, type Fact, type RunState } from '../../core/index.ts';
import { branchRanges, type SessionFileIndex, type SessionFileProblem, type ByteRange } from './file-index.ts';
import { readAll, writeAll, writeNewFile, type Disk } from './disk.ts';
import { formatEventBody, hashLine, withHash } from './line.ts';
import { damagedFileName } from './edited-or-damaged.ts';
import { readEventBatches } from './read-events.ts';

/** A file whose lock the caller holds. */
export type RecoveryTarget = {
  readonly disk: Disk;
  readonly file: string;
  readonly fd: number;
  readonly assertLocked: () => void;
};

/** Copies an incomplete last line to a side file and truncates the file before it. Returns the side file. */
export async function truncateTornTail({ disk, file, fd }: RecoveryTarget, offset: number): Promise<string> {
  const size = disk.stat(fd)?.size ?? offset;
  const backupFile = findFreeName(disk, `${file}.torn-`);
  await writeNewFile(disk, backupFile, readAll(disk, fd, offset, size - offset));
  disk.truncate(fd, offset);
  await disk.sync(fd);
  return backupFile;
}

/** Copies every damaged line to a side file, once, and adds its name to the problem. */
export async function quarantineDamage({ disk, file, fd }: RecoveryTarget, index: SessionFileIndex): Promise<void> {
  for (const { offset, end } of index.damagedRanges) {
    const bytes = readAll(disk, fd, offset, end - offset);
    const backupFile = await writeBackupOnce(disk, damagedFileName(file, offset), bytes);
    index.problems.forEach((problem, i) => {
      if (problem.offset === offset && problem.backupFile === undefined) index.problems[i] = { ...problem, backupFile };
    });
  }
}

async function writeBackupOnce(disk: Disk, name: string, bytes: Buffer): Promise<string> {
  for (let n = 1; ; n++) {
    const backupFile = n === 1 ? name : `${name}-${n}`;
    if (disk.stat(backupFile) === undefined) {
      await writeNewFile(disk, backupFile, bytes);
      return backupFile;
    }
    const fd = disk.open(backupFile, 'r');
    try {
      if (readAll(disk, fd, 0, bytes.length + 1).equals(bytes)) return backupFile;
    } finally {
      disk.close(fd);
    }
  }
}

function findFreeName(disk: Disk, start: string): string {
  for (let n = 1; ; n++) if (disk.stat(`${start}${n}`) === undefined) return `${start}${n}`;
}

/**
 * Replaces the file atomically by a copy with added text. A process that still has the old file open writes to a file that has no name
 * any more.
 */
export async function replaceFile(
  { disk, file, fd, assertLocked }: RecoveryTarget,
  length: number,
  added: Iterable<string> = [],
): Promise<void> {
  const draft = `${file}.new-${randomBytes(6).toString('hex')}`;
  const out = disk.open(draft, 'x');
  try {
    const chunkBytes = 1024 * 1024;
    for (let at = 0; at < length; at += chunkBytes)
      writeAll(disk, out, readAll(disk, fd, at, Math.min(chunkBytes, length - at)));
    for (const text of added) writeAll(disk, out, Buffer.from(text));
    await disk.sync(out);
    assertLocked();
    disk.rename(draft, file);
    disk.syncDirectory(path.dirname(file));
  } catch (error) {
    disk.remove(draft);
    throw error;
  } finally {
    disk.close(out);
  }
}

/**
 * Records edits of the user: keeps the file as found in a side file, and appends its current events, from the last idle event before the
 * change on, as a branch with correct hashes. Returns undefined if the change is not on the branch to the last event.
 */
export async function recordEdits(
  target: RecoveryTarget,
  index: SessionFileIndex,
  idSuffix: string,
): Promise<SessionFileProblem | undefined> {
  const { disk, file, fd } = target;
  const branchPath = branchRanges(index, index.segments.at(-1)?.to ?? 0);
  const change = index.modifiedLines.find(({ offset }) =>
    branchPath?.some(({ from, to }) => from <= offset && offset < to),
  );
  if (!branchPath || !change) return undefined;
  const idle = findIdleEventBefore(disk, fd, index, branchPath, change.offset);
  const backupFile = findFreeName(disk, `${file}.edited-`);
  backUpFile(disk, file, backupFile);
  const lines = index.modifiedLines.map(({ line }) => line);
  const message = `Line${lines.length > 1 ? 's' : ''} ${formatLineRanges(lines)} of ${index.line} changed outside the program; the file as it was found is kept in ${path.basename(backupFile)}.`;
  const branch: Fact = { type: 'branch-started', from: idle?.id ?? 'root', reason: 'edited', detail: message };
  await replaceFile(target, index.offset, createBranchLines(target, index, branchPath, idle, branch, idSuffix));
  return { kind: 'edited', line: change.line, offset: change.offset, message, backupFile, resolved: true };
}

function backUpFile(disk: Disk, file: string, backupFile: string): void {
  try {
    disk.link(file, backupFile);
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST' || systemErrorCode(error) === 'ENOENT') throw error;
    // The file system has no hard links: copy the file.
    const fd = disk.open(file, 'r');
    const out = disk.open(backupFile, 'x');
    try {
      writeAll(disk, out, readAll(disk, fd, 0, disk.stat(fd)?.size ?? 0));
    } finally {
      disk.close(fd);
      disk.close(out);
    }
  }
}

/** The last event before an offset at which no run, call or input was open: a branch closes these, and must not lose any. */
function findIdleEventBefore(
  disk: Disk,
  fd: number,
  index: SessionFileIndex,
  branchPath: readonly ByteRange[],
  limit: number,
): Event | undefined {
  const view = runStateView();
  let state: RunState = view.initial;
  let idle: Event | undefined;
  for (const { events, offsets } of readEventBatches(disk, fd, index, branchPath)) {
    for (const [i, event] of events.entries()) {
      if ((offsets[i] ?? 0) >= limit) return idle;
      state = view.on(state, event);
      const open = state.run !== undefined || state.calls.length || state.pending.length || state.queue.length;
      if (!open && event.type !== 'session-started') idle = event;
    }
  }
  return idle;
}

function* createBranchLines(
  { disk, fd }: RecoveryTarget,
  index: SessionFileIndex,
  branchPath: readonly ByteRange[],
  idle: Event | undefined,
  branch: Fact,
  idSuffix: string,
): Generator<string> {
  let { maxSeq: seq, link } = index;
  let parent = idle?.id ?? null;
  const line = (fact: Fact, time: string): string => {
    const id = `${(++seq).toString(36)}.${idSuffix}`;
    const body = formatEventBody(fact, { seq, id, parent, time });
    link = hashLine(link, body);
    parent = id;
    return `${withHash(body, link)}\n`;
  };
  const last = readAll(disk, fd, index.offset - 1, 1);
  yield `${last[0] === 10 ? '' : '\n'}${line(branch, new Date().toISOString())}`;
  let isPastIdle = idle === undefined;
  for (const { events } of readEventBatches(disk, fd, index, branchPath)) {
    yield events
      .map((event) => (isPastIdle ? line(event, event.time) : ((isPastIdle = event.id === idle?.id), '')))
      .join('');
  }
}

/** Line numbers for a message: `3, 5 to 9`. */
function formatLineRanges(lines: readonly number[]): string {
  const found: [number, number][] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last && last[1] === line - 1) last[1] = line;
    else found.push([line, line]);
  }
  return found.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`)).join(', ');
}
