// Scans a session file in one streaming pass: checks the hash chain, and parses only lines that fail the check.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { SessionFileIndex } from './file-index.ts';
import type { Disk } from './disk.ts';
import { indexLine, advancePast } from './index-update.ts';
import { readStoredHash, readEnvelope, computeHashAt } from './line.ts';
import { readTextBlocks, forEachLine, type TextLine } from './read-lines.ts';
import { indexAnomalousLine, indexHeaderLine } from './classify-lines.ts';
import { tryParseJson } from '../try-parse-json.ts';

/** Continues the index from its end. Returns the offset of an incomplete last line, if there is one. */
export async function scanFile(
  index: SessionFileIndex,
  disk: Disk,
  fd: number,
  to?: number,
): Promise<number | undefined> {
  let torn: number | undefined;
  let blocks = 0;
  for (const block of readTextBlocks(disk, fd, index.offset, to)) {
    forEachLine(block, (line) => {
      if (!block.complete && line.end === block.text.length && !isComplete(line)) torn = line.offset;
      else if (line.offset === 0) indexHeaderLine(index, line);
      else if (!indexValidLine(index, line)) indexAnomalousLine(index, line);
    });
    // A long file must not block the event loop.
    if (++blocks % 8 === 0) await yieldToEventLoop();
  }
  return torn;
}

/** A last line without a line end counts if the rest of it is complete. */
const isComplete = ({ text, start, end }: TextLine): boolean =>
  readStoredHash(text, start, end) !== undefined && tryParseJson(text.slice(start, end)) !== undefined;

/** Indexes a line with a correct hash. Returns false for any other line. */
function indexValidLine(index: SessionFileIndex, line: TextLine): boolean {
  const { text, start, end } = line;
  const ownHash = readStoredHash(text, start, end);
  if (ownHash === undefined || computeHashAt(index.link, text, start, end) !== ownHash) return false;
  const envelope = readEnvelope(text, start);
  if (!envelope || envelope.seq <= index.seq) return false;
  indexLine(index, line, envelope, ownHash);
  advancePast(index, line.next);
  return true;
}
