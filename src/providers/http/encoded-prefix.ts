// What a conversation looks like on the wire, encoded once: a turn pays for its new messages, not for its history.
import type { Message, PersistentList } from '../../core/index.ts';
import { encodeMessages, type MessageEncoder } from './encode-messages.ts';
import type { ImageSupport } from './images.ts';

/** The messages of a request as bytes, commas between them, and about how many characters of it a model has to read. */
export type EncodedMessages = { readonly bytes: readonly Uint8Array[]; readonly chars: number };

/** How far the encoding had come when a request was made. */
type PrefixCheckpoint = { readonly count: number; readonly size: number; readonly chars: number };

/** Pieces are never written to again: what was handed to a socket, or is shared with a branch, stays what it is. */
type PrefixEntry = {
  readonly items: readonly Message[];
  readonly checkpoints: PrefixCheckpoint[];
  pieces: readonly Uint8Array[];
};

const emptyCheckpoint: PrefixCheckpoint = { count: 0, size: 0, chars: 0 };

/** Pieces of this size are left alone: to join them would copy much and save little. */
const joinBelow = 65_536;

/**
 * Encodes trails. A trail only grows, so its items array stands for everything encoded from it so far; a branch has another
 * array and shares the bytes of what it has in common. Entries live as long as the conversation they belong to.
 */
export function createPrefixEncoder(
  encode: MessageEncoder,
  sight: ImageSupport = true,
): (messages: PersistentList<Message>) => EncodedMessages {
  const byItems = new WeakMap<readonly Message[], PrefixEntry>();
  const byFirst = new WeakMap<Message, PrefixEntry>();

  return ({ items, length }) => {
    const first = items[0];
    if (!first || length === 0) return { bytes: [], chars: 0 };
    const known = byItems.get(items);
    const entry = known ?? forkEntry(byFirst.get(first), items, length);
    if (!known) byItems.set(items, entry);
    byFirst.set(first, entry);

    const from = entry.checkpoints.findLast((mark) => mark.count <= length) ?? emptyCheckpoint;
    const encoded = takeBytes(entry.pieces, from.size);
    if (from.count === length) return { bytes: encoded, chars: from.chars };
    const fresh = encodeMessages(encode, items, { from: from.count, to: length, imageSupport: sight });
    const chars = from.chars + fresh.chars;
    // After an older version only its own bytes are left; the newest mark that fits is always one of theirs.
    entry.pieces = joinSmallPieces([...encoded, ...fresh.pieces]);
    entry.checkpoints.push({ count: length, size: from.size + fresh.size, chars });
    return { bytes: entry.pieces, chars };
  };
}

/** Small pieces are joined when the later one has grown to the size of the earlier, so that there are few and each byte is copied seldom. */
function joinSmallPieces(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const out = [...pieces];
  for (;;) {
    const [before, last] = out.slice(-2);
    if (!before || !last || before.length >= joinBelow || before.length > 2 * last.length) return out;
    out.splice(-2, 2, Buffer.concat([before, last]));
  }
}

function takeBytes(pieces: readonly Uint8Array[], size: number): readonly Uint8Array[] {
  const out: Uint8Array[] = [];
  let left = size;
  for (const piece of pieces) {
    if (left <= 0) break;
    out.push(piece.length <= left ? piece : piece.subarray(0, left));
    left -= piece.length;
  }
  return out;
}

function forkEntry(from: PrefixEntry | undefined, items: readonly Message[], length: number): PrefixEntry {
  if (!from) return { items, checkpoints: [], pieces: [] };
  let same = 0;
  while (same < length && same < from.items.length && items[same] === from.items[same]) same++;
  const marks = from.checkpoints.filter((mark) => mark.count <= same);
  return { items, checkpoints: marks, pieces: takeBytes(from.pieces, marks.at(-1)?.size ?? 0) };
}
