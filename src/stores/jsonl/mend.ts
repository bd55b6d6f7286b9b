// Gives back what a disk changed by itself: a single flipped bit is found by trying, since only the true line has the right hash.
import type { Chart, Suspect } from './chart.ts';
import { readAll, type Disk } from './disk.ts';
import { claimAt, envelopeAt, expectedAt } from './line.ts';

const longestLine = 4096;
const mostLines = 32;
/** No write leaves a file with the time of an event to the microsecond; only a writer's close does. */
const stampMs = 0.001;

/**
 * Mends what can be mended, in the chart alone. A changed line is the disk's fault if nobody wrote to the file after we did, or
 * if it was found to be so before: then its bytes lie in a side file.
 */
export function mend(chart: Chart, disk: Disk, file: string, fd: number): void {
  if (chart.suspects.length > 0) {
    const touched = wasTouched(chart, disk, fd);
    drop(chart, (suspect) => !touched || wasKept(disk, file, fd, suspect));
  }
  let tries = 0;
  for (const damage of chart.damage) {
    if (damage.mended || ++tries > mostLines) continue;
    damage.mended = true;
    const { line, offset, end, links } = damage;
    const text = unflip(readAll(disk, fd, offset, end - offset), links);
    if (text === undefined) continue;
    chart.holes.set(offset, [text]);
    chart.events++;
    if (end === chart.offset) standBehind(chart, text);
    const what = `One bit of line ${line} had flipped; the event was restored to what was written.`;
    replace(chart, offset, what);
  }
}

/** Whether the file was written to after its last writer closed it, or was never closed: then nobody can tell. */
function wasTouched(chart: Chart, disk: Disk, fd: number): boolean {
  const changed = disk.facts(fd)?.changed ?? 0;
  return !(Math.abs(changed - Date.parse(chart.time)) < stampMs);
}

function wasKept(disk: Disk, file: string, fd: number, { offset, end }: Suspect): boolean {
  const kept = disk.facts(damageName(file, offset)) && disk.open(damageName(file, offset), 'r');
  if (kept === undefined) return false;
  try {
    return readAll(disk, kept, 0, end - offset + 1).equals(readAll(disk, fd, offset, end - offset));
  } finally {
    disk.close(kept);
  }
}

/** The side file that keeps the damaged bytes at a place. */
export const damageName = (file: string, offset: number): string => `${file}.damaged-${offset}`;

function drop(chart: Chart, isDamage: (suspect: Suspect) => boolean): void {
  const dropped = chart.suspects.filter(isDamage);
  for (const { line, offset, end, links } of dropped) {
    chart.holes.set(offset, []);
    chart.damage.push({ line, offset, end, links, mended: false });
    const what = `Line ${line} does not match its hash, and nobody wrote to the file: its bytes were hurt where they lay.`;
    chart.problems.push({ kind: 'damaged', line, offset, what });
    chart.events--;
  }
  stepBack(chart, dropped);
  chart.suspects = chart.suspects.filter((suspect) => !dropped.includes(suspect));
}

/** If the last lines were dropped, the file ends, for who goes on with it, at the line before them. */
function stepBack(chart: Chart, dropped: readonly Suspect[]): void {
  for (let end = chart.offset; ;) {
    const last = dropped.findLast((suspect) => suspect.end === end);
    if (!last) return;
    chart.seq = last.before.seq;
    chart.id = last.before.id;
    end = last.offset;
  }
}

/** The restored line is the last one: what is added next follows it. */
function standBehind(chart: Chart, text: string): void {
  const envelope = envelopeAt(text, 0);
  if (!envelope) return;
  chart.seq = envelope.seq;
  chart.id = envelope.id;
  chart.link = claimAt(text, 0, text.length) ?? chart.link;
}

function replace(chart: Chart, offset: number, what: string): void {
  const index = chart.problems.findIndex((problem) => problem.kind === 'damaged' && problem.offset === offset);
  const problem = chart.problems[index];
  if (problem) chart.problems[index] = { ...problem, what };
}

/** The line of which this is all but one bit, if there is one. */
function unflip(bytes: Buffer, links: readonly string[]): string | undefined {
  const length = bytes.at(-1) === 10 ? bytes.length - 1 : bytes.length;
  if (length > longestLine) return undefined;
  const line = Buffer.from(bytes.subarray(0, length));
  for (let i = 0; i < length; i++) {
    const was = line[i] ?? 0;
    for (let bit = 1; bit < 256; bit <<= 1) {
      line[i] = was ^ bit;
      const text = line.toString();
      const claim = claimAt(text, 0, text.length);
      if (claim !== undefined && links.some((link) => expectedAt(link, text, 0, text.length) === claim)) return text;
    }
    line[i] = was;
  }
  return undefined;
}
