// Messages as pieces of a request's body: what a log keeps as JSON goes out as the bytes it is kept as, all else is serialised.
import {
  getLazyText,
  textLength,
  type FilePart,
  type LazyText,
  type Message,
  type MessagePart,
} from '../../core/index.ts';
import { withoutUnsupportedImages, type ImageSupport } from './images.ts';

/** A message as one or more of the dialect's own; it may depend on the message before it and on nothing else. */
export type MessageEncoder = (message: Message, before: Message | undefined) => readonly object[];

/** What an object still lacks. No serialiser sees a field that is named by a symbol. */
const pendingText = Symbol('ending');

type WithPendingText = { readonly [pendingText]?: { readonly key: string; readonly text: LazyText } };

/** These fields, of which there must be one, and the text of a part behind them; where a log keeps it, it is not read. */
export function withTextField(fields: object, key: string, part: { readonly text: string }): object {
  const text = getLazyText(part);
  return text ? { ...fields, [pendingText]: { key, text } } : { ...fields, [key]: part.text };
}

/** Some messages as bytes, and about how many characters of it a model has to read. */
export type EncodedPieces = { readonly pieces: readonly Uint8Array[]; readonly size: number; readonly chars: number };

/** Which messages, and for whose eyes. */
export type MessageRange = { readonly from: number; readonly to: number; readonly imageSupport: ImageSupport };

/** A long history is serialised in stretches of about this many characters: faster than message by message, and in less memory than at once. */
const flushChars = 1_048_576;

/** About four characters a token for what a model reads of a file, whose own size says nothing about that. */
const charsPerFile = 4000;

/** Encodes a range of messages as it stands in the list of a body: commas between them, and one before them if others stand there. */
export function encodeMessages(
  encode: MessageEncoder,
  items: readonly Message[],
  { from, to, imageSupport }: MessageRange,
): EncodedPieces {
  const list = createListEncoder(from > 0);
  let before = from > 0 ? withoutUnsupportedImages(items[from - 1] as Message, imageSupport) : undefined;
  let weight = 0;
  let excess = 0;
  for (let i = from; i < to; i++) {
    const message = withoutUnsupportedImages(items[i] as Message, imageSupport);
    for (const each of encode(message, before)) list.add(each);
    before = message;
    excess += fileExcessChars(message);
    weight += messageSize(message);
    if (weight < flushChars) continue;
    list.flush();
    weight = 0;
  }
  const { pieces, size, chars } = list.end();
  return { pieces, size, chars: chars - excess };
}

/** A list of objects in the making. */
function createListEncoder(follows: boolean): {
  add(object: WithPendingText): void;
  flush(): void;
  end(): EncodedPieces;
} {
  const pieces: Uint8Array[] = [];
  let wire: object[] = [];
  let before = follows ? ',' : '';
  let size = 0;
  let chars = 0;
  const push = (piece: Uint8Array, length: number): void => {
    pieces.push(piece);
    size += piece.length;
    chars += length;
  };
  /** Serialises what is waiting, the last object left open for a field that ends it if there is one. */
  function flush(key?: string): void {
    if (wire.length === 0) return;
    const text = JSON.stringify(wire);
    const inner = key === undefined ? text.slice(1, -1) : `${text.slice(1, -2)},${JSON.stringify(key)}:`;
    const whole = before + inner;
    push(Buffer.from(whole), whole.length);
    wire = [];
    before = ',';
  }
  return {
    add(object) {
      wire.push(object);
      const last = object[pendingText];
      if (!last) return;
      flush(last.key);
      push(last.text.json, last.text.jsonLength);
      before = '},';
    },
    flush: () => flush(),
    end() {
      flush();
      if (before === '},') push(Buffer.from('}'), 1);
      return { pieces, size, chars };
    },
  };
}

function messageSize({ parts }: Message): number {
  let weight = 0;
  for (const part of parts) weight += part.type === 'tool-call' || part.type === 'file' ? 0 : textLength(part);
  for (const file of filesOfParts(parts)) weight += file.data.length;
  return weight;
}

function fileExcessChars({ parts }: Message): number {
  let excess = 0;
  for (const file of filesOfParts(parts)) excess += file.data.length - charsPerFile;
  return excess;
}

/** The files of a message, those of its results too. */
const filesOfParts = (parts: readonly MessagePart[]): readonly FilePart[] =>
  parts.flatMap((part) => (part.type === 'file' ? part : part.type === 'tool-result' ? (part.files ?? []) : []));
