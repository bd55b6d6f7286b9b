// What a conversation looks like on the wire, encoded once: a turn pays for its new messages, not for its history.
import type { FilePart, Message, Part, Trail } from '../../core/index.ts';
import { asSeen, type Sight } from './pictures.ts';

/** A message as one or more of the dialect's own; it may depend on the message before it and on nothing else. */
export type EncodeMessage = (message: Message, before: Message | undefined) => readonly object[];

/** The messages of a request as bytes, commas between them, and about how many characters of it a model has to read. */
export type EncodedMessages = { readonly bytes: readonly Buffer[]; readonly chars: number };

/** How far the encoding had come when a request was made. */
type Mark = { readonly count: number; readonly size: number; readonly chars: number };

/** Pieces are never written to again: what was handed to a socket, or is shared with a branch, stays what it is. */
type Entry = { readonly items: readonly Message[]; readonly marks: Mark[]; pieces: readonly Buffer[] };

const start: Mark = { count: 0, size: 0, chars: 0 };

/** Pieces of this size are left alone: to join them would copy much and save little. */
const joinBelow = 65_536;

/** A long history is serialised in stretches of about this many characters: faster than message by message, and in less memory than at once. */
const stretch = 1_048_576;

/** About four characters a token for what a model reads of a file, whose own size says nothing about that. */
const charsOfFile = 4000;

/**
 * Encodes trails. A trail only grows, so its items array stands for everything encoded from it so far; a branch has another
 * array and shares the bytes of what it has in common. Entries live as long as the conversation they belong to.
 */
export function prefixEncoder(
  encode: EncodeMessage,
  sight: Sight = true,
): (messages: Trail<Message>) => EncodedMessages {
  const byItems = new WeakMap<readonly Message[], Entry>();
  const byFirst = new WeakMap<Message, Entry>();

  return ({ items, length }) => {
    const first = items[0];
    if (!first || length === 0) return { bytes: [], chars: 0 };
    const known = byItems.get(items);
    const entry = known ?? branch(byFirst.get(first), items, length);
    if (!known) byItems.set(items, entry);
    byFirst.set(first, entry);

    const from = entry.marks.findLast((mark) => mark.count <= length) ?? start;
    const encoded = upTo(entry.pieces, from.size);
    if (from.count === length) return { bytes: encoded, chars: from.chars };
    const fresh = encodeRange(encode, items, { from: from.count, to: length, sight });
    const chars = from.chars + fresh.chars;
    // After an older version only its own bytes are left; the newest mark that fits is always one of theirs.
    entry.pieces = joined([...encoded, ...fresh.pieces]);
    entry.marks.push({ count: length, size: from.size + fresh.size, chars });
    return { bytes: entry.pieces, chars };
  };
}

type Fresh = { readonly pieces: readonly Buffer[]; readonly size: number; readonly chars: number };

type Range = { readonly from: number; readonly to: number; readonly sight: Sight };

function encodeRange(encode: EncodeMessage, items: readonly Message[], { from, to, sight }: Range): Fresh {
  const pieces: Buffer[] = [];
  let wire: object[] = [];
  let weight = 0;
  let size = 0;
  let chars = 0;
  let before = from > 0 ? asSeen(items[from - 1] as Message, sight) : undefined;
  for (let i = from; i < to; i++) {
    const message = asSeen(items[i] as Message, sight);
    wire.push(...encode(message, before));
    before = message;
    chars -= excessOfFiles(message);
    weight += weigh(message);
    if (weight < stretch && i < to - 1) continue;
    const text = JSON.stringify(wire);
    const piece = inList(Buffer.from(text), size + from > 0);
    size += piece.length;
    chars += text.length;
    pieces.push(piece);
    wire = [];
    weight = 0;
  }
  return { pieces, size, chars };
}

/** The bytes of a list as a stretch of a longer one: without its brackets, the first one turned into a comma if something stands before it. */
function inList(list: Buffer, follows: boolean): Buffer {
  if (!follows) return list.subarray(1, -1);
  list.write(',', 0);
  return list.subarray(0, -1);
}

function weigh({ parts }: Message): number {
  let weight = 0;
  for (const part of parts) weight += part.type === 'tool-call' || part.type === 'file' ? 0 : part.text.length;
  for (const file of filesIn(parts)) weight += file.data.length;
  return weight;
}

function excessOfFiles({ parts }: Message): number {
  let excess = 0;
  for (const file of filesIn(parts)) excess += file.data.length - charsOfFile;
  return excess;
}

/** The files of a message, those of its results too. */
const filesIn = (parts: readonly Part[]): readonly FilePart[] =>
  parts.flatMap((part) => (part.type === 'file' ? part : part.type === 'tool-result' ? (part.files ?? []) : []));

/** Small pieces are joined when the later one has grown to the size of the earlier, so that there are few and each byte is copied seldom. */
function joined(pieces: readonly Buffer[]): readonly Buffer[] {
  const out = [...pieces];
  for (;;) {
    const [before, last] = out.slice(-2);
    if (!before || !last || before.length >= joinBelow || before.length > 2 * last.length) return out;
    out.splice(-2, 2, Buffer.concat([before, last]));
  }
}

function upTo(pieces: readonly Buffer[], size: number): readonly Buffer[] {
  const out: Buffer[] = [];
  let left = size;
  for (const piece of pieces) {
    if (left <= 0) break;
    out.push(piece.length <= left ? piece : piece.subarray(0, left));
    left -= piece.length;
  }
  return out;
}

function branch(from: Entry | undefined, items: readonly Message[], length: number): Entry {
  if (!from) return { items, marks: [], pieces: [] };
  let same = 0;
  while (same < length && same < from.items.length && items[same] === from.items[same]) same++;
  const marks = from.marks.filter((mark) => mark.count <= same);
  return { items, marks, pieces: upTo(from.pieces, marks.at(-1)?.size ?? 0) };
}
