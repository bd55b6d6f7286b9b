// Splits the bytes of a server-sent event stream into frames without changing them.
import { maxOf, minOf } from '../../core/index.ts';
import { parseStreamEvent, type WireStreamEvent } from '../../wire/index.ts';

/** A frame ends with a blank line; a line ends with LF, CR or CRLF. */
const frameSeparators = ['\n\n', '\n\r', '\r\r'] as const;
const lineFeed = 10;

/** Returns where the last complete frame ends; 0 if none is complete. */
export function findLastFrameEnd(bytes: Buffer): number {
  const ends = frameSeparators.map((separator) => {
    const at = bytes.lastIndexOf(separator);
    return at < 0 ? 0 : skipSeparator(bytes, at);
  });
  return maxOf(ends);
}

const skipSeparator = (bytes: Buffer, at: number): number => (bytes[at + 2] === lineFeed ? at + 3 : at + 2);

/** Yields each frame: its bytes, and its event if it has one with JSON data. */
export function* splitSseFrames(
  bytes: Buffer,
): Generator<{ readonly bytes: Buffer; readonly event: WireStreamEvent | undefined }> {
  let start = 0;
  while (start < bytes.length) {
    const end = findFrameEnd(bytes, start);
    const frame = bytes.subarray(start, end);
    yield { bytes: frame, event: parseStreamEvent(frame.toString()) };
    start = end;
  }
}

function findFrameEnd(bytes: Buffer, start: number): number {
  const found = frameSeparators.map((separator) => bytes.indexOf(separator, start)).filter((at) => at >= 0);
  return found.length === 0 ? bytes.length : skipSeparator(bytes, minOf(found));
}
