// Reads the line of a long result without reading its text: where that lies is all that has to be known to pass it on.
import { isAscii, isUtf8 } from 'node:buffer';
import { keepText, type Event, type KeptText } from '../../core/index.ts';
import { envelopeAt, eventAt, isTypeAt } from './line.ts';

/** A shorter text is read with its line: to take that apart would cost more than it saves. */
const leastText = 4096;
/** The text of a result begins this near to the beginning of its line. */
const headBytes = 512;

const textKey = '"text":"';
/** Inside a text every quote has a backslash before it, so this is only found behind one. */
const textEnd = Buffer.from('","');

/** The event of a line that holds a long result, its text left where it is; nothing where the line has to be read as a whole. */
export function keptEventAt(bytes: Buffer, start: number, end: number, before?: Event): Event | undefined {
  if (end - start < leastText) return undefined;
  const head = bytes.toString('latin1', start, start + headBytes);
  const envelope = envelopeAt(head, 0);
  if (!envelope || !isTypeAt('tool-ended', head, envelope)) return undefined;
  const key = head.indexOf(textKey, envelope.rest);
  if (key < 0 || !isFlat(head.slice(envelope.rest, key))) return undefined;
  const from = start + key + textKey.length - 1;
  const to = bytes.indexOf(textEnd, from + 1) + 1;
  if (to - from < leastText || to > end) return undefined;
  const text = keptIn(bytes.subarray(from, to));
  if (!text) return undefined;
  const frame = `${head.slice(0, key + textKey.length)}"${bytes.toString('utf8', to, end)}`;
  const event = eventAt(frame, 0, frame.length, before);
  // A line that names its text twice means the second one.
  return event.type === 'tool-ended' && event.text === '' ? keepText(event, text) : undefined;
}

/** Whether what stands before a text opens nothing that the text could be in, and takes a byte for each character. */
const isFlat = (before: string): boolean => /^[ -Z^-z|~]*$/.test(before);

function keptIn(json: Buffer): KeptText | undefined {
  const isPlain = isAscii(json) && !json.includes(backslash);
  if (isPlain) {
    const codes = json.subarray(1, -1);
    return { json, length: codes.length, codes, read: () => codes.toString('latin1') };
  }
  const length = lengthOf(json);
  if (length === undefined) return undefined;
  return { json, length, codes: undefined, read: () => JSON.parse(json.toString()) as string };
}

const backslash = 0x5c;
const shortEscapes = new Set(Buffer.from('"\\bfnrt'));

/** The characters of a text; nothing where JSON.stringify would write it otherwise, as it does what we or a person escaped at length. */
function lengthOf(json: Buffer): number | undefined {
  if (!isUtf8(json)) return undefined;
  let length = 0;
  for (let i = 1; i < json.length - 1; i++) {
    const byte = json[i] ?? 0;
    if (byte < 0x20 || (byte === backslash && !shortEscapes.has(json[++i] ?? 0))) return undefined;
    // What takes four bytes takes two places in a string; bytes that continue a character take none.
    if ((byte & 0xc0) !== 0x80) length += byte >= 0xf0 ? 2 : 1;
  }
  return length;
}
