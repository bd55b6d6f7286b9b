// Formats the omitted part of a conversation as plain text for the summary request.
import { truncateMiddle, type Message, type MessagePart } from '../../core/index.ts';
import { userParts } from './select-kept-messages.ts';

/** Max characters by kind of part. The first and last lines of tool output are the most useful. */
const maxCharsByKind = { said: 1000, answered: 2000, called: 500, given: 1200 } as const;

/** Formats messages as lines within a number of characters. Each part is truncated before any is omitted. */
export function formatTranscript(messages: readonly Message[], room: number): string {
  for (const share of [1, 0.5, 0.25, 0.1]) {
    const text = formatMessages(messages, share);
    if (text.length <= room) return text;
  }
  return truncateMiddle(formatMessages(messages, 0), room);
}

const formatMessages = (messages: readonly Message[], share: number): string =>
  messages
    .flatMap((message) =>
      (message.role === 'user' ? userParts(message) : message.parts).map((part) => formatLine(message, part, share)),
    )
    .filter((text) => text !== '')
    .join('\n');

function formatLine({ role }: Message, part: MessagePart, share: number): string {
  const cut = (text: string, full: number): string => truncateMiddle(text, Math.max(80, Math.floor(full * share)));
  switch (part.type) {
    case 'text':
      return role === 'user'
        ? `user: ${cut(part.text, maxCharsByKind.said)}`
        : `assistant: ${cut(part.text, maxCharsByKind.answered)}`;
    case 'tool-call':
      return `call of ${part.tool}: ${cut(part.invalid ?? JSON.stringify(part.input), maxCharsByKind.called)}`;
    case 'tool-result':
      return `result of ${part.tool}${part.failed ? ' (failed)' : ''}: ${cut(part.text, maxCharsByKind.given)}`;
    case 'file':
      return `${role}: [the file ${part.name ?? part.mediaType}]`;
    case 'reasoning':
      return '';
  }
}
