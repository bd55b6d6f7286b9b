// Charts a session file in one streaming pass: checks each line's hash against the line before it, and parses only what is odd.
import { setImmediate as breathe } from 'node:timers/promises';
import type { SessionFileIndex } from './file-index.ts';
import type { Disk } from './disk.ts';
import { indexLine, advancePast } from './index-update.ts';
import { readStoredHash, readEnvelope, computeHashAt, tryParseJson } from './line.ts';
import { readTextBlocks, forEachLine, type TextLine } from './read-lines.ts';
import { indexAnomalousLine, indexHeaderLine } from './anomalies.ts';

/** Goes on charting from where the chart ends. Answers where an unfinished last line begins, if there is one. */
export async function scanFile(
  chart: SessionFileIndex,
  disk: Disk,
  fd: number,
  to?: number,
): Promise<number | undefined> {
  let torn: number | undefined;
  let blocks = 0;
  for (const block of readTextBlocks(disk, fd, chart.offset, to)) {
    forEachLine(block, (line) => {
      if (!block.whole && line.end === block.text.length && !isFinished(line)) torn = line.offset;
      else if (line.offset === 0) indexHeaderLine(chart, line);
      else if (!indexValidLine(chart, line)) indexAnomalousLine(chart, line);
    });
    // A long file must not keep the rest of the program waiting.
    if (++blocks % 8 === 0) await breathe();
  }
  return torn;
}

/** A last line without its line end still counts if nothing else of it is missing. */
const isFinished = ({ text, start, end }: TextLine): boolean =>
  readStoredHash(text, start, end) !== undefined && tryParseJson(text.slice(start, end)) !== undefined;

/** Takes a line whose hash is right: the way of nearly every line of nearly every file. */
function indexValidLine(chart: SessionFileIndex, line: TextLine): boolean {
  const { text, start, end } = line;
  const claim = readStoredHash(text, start, end);
  if (claim === undefined || computeHashAt(chart.link, text, start, end) !== claim) return false;
  const envelope = readEnvelope(text, start);
  if (!envelope || envelope.seq <= chart.seq) return false;
  indexLine(chart, line, envelope, claim);
  advancePast(chart, line.next);
  return true;
}
