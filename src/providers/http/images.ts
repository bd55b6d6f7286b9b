// Pictures on wires and for models that have no place for them: named in words, or shown in a message of their own.
import type { FilePart, Message, MessagePart } from '../../core/index.ts';

/** Whether a model sees pictures; nobody may know. */
export type ImageSupport = boolean | 'unknown';

/** The message as a model of this sight reads it. What is not shown is named: a tool's pictures unless the model is known to see, a person's where it is known not to. */
export const withoutUnsupportedImages = (message: Message, sight: ImageSupport): Message =>
  sight === true
    ? message
    : { role: message.role, parts: message.parts.map((part) => withoutUnsupportedFiles(part, sight)) };

function withoutUnsupportedFiles(part: MessagePart, sight: ImageSupport): MessagePart {
  if (part.type === 'file')
    return sight === false && part.mediaType.startsWith('image/')
      ? { type: 'text', text: filePlaceholder(part) }
      : part;
  if (part.type !== 'tool-result' || !part.files) return part;
  const { files, ...rest } = part;
  return { ...rest, text: [part.text, ...files.map(filePlaceholder)].join('\n') };
}

const filePlaceholder = ({ name, mediaType }: FilePart): string => `[${name ?? mediaType} is not shown to this model.]`;

/** What follows the results of calls on a wire whose results hold only text: the user's side shows what belongs to them. Nothing where they hold no files. */
export function toolResultFileParts({ parts }: Message): readonly MessagePart[] {
  const files = parts.flatMap((part) => (part.type === 'tool-result' ? (part.files ?? []) : []));
  return files.length === 0
    ? []
    : [{ type: 'text', text: 'These belong to the results above, in this order:' }, ...files];
}
