// Parses the line of a long tool result without decoding its text, so that the text can be sent on as bytes.
import { isAscii, isUtf8 } from 'node:buffer';
import { setLazyText, type Event, type LazyText } from '../../core/index.ts';
import { readEnvelope, parseEventLine, hasEventType } from './line.ts';

/** A shorter text is parsed with its line: splitting the line would cost more than it saves. */
const minLazyBytes = 4096;
/** The text of a result begins within so many bytes of its line. */
const headBytes = 512;

const textKey = '"text":"';
/** Replaces the text while the rest of the line is parsed. A file cannot contain it, so a second `text` field in the line is detected. */
const placeholder = `unread ${Math.random()}`;
/** Inside a text every quote is escaped, so this marks the end of the text. */
const textEnd = Buffer.from('","');

/** The event of a line with a long result, whose text stays undecoded; undefined if the line must be parsed as a whole. */
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
  const rest = `${head.slice(0, key + textKey.length)}${placeholder}"${bytes.toString('utf8', to, end)}`;
  const event = parseEventLine(rest, 0, rest.length, before);
  // In JSON the second of two equal keys wins: then the text was not the one that was replaced.
  return event.type === 'tool-ended' && event.text === placeholder ? setLazyText(event, text) : undefined;
}

/** Whether the text before a field, after the first brace, opens no object or array, and has one byte per character. */
const isFlatPrefix = (before: string): boolean => /^[ -Z^-z|~]*$/.test(before);

function createLazyText(json: Buffer): LazyText | undefined {
  if (hasControlChars(json)) return undefined;
  const encoding = isAscii(json) ? 'latin1' : 'utf8';
  if (encoding === 'latin1' && !json.includes('\\')) {
    const codes = json.subarray(1, -1);
    const read = (): string => codes.toString(encoding);
    return codes.includes('"')
      ? undefined
      : { json, jsonLength: json.length, length: codes.length, charCodes: codes, read };
  }
  const text = json.toString(encoding);
  const escapes = isUtf8(json) ? countEscapes(text) : undefined;
  if (escapes === undefined) return undefined;
  const read = (): string => JSON.parse(json.toString(encoding)) as string;
  return { json, jsonLength: text.length, length: text.length - escapes - 2, charCodes: undefined, read };
}

const spaces = 0x20202020;
const highBits = 0x80808080;

/** Whether there are control characters, which JSON must escape. Checks four 32-bit words at a time, because every text is checked. */
function hasControlChars(json: Buffer): boolean {
  const lead = -json.byteOffset & 3;
  const words = new Int32Array(json.buffer, json.byteOffset + lead, ((json.length - lead) >> 4) << 2);
  let lowBits = 0;
  for (let i = 0; i < words.length; i += 4) {
    const [a, b, c, d] = [words[i] ?? 0, words[i + 1] ?? 0, words[i + 2] ?? 0, words[i + 3] ?? 0];
    lowBits |= ((a - spaces) & ~a) | ((b - spaces) & ~b) | ((c - spaces) & ~c) | ((d - spaces) & ~d);
  }
  const ends = [...json.subarray(0, lead), ...json.subarray(lead + words.byteLength)];
  return (lowBits & highBits) !== 0 || ends.some((byte) => byte < 32);
}

/**
 * The number of escaped characters in a JSON text; undefined if JSON.stringify would escape differently, or if an unescaped quote would end
 * the text early. A text that is sent without decoding must be one JSON string and nothing else.
 */
function countEscapes(text: string): number | undefined {
  let escapes = 0;
  let unescapedQuotes = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    const escaped = text.charAt(at + 1);
    if (!'"\\bfnrt'.includes(escaped) || at + 2 === text.length) return undefined;
    if (escaped === '"') unescapedQuotes--;
    escapes++;
  }
  for (let at = text.indexOf('"', 1); at < text.length - 1; at = text.indexOf('"', at + 1)) unescapedQuotes++;
  return unescapedQuotes === 0 ? escapes : undefined;
}
