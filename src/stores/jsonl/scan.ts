// Charts a session file in one streaming pass: checks each line's hash against the line before it, and parses only what is odd.
import { setImmediate as breathe } from 'node:timers/promises';
import type { Chart } from './chart.ts';
import type { Disk } from './disk.ts';
import { accept, pass } from './intake.ts';
import { claimAt, envelopeAt, expectedAt, parse } from './line.ts';
import { blocksOf, eachLine, type Line } from './lines.ts';
import { judge, judgeHeader } from './oddity.ts';

/** Goes on charting from where the chart ends. Answers where an unfinished last line begins, if there is one. */
export async function scan(chart: Chart, disk: Disk, fd: number, to?: number): Promise<number | undefined> {
  let torn: number | undefined;
  let blocks = 0;
  for (const block of blocksOf(disk, fd, chart.offset, to)) {
    eachLine(block, (line) => {
      if (!block.whole && line.end === block.text.length && !isFinished(line)) torn = line.offset;
      else if (line.offset === 0) judgeHeader(chart, line);
      else if (!takeSound(chart, line)) judge(chart, line);
    });
    // A long file must not keep the rest of the program waiting.
    if (++blocks % 8 === 0) await breathe();
  }
  return torn;
}

/** A last line without its line end still counts if nothing else of it is missing. */
const isFinished = ({ text, start, end }: Line): boolean =>
  claimAt(text, start, end) !== undefined && parse(text.slice(start, end)) !== undefined;

/** Takes a line whose hash is right: the way of nearly every line of nearly every file. */
function takeSound(chart: Chart, line: Line): boolean {
  const { text, start, end } = line;
  const claim = claimAt(text, start, end);
  if (claim === undefined || expectedAt(chart.link, text, start, end) !== claim) return false;
  const envelope = envelopeAt(text, start);
  if (!envelope || envelope.seq <= chart.seq) return false;
  accept(chart, line, envelope, claim);
  pass(chart, line.next);
  return true;
}
