// Pictures on wires and for models that have no place for them: named in words, or shown in a message of their own.
import type { FilePart, Message, Part } from '../../core/index.ts';

/** The message as a model that sees no pictures reads it: each is named in words. */
export const inWords = ({ role, parts }: Message): Message => ({ role, parts: parts.map(partInWords) });

function partInWords(part: Part): Part {
  if (part.type === 'file') return isPicture(part) ? { type: 'text', text: unseen(part) } : part;
  if (part.type !== 'tool-result' || !part.files) return part;
  const { files, ...rest } = part;
  return { ...rest, text: [part.text, ...files.map(unseen)].join('\n') };
}

const isPicture = ({ mediaType }: FilePart): boolean => mediaType.startsWith('image/');

const unseen = ({ name, mediaType }: FilePart): string =>
  `[${name ?? mediaType} is not shown: this model sees no pictures.]`;

/** What follows the results of calls on a wire whose results hold only text: the user's side shows what belongs to them. Nothing where they hold no files. */
export function shownBeside({ parts }: Message): readonly Part[] {
  const files = parts.flatMap((part) => (part.type === 'tool-result' ? (part.files ?? []) : []));
  return files.length === 0
    ? []
    : [{ type: 'text', text: 'These belong to the results above, in this order:' }, ...files];
}
