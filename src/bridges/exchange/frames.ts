// Server-sent events as bytes: where one ends, what it says, and how one is written.
import { isObject, type Json } from '../../core/index.ts';
import type { StreamEvent } from '../dialects/dialect.ts';

/** How far the last whole event in these bytes goes; 0 if there is none. */
export function wholeEnd(bytes: Buffer): number {
  const bare = bytes.lastIndexOf('\n\n');
  const carriage = bytes.lastIndexOf('\r\n\r\n');
  return Math.max(bare < 0 ? 0 : bare + 2, carriage < 0 ? 0 : carriage + 4);
}

/** Cuts whole events apart, each with the bytes that make it up. */
export function* framesIn(
  bytes: Buffer,
): Generator<{ readonly bytes: Buffer; readonly event: StreamEvent | undefined }> {
  let start = 0;
  while (start < bytes.length) {
    const end = nextEnd(bytes, start);
    const frame = bytes.subarray(start, end);
    yield { bytes: frame, event: eventIn(frame.toString()) };
    start = end;
  }
}

function nextEnd(bytes: Buffer, start: number): number {
  const bare = bytes.indexOf('\n\n', start);
  const carriage = bytes.indexOf('\r\n\r\n', start);
  if (bare < 0 && carriage < 0) return bytes.length;
  return carriage >= 0 && (bare < 0 || carriage < bare) ? carriage + 4 : bare + 2;
}

/** What a frame says; nothing where it is a comment, or no JSON. */
function eventIn(frame: string): StreamEvent | undefined {
  let name: string | undefined;
  let data: string | undefined;
  for (const line of frame.split(/\r?\n/)) {
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
export const frameOf = ({ event, data }: StreamEvent): Buffer =>
  Buffer.from(
    `${event === undefined ? '' : `event: ${event}\n`}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`,
  );
