// Opens a session file for its one writer: takes the lock, makes the file if there is none, and heals what it finds.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Chart, Problem } from './chart.ts';
import { readAll, writeAll, writeNew, type Disk } from './disk.ts';
import { cutTorn, keepDamage, recordEdits, replaceFile, type Patient } from './heal.ts';
import { headerLine } from './line.ts';
import { sweep, takeLock, type Lock } from './lock.ts';
import { peekHeader, problemsOf, refuseNewer, refuseStranger, survey, type Survey } from './survey.ts';
import { fencedTrouble } from './trouble.ts';
import { tornProblem } from './verify.ts';
import { newMark } from './writer.ts';

/** A file that is open and charted. */
export type Opened = { readonly fd: number; readonly found: Survey; readonly problems: readonly Problem[] };

/** What is needed to open a file for writing. */
export type Wish = {
  readonly disk: Disk;
  readonly file: string;
  readonly session: string | undefined;
  readonly silentMs: number;
  /** Takes the writer's place from whoever has it. */
  readonly force: boolean;
};

/** Opens a file for reading: nothing is taken, healed or left behind. */
export async function openToRead(disk: Disk, file: string): Promise<Opened> {
  const fd = disk.open(file, 'r');
  try {
    const found = await survey(disk, file, fd);
    refuseNewer(file, found.chart.header);
    refuseStranger(disk, file, fd, found);
    const torn = found.torn === undefined ? [] : [tornProblem(found.chart.line + 1, found.torn)];
    return { fd, found, problems: [...problemsOf(found.chart), ...torn, ...placeProblems(disk, file)] };
  } catch (error) {
    disk.close(fd);
    throw error;
  }
}

/** Opens a file for writing under its lock. */
export async function openToWrite(wish: Wish): Promise<Opened & { readonly lock: Lock }> {
  const { disk, file } = wish;
  refuseNewer(file, headerNow(disk, file));
  const lock = await takeLock(disk, file, wish.silentMs, wish.force);
  try {
    sweep(disk, file);
    if (disk.facts(file) === undefined) await writeNew(disk, file, freshHeader(wish));
    const taken = lock.after === 'silent' ? [await leaveBehind(wish, lock)] : [];
    const opened = await openHealed(wish, lock);
    return { ...opened, problems: [...taken, ...opened.problems, ...placeProblems(disk, file)], lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function headerNow(disk: Disk, file: string): ReturnType<typeof peekHeader> {
  if (disk.facts(file) === undefined) return undefined;
  const fd = disk.open(file, 'r');
  try {
    return peekHeader(disk, fd);
  } finally {
    disk.close(fd);
  }
}

const freshHeader = ({ session }: Wish): Buffer =>
  Buffer.from(headerLine(session ?? randomUUID(), new Date().toISOString()).text);

/** The one we took over from may wake up and write: it keeps the old file, the session goes on in a new one. */
async function leaveBehind({ disk, file }: Wish, lock: Lock): Promise<Problem> {
  const fd = disk.open(file, 'r');
  try {
    await replaceFile(patientOf(disk, file, fd, lock), disk.facts(fd)?.size ?? 0);
  } finally {
    disk.close(fd);
  }
  const what =
    'Taken over from a process that still runs but gave no sign of life; what it writes from now on is refused.';
  return { kind: 'taken-over', line: 0, offset: 0, what, healed: true };
}

const patientOf = (disk: Disk, file: string, fd: number, lock: Lock): Patient => ({
  disk,
  file,
  fd,
  check() {
    if (!lock.holds()) throw fencedTrouble(file);
  },
});

async function openHealed(wish: Wish, lock: Lock): Promise<Opened> {
  const { disk, file } = wish;
  const fd = disk.open(file, 'a');
  try {
    const found = await survey(disk, file, fd);
    refuseNewer(file, found.chart.header);
    refuseStranger(disk, file, fd, found);
    const healed = await heal(wish, patientOf(disk, file, fd, lock), found);
    if (!healed.again) return { fd, found, problems: [...healed.problems, ...problemsOf(found.chart)] };
    // The file is another one now, or begins only now: look at it as whoever opens it next will.
    disk.close(fd);
    const next = await openHealed(wish, lock);
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

async function heal(
  wish: Wish,
  patient: Patient,
  { chart, torn }: Survey,
): Promise<{ readonly problems: readonly Problem[]; readonly again: boolean }> {
  const problems: Problem[] = [];
  if (torn !== undefined)
    problems.push({ ...tornProblem(chart.line + 1, torn), kept: await cutTorn(patient, torn), healed: true });
  await keepDamage(patient, chart);
  const begun = await finishLine(wish, patient.fd, chart);
  const edit = chart.suspects.length > 0 ? await recordEdits(patient, chart, newMark()) : undefined;
  return { problems: edit ? [...problems, edit] : problems, again: begun || edit !== undefined };
}

/** Gives a file that was never begun its header, and a last line that lacks its end that end. Answers whether the file begins only now. */
async function finishLine(wish: Wish, fd: number, chart: Chart): Promise<boolean> {
  const { disk } = wish;
  if (chart.offset === 0) {
    writeAll(disk, fd, freshHeader(wish));
    await disk.sync(fd);
    return true;
  }
  if (readAll(disk, fd, chart.offset - 1, 1)[0] === 10) return false;
  writeAll(disk, fd, Buffer.from('\n'));
  chart.offset++;
  const last = chart.stretches.at(-1);
  if (last) last.to = chart.offset;
  return false;
}

const networks: Readonly<Record<number, string>> = {
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
function placeProblems(disk: Disk, file: string): readonly Problem[] {
  let name: string | undefined;
  try {
    name = networks[disk.kind(path.dirname(file)) >>> 0];
  } catch {
    return [];
  }
  if (name === undefined) return [];
  const what = `${path.dirname(file)} is on a ${name} file system, where a lock or a sync may not reach every machine: open this session from one machine at a time.`;
  return [{ kind: 'place', line: 0, offset: 0, what, healed: true }];
}
