// What a conversation looks like on the wire, encoded once: a turn pays for its new messages, not for its history.
import type { Message, Trail } from '../core/index.ts';

/** A message as JSON text, without a comma around it; it may depend on the message before it and on nothing else. */
export type EncodeMessage = (message: Message, before: Message | undefined) => string;

/** The messages of a request as bytes, commas between them, and about how many characters of it a model has to read. */
export type EncodedMessages = { readonly bytes: Buffer; readonly chars: number };

/** How far the encoding had come when a request was made. */
type Mark = { readonly count: number; readonly size: number; readonly chars: number };
type Entry = { readonly items: readonly Message[]; readonly marks: Mark[]; buffer: Buffer };

const nothing: Buffer = Buffer.alloc(0);
const start: Mark = { count: 0, size: 0, chars: 0 };

/** About four characters a token for what a model reads of a file, whose own size says nothing about that. */
const charsOfFile = 4000;

/**
 * Encodes trails. A trail only grows, so its items array stands for everything encoded from it so far; a branch has another
 * array and copies the bytes of what it shares. Entries live as long as the conversation they belong to.
 */
export function prefixEncoder(encode: EncodeMessage): (messages: Trail<Message>) => EncodedMessages {
  const byItems = new WeakMap<readonly Message[], Entry>();
  const byFirst = new WeakMap<Message, Entry>();

  return (messages) => {
    const { items, length } = messages;
    const first = items[0];
    if (!first || length === 0) return { bytes: nothing, chars: 0 };
    const known = byItems.get(items);
    const entry = known ?? branch(byFirst.get(first), items, length);
    if (!known) byItems.set(items, entry);
    byFirst.set(first, entry);

    const from = entry.marks.findLast((mark) => mark.count <= length) ?? start;
    if (from.count === length) return { bytes: entry.buffer.subarray(0, from.size), chars: from.chars };
    // What stands behind the mark, if a later version was encoded first, is overwritten with the very same bytes.
    const { text, chars } = encodeRange(encode, items, from.count, length);
    const mark = { count: length, size: from.size + Buffer.byteLength(text), chars: from.chars + chars };
    reserve(entry, from.size, mark.size);
    entry.buffer.write(text, from.size, 'utf8');
    entry.marks.push(mark);
    return { bytes: entry.buffer.subarray(0, mark.size), chars: mark.chars };
  };
}

function encodeRange(
  encode: EncodeMessage,
  items: readonly Message[],
  from: number,
  to: number,
): { readonly text: string; readonly chars: number } {
  const texts: string[] = [];
  let chars = 0;
  for (let i = from; i < to; i++) {
    const message = items[i] as Message;
    const text = encode(message, items[i - 1]);
    chars += text.length - weightOfFiles(message);
    texts.push(text);
  }
  return { text: (from > 0 ? ',' : '') + texts.join(','), chars };
}

function weightOfFiles(message: Message): number {
  let extra = 0;
  for (const part of message.parts) if (part.type === 'file') extra += part.data.length - charsOfFile;
  return extra;
}

/** Bytes already handed to a socket stay where they are: growing moves to a new buffer and leaves the old one alone. */
function reserve(entry: Entry, used: number, needed: number): void {
  if (needed <= entry.buffer.length) return;
  const grown = Buffer.allocUnsafeSlow(Math.max(16_384, Math.ceil(needed * 1.5)));
  entry.buffer.copy(grown, 0, 0, used);
  entry.buffer = grown;
}

function branch(from: Entry | undefined, items: readonly Message[], length: number): Entry {
  const none: Entry = { items, marks: [], buffer: nothing };
  if (!from) return none;
  let same = 0;
  while (same < length && same < from.items.length && items[same] === from.items[same]) same++;
  const marks = from.marks.filter((mark) => mark.count <= same);
  return { items, marks, buffer: Buffer.from(from.buffer.subarray(0, marks.at(-1)?.size ?? 0)) };
}
