// Server-sent events as bytes: where one ends, what it says, and how one is written.
import { isObject, type Json } from '../../core/index.ts';
import type { WireStreamEvent } from '../formats/wire-format.ts';

/** An event ends with an empty line, and a line with either or both of these. */
const eventSeparators = ['\n\n', '\n\r', '\r\r'] as const;
const lineFeed = 10;

/** How far the last whole event in these bytes goes; 0 if there is none. */
export function findLastEventEnd(bytes: Buffer): number {
  let end = 0;
  for (const line of eventSeparators) {
    const at = bytes.lastIndexOf(line);
    if (at >= 0) end = Math.max(end, skipSeparator(bytes, at));
  }
  return end;
}

const skipSeparator = (bytes: Buffer, at: number): number => (bytes[at + 2] === lineFeed ? at + 3 : at + 2);

/** Cuts whole events apart, each with the bytes that make it up. */
export function* splitSseFrames(
  bytes: Buffer,
): Generator<{ readonly bytes: Buffer; readonly event: WireStreamEvent | undefined }> {
  let start = 0;
  while (start < bytes.length) {
    const end = findNextEventEnd(bytes, start);
    const frame = bytes.subarray(start, end);
    yield { bytes: frame, event: parseSseFrame(frame.toString()) };
    start = end;
  }
}

function findNextEventEnd(bytes: Buffer, start: number): number {
  const found = eventSeparators.map((line) => bytes.indexOf(line, start)).filter((at) => at >= 0);
  return found.length === 0 ? bytes.length : skipSeparator(bytes, Math.min(...found));
}

/** What a frame says; nothing where it is a comment, or no JSON. */
function parseSseFrame(frame: string): WireStreamEvent | undefined {
  let name: string | undefined;
  let data: string | undefined;
  for (const line of frame.split(/\r\n|\r|\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:'))
      data = (data === undefined ? '' : `${data}\n`) + line.slice(line[5] === ' ' ? 6 : 5);
  }
  if (data === undefined) return undefined;
  const named = name === undefined ? {} : { event: name };
  if (data.trim() === '[DONE]') return { ...named, data: '[DONE]' };
  try {
    const value = JSON.parse(data) as Json;
    return isObject(value) ? { ...named, data: value } : undefined;
  } catch {
    return undefined;
  }
}

/** An event as bytes. */
export const encodeSseEvent = ({ event, data }: WireStreamEvent): Buffer =>
  Buffer.from(
    `${event === undefined ? '' : `event: ${event}\n`}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`,
  );
