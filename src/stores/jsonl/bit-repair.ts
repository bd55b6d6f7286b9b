// Gives back what a disk changed by itself: a single flipped bit is found by trying, since only the true line has the right hash.
import type { SessionFileIndex, ModifiedLine } from './file-index.ts';
import { readAll, type Disk } from './disk.ts';
import { readStoredHash, readEnvelope, computeHashAt } from './line.ts';

const maxLineBytes = 4096;
const maxRepairs = 32;
/** No write leaves a file with the time of an event to the microsecond; only a writer's close does. */
const mtimeToleranceMs = 0.001;

/**
 * Mends what can be mended, in the chart alone. A changed line is the disk's fault if nobody wrote to the file after we did, or
 * if it was found to be so before: then its bytes lie in a side file.
 */
export function repairDamage(chart: SessionFileIndex, disk: Disk, file: string, fd: number): void {
  if (chart.modifiedLines.length > 0) {
    const touched = wasModified(chart, disk, fd);
    dropDamagedLines(chart, (suspect) => !touched || wasQuarantined(disk, file, fd, suspect));
  }
  let tries = 0;
  for (const damage of chart.damagedRanges) {
    if (damage.repaired || ++tries > maxRepairs) continue;
    damage.repaired = true;
    const { line, offset, end, candidateHashes } = damage;
    const text = repairBitFlip(readAll(disk, fd, offset, end - offset), candidateHashes);
    if (text === undefined) continue;
    chart.replacedLines.set(offset, [text]);
    chart.events++;
    if (end === chart.offset) setLastLine(chart, text);
    const what = `One bit of line ${line} had flipped; the event was restored to what was written.`;
    replaceProblem(chart, offset, what);
  }
}

/** Whether the file was written to after its last writer closed it, or was never closed: then nobody can tell. */
function wasModified(chart: SessionFileIndex, disk: Disk, fd: number): boolean {
  const changed = disk.stat(fd)?.mtimeMs ?? 0;
  return !(Math.abs(changed - Date.parse(chart.time)) < mtimeToleranceMs);
}

function wasQuarantined(disk: Disk, file: string, fd: number, { offset, end }: ModifiedLine): boolean {
  const kept = disk.stat(damagedFileName(file, offset)) && disk.open(damagedFileName(file, offset), 'r');
  if (kept === undefined) return false;
  try {
    return readAll(disk, kept, 0, end - offset + 1).equals(readAll(disk, fd, offset, end - offset));
  } finally {
    disk.close(kept);
  }
}

/** The side file that keeps the damaged bytes at a place. */
export const damagedFileName = (file: string, offset: number): string => `${file}.damaged-${offset}`;

function dropDamagedLines(chart: SessionFileIndex, isDamage: (suspect: ModifiedLine) => boolean): void {
  const dropped = chart.modifiedLines.filter(isDamage);
  for (const { line, offset, end, candidateHashes } of dropped) {
    chart.replacedLines.set(offset, []);
    chart.damagedRanges.push({ line, offset, end, candidateHashes, repaired: false });
    const what = `Line ${line} does not match its hash, and nobody wrote to the file: its bytes were hurt where they lay.`;
    chart.problems.push({ kind: 'damaged', line, offset, what });
    chart.events--;
  }
  rewindPastDropped(chart, dropped);
  chart.modifiedLines = chart.modifiedLines.filter((suspect) => !dropped.includes(suspect));
}

/** If the last lines were dropped, the file ends, for who goes on with it, at the line before them. */
function rewindPastDropped(chart: SessionFileIndex, dropped: readonly ModifiedLine[]): void {
  for (let end = chart.offset; ;) {
    const last = dropped.findLast((suspect) => suspect.end === end);
    if (!last) return;
    chart.seq = last.before.seq;
    chart.id = last.before.id;
    end = last.offset;
  }
}

/** The restored line is the last one: what is added next follows it. */
function setLastLine(chart: SessionFileIndex, text: string): void {
  const envelope = readEnvelope(text, 0);
  if (!envelope) return;
  chart.seq = envelope.seq;
  chart.id = envelope.id;
  chart.link = readStoredHash(text, 0, text.length) ?? chart.link;
}

function replaceProblem(chart: SessionFileIndex, offset: number, what: string): void {
  const index = chart.problems.findIndex((problem) => problem.kind === 'damaged' && problem.offset === offset);
  const problem = chart.problems[index];
  if (problem) chart.problems[index] = { ...problem, what };
}

/** The line of which this is all but one bit, if there is one. */
function repairBitFlip(bytes: Buffer, links: readonly string[]): string | undefined {
  const length = bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length;
  if (length > maxLineBytes) return undefined;
  const line = Buffer.from(bytes.subarray(0, length));
  for (let i = 0; i < length; i++) {
    const was = line[i] ?? 0;
    for (let bit = 1; bit < 256; bit <<= 1) {
      line[i] = was ^ bit;
      const text = line.toString();
      const claim = readStoredHash(text, 0, text.length);
      if (claim !== undefined && links.some((link) => computeHashAt(link, text, 0, text.length) === claim)) return text;
    }
    line[i] = was;
  }
  return undefined;
}
