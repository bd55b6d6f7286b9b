// Encodes messages as pieces of a request body: text that a log holds as JSON is sent as its stored bytes, the rest is serialized.
import {
  formatToolResult,
  getLazyText,
  resultTags,
  textLength,
  type FilePart,
  type LazyText,
  type Message,
  type MessagePart,
  type ResultTags,
  type ToolResultPart,
} from '../../core/index.ts';

/** Encodes a message as one or more objects of a wire format; the result may depend on the previous message only. */
export type MessageEncoder = (message: Message, before: Message | undefined) => readonly object[];

/** The last field of an object, still missing. JSON.stringify skips a field whose key is a symbol. */
const pendingText = Symbol('pendingText');

type WithPendingText = {
  readonly [pendingText]?: { readonly key: string; readonly text: LazyText; readonly tags: ResultTags | undefined };
};

/** Adds the text of a tool result after at least one other field. Text that a log holds as JSON is not parsed. */
export function withResultField(fields: object, key: string, part: ToolResultPart): object {
  // An encoded text has other bytes than the log.
  const text = part.spotlight === undefined ? getLazyText(part) : undefined;
  return text
    ? { ...fields, [pendingText]: { key, text, tags: resultTags(part) } }
    : { ...fields, [key]: formatToolResult(part) };
}

/** Encoded messages, and about how many of their characters the model reads. */
export type EncodedPieces = { readonly pieces: readonly Uint8Array[]; readonly size: number; readonly chars: number };

/** Whether a model accepts images. */
export type ImageSupport = boolean | 'unknown';

/** The messages to encode, and whether the model accepts images. */
export type MessageRange = { readonly from: number; readonly to: number; readonly imageSupport: ImageSupport };

/** A long history is serialized in blocks of about this many characters: faster than one message at a time, with less memory than all at once. */
const flushChars = 1_048_576;

/** Estimated characters that the model reads of a file (four per token); the size of the file does not tell. */
const charsPerFile = 4000;

/** Encodes a range of messages as items of a JSON array, with a leading comma if the range does not begin the array. */
export function encodeMessages(
  encode: MessageEncoder,
  items: readonly Message[],
  { from, to, imageSupport }: MessageRange,
): EncodedPieces {
  const list = createListEncoder(from > 0);
  let before = from > 0 ? withoutUnsupportedImages(items[from - 1] as Message, imageSupport) : undefined;
  let blockSize = 0;
  let excess = 0;
  for (let i = from; i < to; i++) {
    const message = withoutUnsupportedImages(items[i] as Message, imageSupport);
    for (const each of encode(message, before)) list.add(each);
    before = message;
    excess += fileExcessChars(message);
    blockSize += messageSize(message);
    if (blockSize < flushChars) continue;
    list.flush();
    blockSize = 0;
  }
  const { pieces, size, chars } = list.end();
  return { pieces, size, chars: chars - excess };
}

/** Creates an encoder of array items. */
function createListEncoder(hasPrevious: boolean): {
  add(object: WithPendingText): void;
  flush(): void;
  end(): EncodedPieces;
} {
  const pieces: Uint8Array[] = [];
  let waiting: object[] = [];
  let before = hasPrevious ? ',' : '';
  let size = 0;
  let chars = 0;
  const push = (piece: Uint8Array, length: number): void => {
    pieces.push(piece);
    size += piece.length;
    chars += length;
  };
  const pushText = (text: string): void => push(Buffer.from(text), text.length);
  /** Serializes the waiting objects; with `key`, the last object stays open for the value of that field. */
  function flush(key?: string): void {
    if (waiting.length === 0) return;
    const text = JSON.stringify(waiting);
    const inner = key === undefined ? text.slice(1, -1) : `${text.slice(1, -2)},${JSON.stringify(key)}:`;
    const whole = before + inner;
    pushText(whole);
    waiting = [];
    before = ',';
  }
  return {
    add(object) {
      waiting.push(object);
      const last = object[pendingText];
      if (!last) return;
      flush(last.key);
      if (last.tags) {
        pushText(JSON.stringify(last.tags.open).slice(0, -1));
        push(last.text.json.subarray(1, -1), last.text.jsonLength - 2);
        pushText(JSON.stringify(last.tags.close).slice(1));
      } else push(last.text.json, last.text.jsonLength);
      before = '},';
    },
    flush: () => flush(),
    end() {
      flush();
      if (before === '},') pushText('}');
      return { pieces, size, chars };
    },
  };
}

function messageSize({ parts }: Message): number {
  let size = 0;
  for (const part of parts) size += part.type === 'tool-call' || part.type === 'file' ? 0 : textLength(part);
  for (const file of filesOfParts(parts)) size += file.data.length;
  return size;
}

function fileExcessChars({ parts }: Message): number {
  let excess = 0;
  for (const file of filesOfParts(parts)) excess += file.data.length - charsPerFile;
  return excess;
}

/** Returns the files of parts, including those of tool results. */
const filesOfParts = (parts: readonly MessagePart[]): readonly FilePart[] =>
  parts.flatMap((part) => (part.type === 'file' ? part : part.type === 'tool-result' ? (part.files ?? []) : []));

/** Replaces images by a placeholder: those of tools unless the model accepts images, those of the user only if it does not. */
const withoutUnsupportedImages = (message: Message, imageSupport: ImageSupport): Message =>
  imageSupport === true
    ? message
    : { role: message.role, parts: message.parts.map((part) => withoutUnsupportedFiles(part, imageSupport)) };

function withoutUnsupportedFiles(part: MessagePart, imageSupport: ImageSupport): MessagePart {
  if (part.type === 'file')
    return imageSupport === false && part.mediaType.startsWith('image/')
      ? { type: 'text', text: filePlaceholder(part) }
      : part;
  if (part.type !== 'tool-result' || !part.files) return part;
  const { files, ...rest } = part;
  return { ...rest, text: [part.text, ...files.map(filePlaceholder)].join('\n') };
}

const filePlaceholder = ({ name, mediaType }: FilePart): string => `[${name ?? mediaType} is not shown to this model.]`;

/** Returns the parts of the user message that carries the files of tool results, for wire formats whose results are text only; empty without files. */
export function toolResultFileParts({ parts }: Message): readonly MessagePart[] {
  const files = parts.flatMap((part) => (part.type === 'tool-result' ? (part.files ?? []) : []));
  return files.length === 0
    ? []
    : [{ type: 'text', text: 'These belong to the results above, in this order:' }, ...files];
}
