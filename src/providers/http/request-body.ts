// Encodes a request body in pieces: a head that is the same in every turn, the messages (each encoded once), and a tail that may change.
import type { Message, ModelRequest, PersistentList } from '../../core/index.ts';
import { encodeMessages, type ImageSupport, type MessageEncoder } from './encode-messages.ts';

/** A body to send, and about how many of its characters the model reads. */
export type EncodedBody = { readonly body: readonly Uint8Array[]; readonly chars: number };

/** How one wire format encodes a request. */
export type RequestBodyFormat = {
  readonly encode: MessageEncoder;
  /** Whether the model accepts images. */
  readonly imageSupport: ImageSupport;
  /** JSON text before the messages; it ends inside the array of messages. */
  head(request: ModelRequest): string;
  /** JSON text after the messages. */
  tail(request: ModelRequest): string;
};

type EncodedHead = {
  readonly of: Omit<ModelRequest, 'messages'>;
  readonly bytes: Buffer;
  readonly chars: number;
  readonly comma: boolean;
};

/** Creates the encoder of one model. Within an epoch, each body begins with the bytes of the previous one up to the end of its messages. */
export function createBodyEncoder(format: RequestBodyFormat): (request: ModelRequest) => EncodedBody {
  const encode = createPrefixEncoder(format.encode, format.imageSupport);
  const heads = new WeakMap<readonly Message[], EncodedHead>();
  return (request) => {
    const { items } = request.messages;
    const known = heads.get(items);
    const head = known && isSameHead(known.of, request) ? known : encodeHead(format, request);
    if (head !== known) heads.set(items, head);
    const messages = encode(request.messages);
    const comma = head.comma && messages.bytes.length > 0 ? [commaByte] : [];
    const tail = Buffer.from(format.tail(request));
    return { body: [head.bytes, ...comma, ...messages.bytes, tail], chars: head.chars + messages.chars };
  };
}

const commaByte = Buffer.from(',');

function isSameHead(a: Omit<ModelRequest, 'messages'>, b: ModelRequest): boolean {
  const same = a.system === b.system && a.tools === b.tools && a.settings === b.settings;
  return same && a.outputSchema === b.outputSchema && a.session === b.session && a.toolChoice === b.toolChoice;
}

function encodeHead(format: RequestBodyFormat, request: ModelRequest): EncodedHead {
  const { messages: _, ...of } = request;
  const text = format.head(request);
  return { of, bytes: Buffer.from(text), chars: text.length, comma: !text.endsWith('[') };
}

/** Returns the system text with the response schema, for servers that do not enforce a schema. */
export function withSchemaInstruction({ system, outputSchema }: ModelRequest): string {
  if (!outputSchema) return system;
  const rule = `When you give your final answer, give one JSON value that fits this JSON schema, and nothing else:\n${JSON.stringify(outputSchema)}`;
  return system === '' ? rule : `${system}\n\n${rule}`;
}

/** The messages of a request as items of a JSON array, and about how many of their characters the model reads. */
export type EncodedMessages = { readonly bytes: readonly Uint8Array[]; readonly chars: number };

/** The size of the encoded messages after a request. */
type PrefixCheckpoint = { readonly count: number; readonly size: number; readonly chars: number };

/** Pieces are immutable, because a socket or another branch may hold them. */
type PrefixEntry = {
  readonly items: readonly Message[];
  readonly checkpoints: PrefixCheckpoint[];
  pieces: readonly Uint8Array[];
};

const emptyCheckpoint: PrefixCheckpoint = { count: 0, size: 0, chars: 0 };

/** Larger pieces are not joined: that would copy many bytes to save few pieces. */
const joinBelow = 65_536;

/**
 * Creates an encoder of histories that encodes each message once. A history only grows, so its items array is the key of its
 * encoded bytes; a branch has another array and shares the bytes of the common messages. Entries live as long as the history.
 */
export function createPrefixEncoder(
  encode: MessageEncoder,
  imageSupport: ImageSupport = true,
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

    const from = entry.checkpoints.findLast(({ count }) => count <= length) ?? emptyCheckpoint;
    const encoded = takeBytes(entry.pieces, from.size);
    if (from.count === length) return { bytes: encoded, chars: from.chars };
    const fresh = encodeMessages(encode, items, { from: from.count, to: length, imageSupport });
    const chars = from.chars + fresh.chars;
    // After a request for a shorter version, only the bytes of that version remain, so the last fitting checkpoint is within them.
    entry.pieces = joinSmallPieces([...encoded, ...fresh.pieces]);
    entry.checkpoints.push({ count: length, size: from.size + fresh.size, chars });
    return { bytes: entry.pieces, chars };
  };
}

/** Joins the last two pieces while they are small and of similar size: few pieces remain, and each byte is copied rarely. */
function joinSmallPieces(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const out = [...pieces];
  for (;;) {
    const [before, last] = out.slice(-2);
    if (!before || !last || before.length >= joinBelow || before.length > 2 * last.length) return out;
    out.splice(-2, 2, Buffer.concat([before, last]));
  }
}

/** Returns the pieces of the first `size` bytes. */
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

/** Creates an entry that shares the bytes of the messages in common with another history. */
function forkEntry(from: PrefixEntry | undefined, items: readonly Message[], length: number): PrefixEntry {
  if (!from) return { items, checkpoints: [], pieces: [] };
  let same = 0;
  while (same < length && same < from.items.length && items[same] === from.items[same]) same++;
  const checkpoints = from.checkpoints.filter(({ count }) => count <= same);
  return { items, checkpoints, pieces: takeBytes(from.pieces, checkpoints.at(-1)?.size ?? 0) };
}
