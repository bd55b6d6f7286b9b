// Reads the line of a long result without reading its text: where that lies is all that has to be known to pass it on.
import { isAscii, isUtf8 } from 'node:buffer';
import { setLazyText, type Event, type LazyText } from '../../core/index.ts';
import { readEnvelope, parseEventLine, hasEventType } from './line.ts';

/** A shorter text is read with its line: to take that apart would cost more than it saves. */
const minLazyBytes = 4096;
/** The text of a result begins this near to the beginning of its line. */
const headBytes = 512;

const textKey = '"text":"';
/** Stands for a text while its line is read. No file can know it, so a line that has it there does not name its text again. */
const placeholder = `unread ${Math.random()}`;
/** Inside a text every quote has a backslash before it, so this is only found behind one. */
const textEnd = Buffer.from('","');

/** The event of a line that holds a long result, its text left where it is; nothing where the line has to be read as a whole. */
export function parseLazyEvent(bytes: Buffer, start: number, end: number, before?: Event): Event | undefined {
  if (end - start < minLazyBytes) return undefined;
  const head = bytes.toString('latin1', start, start + headBytes);
  const envelope = readEnvelope(head, 0);
  if (!envelope || !hasEventType('tool-ended', head, envelope)) return undefined;
  const key = head.indexOf(textKey, envelope.rest);
  if (key < 0 || !isFlatPrefix(head.slice(1, key))) return undefined;
  const from = start + key + textKey.length - 1;
  const to = bytes.indexOf(textEnd, from + 1) + 1;
  if (to - from < minLazyBytes || to > end) return undefined;
  const text = createLazyText(bytes.subarray(from, to));
  if (!text) return undefined;
  const frame = `${head.slice(0, key + textKey.length)}${placeholder}"${bytes.toString('utf8', to, end)}`;
  const event = parseEventLine(frame, 0, frame.length, before);
  // A line that names its text twice means the second one.
  return event.type === 'tool-ended' && event.text === placeholder ? setLazyText(event, text) : undefined;
}

/** Whether what stands before a text, the first brace aside, opens nothing that the text could be in, and takes a byte for each character. */
const isFlatPrefix = (before: string): boolean => /^[ -Z^-z|~]*$/.test(before);

function createLazyText(json: Buffer): LazyText | undefined {
  if (hasControlChars(json)) return undefined;
  const coding = isAscii(json) ? 'latin1' : 'utf8';
  if (coding === 'latin1' && !json.includes('\\')) {
    const codes = json.subarray(1, -1);
    const read = (): string => codes.toString(coding);
    return codes.includes('"')
      ? undefined
      : { json, jsonLength: json.length, length: codes.length, charCodes: codes, read };
  }
  const text = json.toString(coding);
  const escapes = isUtf8(json) ? countEscapes(text) : undefined;
  if (escapes === undefined) return undefined;
  const read = (): string => JSON.parse(json.toString(coding)) as string;
  return { json, jsonLength: text.length, length: text.length - escapes - 2, charCodes: undefined, read };
}

const spaces = 0x20202020;
const highBits = 0x80808080;

/** Whether there are control characters, which JSON has escaped. Every text is looked through, so it is done four words at a time. */
function hasControlChars(json: Buffer): boolean {
  const lead = -json.byteOffset & 3;
  const words = new Int32Array(json.buffer, json.byteOffset + lead, ((json.length - lead) >> 4) << 2);
  let low = 0;
  for (let i = 0; i < words.length; i += 4) {
    const [a, b, c, d] = [words[i] ?? 0, words[i + 1] ?? 0, words[i + 2] ?? 0, words[i + 3] ?? 0];
    low |= ((a - spaces) & ~a) | ((b - spaces) & ~b) | ((c - spaces) & ~c) | ((d - spaces) & ~d);
  }
  const ends = [...json.subarray(0, lead), ...json.subarray(lead + words.byteLength)];
  return (low & highBits) !== 0 || ends.some((byte) => byte < 32);
}

/**
 * How many characters of a text are escaped, as JSON.stringify escapes them; nothing where it would not, or where a quote would
 * end the text before its end: what goes into a request unread must never say anything but a text there.
 */
function countEscapes(text: string): number | undefined {
  let escapes = 0;
  let bare = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    const escaped = text.charAt(at + 1);
    if (!'"\\bfnrt'.includes(escaped) || at + 2 === text.length) return undefined;
    if (escaped === '"') bare--;
    escapes++;
  }
  for (let at = text.indexOf('"', 1); at < text.length - 1; at = text.indexOf('"', at + 1)) bare++;
  return bare === 0 ? escapes : undefined;
}
