// A request body in pieces: a head that stays the same from turn to turn, the messages encoded once, a tail with what may change.
import type { Message, ModelRequest } from '../../core/index.ts';
import type { ImageSupport } from './images.ts';
import type { MessageEncoder } from './encode-messages.ts';
import { createPrefixEncoder } from './encoded-prefix.ts';

/** A body ready to send, and about how many characters of it a model has to read. */
export type EncodedBody = { readonly body: readonly Uint8Array[]; readonly chars: number };

/** How one dialect writes a request. */
export type RequestBodyFormat = {
  readonly encode: MessageEncoder;
  /** Whether the model sees pictures. */
  readonly imageSupport: ImageSupport;
  /** Everything up to the messages: JSON text that ends inside the list of messages. */
  head(request: ModelRequest): string;
  /** Everything after the messages. */
  tail(request: ModelRequest): string;
};

type EncodedHead = {
  readonly of: Omit<ModelRequest, 'messages'>;
  readonly bytes: Buffer;
  readonly chars: number;
  readonly comma: boolean;
};

/** Makes the bodies of one model's requests. Within an epoch each extends the one before it, up to the end of its messages, byte for byte. */
export function createBodyEncoder(shape: RequestBodyFormat): (request: ModelRequest) => EncodedBody {
  const encode = createPrefixEncoder(shape.encode, shape.imageSupport);
  const heads = new WeakMap<readonly Message[], EncodedHead>();
  return (request) => {
    const { items } = request.messages;
    const known = heads.get(items);
    const head = known && isSameHead(known.of, request) ? known : encodeHead(shape, request);
    if (head !== known) heads.set(items, head);
    const messages = encode(request.messages);
    const comma = head.comma && messages.bytes.length > 0 ? [commaByte] : [];
    const tail = Buffer.from(shape.tail(request));
    return { body: [head.bytes, ...comma, ...messages.bytes, tail], chars: head.chars + messages.chars };
  };
}

const commaByte = Buffer.from(',');

function isSameHead(a: Omit<ModelRequest, 'messages'>, b: ModelRequest): boolean {
  const same = a.system === b.system && a.tools === b.tools && a.settings === b.settings;
  return same && a.outputSchema === b.outputSchema && a.session === b.session && a.toolChoice === b.toolChoice;
}

function encodeHead(shape: RequestBodyFormat, request: ModelRequest): EncodedHead {
  const { messages: _, ...of } = request;
  const text = shape.head(request);
  return { of, bytes: Buffer.from(text), chars: text.length, comma: !text.endsWith('[') };
}

/** The system text, with the schema of the answer in words for servers that cannot be held to it. */
export function withSchemaInstruction({ system, outputSchema }: ModelRequest): string {
  if (!outputSchema) return system;
  const rule = `When you give your final answer, give one JSON value that fits this JSON schema, and nothing else:\n${JSON.stringify(outputSchema)}`;
  return system === '' ? rule : `${system}\n\n${rule}`;
}
