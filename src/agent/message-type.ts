// Custom message types: typed values of an application in the messages of a session, which the model reads as text.
import { FairleadError, isObject, type Json, type Message, type MessagePart } from '../core/index.ts';
import { createOutputSchema, type SchemaLike, type SchemaOutput } from './schema.ts';

/** The definition of a message type. */
export type MessageTypeDefinition<S extends SchemaLike> = {
  /** The name of the type, such as `order-created`; it is stored with each message. */
  readonly name: string;
  /** A Standard Schema, zod schema or JSON Schema of the value. */
  readonly schema: S;
  /** The text that the model reads. */
  readonly toText: (value: SchemaOutput<S>) => string;
};

/** A message type: creates messages that an agent can be given, and finds them in a session. */
export type MessageType<T> = {
  /** The name of the type. */
  readonly name: string;
  /** Validates a value and returns it as input for `run`, `stream` or `steer`. Throws `message/invalid`. */
  create(value: T): readonly MessagePart[];
  /** Returns the values of this type in messages, in order. */
  read(messages: readonly Message[]): readonly T[];
};

/** Creates a message type. The value is stored in the session and never sent; the model reads only the text. */
export function messageType<const S extends SchemaLike>({
  name,
  schema,
  toText,
}: MessageTypeDefinition<S>): MessageType<SchemaOutput<S>> {
  type Value = SchemaOutput<S>;
  const output = createOutputSchema(schema);
  // No provider has this family, so the value is not part of a request.
  const family = `message-type/${name}`;
  const isOwn = (part: MessagePart): part is MessagePart & { readonly type: 'text' } =>
    part.type === 'text' && part.meta?.family === family;
  return {
    name,
    create(value) {
      const stored = JSON.stringify(value) as string | undefined;
      const problem = stored === undefined ? 'The value is undefined.' : output.validate(stored);
      if (stored === undefined || problem !== undefined)
        throw new FairleadError('message/invalid', `The value does not fit the message type ${name}: ${problem}`, {
          blame: 'user',
          hint: 'Correct the value, or the schema of the message type.',
        });
      return [{ type: 'text', text: toText(value), meta: { family, data: { value: JSON.parse(stored) as Json } } }];
    },
    read: (messages) =>
      messages
        .flatMap(({ parts }) => parts)
        .filter(isOwn)
        .flatMap(({ meta }) => (isObject(meta?.data) && meta.data['value'] !== undefined ? [meta.data['value']] : []))
        .map((value) => (output.parse ? output.parse(JSON.stringify(value)) : value) as Value),
  };
}
