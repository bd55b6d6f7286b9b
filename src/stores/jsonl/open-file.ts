// Opens a session file for its one writer: takes the lock, makes the file if there is none, and heals what it finds.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { SessionFileIndex, SessionFileProblem } from './file-index.ts';
import { readAll, writeAll, writeNewFile, type Disk } from './disk.ts';
import { truncateTornTail, quarantineDamage, recordEdits, replaceFile, type RecoveryTarget } from './recovery.ts';
import { formatHeaderLine } from './line.ts';
import { removeStaleFiles, acquireLock, type FileLock } from './lock.ts';
import {
  peekHeader,
  listProblems,
  assertKnownFormat,
  assertSessionFile,
  loadIndex,
  type LoadedIndex,
} from './load-index.ts';
import { fileFencedError } from './errors.ts';
import { tornProblem } from './verify.ts';
import { createIdSuffix } from './writer.ts';

/** A file that is open and charted. */
export type OpenedFile = {
  readonly fd: number;
  readonly found: LoadedIndex;
  readonly problems: readonly SessionFileProblem[];
};

/** What is needed to open a file for writing. */
export type OpenFileRequest = {
  readonly disk: Disk;
  readonly file: string;
  readonly session: string | undefined;
  readonly silentMs: number;
  /** Takes the writer's place from whoever has it. */
  readonly force: boolean;
};

/** Opens a file for reading: nothing is taken, healed or left behind. */
export async function openForReading(disk: Disk, file: string): Promise<OpenedFile> {
  const fd = disk.open(file, 'r');
  try {
    const found = await loadIndex(disk, file, fd);
    assertKnownFormat(file, found.chart.header);
    assertSessionFile(disk, file, fd, found);
    const torn = found.torn === undefined ? [] : [tornProblem(found.chart.line + 1, found.torn)];
    return { fd, found, problems: [...listProblems(found.chart), ...torn, ...fileSystemProblems(disk, file)] };
  } catch (error) {
    disk.close(fd);
    throw error;
  }
}

/** Opens a file for writing under its lock. */
export async function openForWriting(wish: OpenFileRequest): Promise<OpenedFile & { readonly lock: FileLock }> {
  const { disk, file } = wish;
  assertKnownFormat(file, readCurrentHeader(disk, file));
  const lock = await acquireLock(disk, file, wish.silentMs, wish.force);
  try {
    removeStaleFiles(disk, file);
    if (disk.stat(file) === undefined) await writeNewFile(disk, file, createHeader(wish));
    const taken = lock.after === 'silent' ? [await replaceSilentOwnersFile(wish, lock)] : [];
    const opened = await openRecovered(wish, lock);
    return { ...opened, problems: [...taken, ...opened.problems, ...fileSystemProblems(disk, file)], lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function readCurrentHeader(disk: Disk, file: string): ReturnType<typeof peekHeader> {
  if (disk.stat(file) === undefined) return undefined;
  const fd = disk.open(file, 'r');
  try {
    return peekHeader(disk, fd);
  } finally {
    disk.close(fd);
  }
}

const createHeader = ({ session }: OpenFileRequest): Buffer =>
  Buffer.from(formatHeaderLine(session ?? randomUUID(), new Date().toISOString()).text);

/** The one we took over from may wake up and write: it keeps the old file, the session goes on in a new one. */
async function replaceSilentOwnersFile({ disk, file }: OpenFileRequest, lock: FileLock): Promise<SessionFileProblem> {
  const fd = disk.open(file, 'r');
  try {
    await replaceFile(createRecoveryTarget(disk, file, fd, lock), disk.stat(fd)?.size ?? 0);
  } finally {
    disk.close(fd);
  }
  const what =
    'Taken over from a process that still runs but gave no sign of life; what it writes from now on is refused.';
  return { kind: 'taken-over', line: 0, offset: 0, what, healed: true };
}

const createRecoveryTarget = (disk: Disk, file: string, fd: number, lock: FileLock): RecoveryTarget => ({
  disk,
  file,
  fd,
  assertLocked() {
    if (!lock.isHeld()) throw fileFencedError(file);
  },
});

async function openRecovered(wish: OpenFileRequest, lock: FileLock): Promise<OpenedFile> {
  const { disk, file } = wish;
  const fd = disk.open(file, 'a');
  try {
    const found = await loadIndex(disk, file, fd);
    assertKnownFormat(file, found.chart.header);
    assertSessionFile(disk, file, fd, found);
    const healed = await recoverFile(wish, createRecoveryTarget(disk, file, fd, lock), found);
    if (!healed.again) return { fd, found, problems: [...healed.problems, ...listProblems(found.chart)] };
    // The file is another one now, or begins only now: look at it as whoever opens it next will.
    disk.close(fd);
    const next = await openRecovered(wish, lock);
    return { ...next, problems: [...healed.problems, ...next.problems] };
  } catch (error) {
    closeQuietly(disk, fd);
    throw error;
  }
}

/** The descriptor may be closed already; the error that led here matters more. */
function closeQuietly(disk: Disk, fd: number): void {
  try {
    disk.close(fd);
  } catch {}
}

async function recoverFile(
  wish: OpenFileRequest,
  patient: RecoveryTarget,
  { chart, torn }: LoadedIndex,
): Promise<{ readonly problems: readonly SessionFileProblem[]; readonly again: boolean }> {
  const problems: SessionFileProblem[] = [];
  if (torn !== undefined)
    problems.push({ ...tornProblem(chart.line + 1, torn), kept: await truncateTornTail(patient, torn), healed: true });
  await quarantineDamage(patient, chart);
  const begun = await finishLine(wish, patient.fd, chart);
  const edit = chart.modifiedLines.length > 0 ? await recordEdits(patient, chart, createIdSuffix()) : undefined;
  return { problems: edit ? [...problems, edit] : problems, again: begun || edit !== undefined };
}

/** Gives a file that was never begun its header, and a last line that lacks its end that end. Answers whether the file begins only now. */
async function finishLine(wish: OpenFileRequest, fd: number, chart: SessionFileIndex): Promise<boolean> {
  const { disk } = wish;
  if (chart.offset === 0) {
    writeAll(disk, fd, createHeader(wish));
    await disk.sync(fd);
    return true;
  }
  if (readAll(disk, fd, chart.offset - 1, 1)[0] === 10) return false;
  writeAll(disk, fd, Buffer.from('\n'));
  chart.offset++;
  const last = chart.segments.at(-1);
  if (last) last.to = chart.offset;
  return false;
}

const networkFileSystems: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x65735546: 'FUSE',
  0x01021997: '9P',
  0x794c7630: 'overlay',
  0x5346414f: 'AFS',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
};

/** A warning where locks and syncs may promise more than the file system keeps. */
function fileSystemProblems(disk: Disk, file: string): readonly SessionFileProblem[] {
  let name: string | undefined;
  try {
    name = networkFileSystems[disk.fileSystemType(path.dirname(file)) >>> 0];
  } catch {
    return [];
  }
  if (name === undefined) return [];
  const what = `${path.dirname(file)} is on a ${name} file system, where a lock or a sync may not reach every machine: open this session from one machine at a time.`;
  return [{ kind: 'place', line: 0, offset: 0, what, healed: true }];
}
