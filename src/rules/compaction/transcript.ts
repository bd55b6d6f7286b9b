// Formats the omitted part of a conversation as plain text for the summary request.
import { truncateMiddle, type Message, type MessagePart } from '../../core/index.ts';
import { userParts } from './select-kept-messages.ts';

/** Max characters by kind of part. The first and last lines of tool output are the most useful. */
const maxCharsByKind = { userText: 1000, answer: 2000, toolCall: 500, toolResult: 1200 } as const;

/** Formats messages as lines within a number of characters. Each part is truncated before any is omitted. */
export function formatTranscript(messages: readonly Message[], maxChars: number): string {
  for (const share of [1, 0.5, 0.25, 0.1]) {
    const text = formatMessages(messages, share);
    if (text.length <= maxChars) return text;
  }
  return truncateMiddle(formatMessages(messages, 0), maxChars);
}

const formatMessages = (messages: readonly Message[], share: number): string =>
  messages
    .flatMap((message) =>
      (message.role === 'user' ? userParts(message) : message.parts).map((part) => formatLine(message, part, share)),
    )
    .filter((text) => text !== '')
    .join('\n');

function formatLine({ role }: Message, part: MessagePart, share: number): string {
  const truncate = (text: string, maxChars: number): string =>
    truncateMiddle(text, Math.max(80, Math.floor(maxChars * share)));
  switch (part.type) {
    case 'text':
      return role === 'user'
        ? `user: ${truncate(part.text, maxCharsByKind.userText)}`
        : `assistant: ${truncate(part.text, maxCharsByKind.answer)}`;
    case 'tool-call':
      return `call of ${part.tool}: ${truncate(part.invalid ?? JSON.stringify(part.input), maxCharsByKind.toolCall)}`;
    case 'tool-result':
      return `result of ${part.tool}${part.failed ? ' (failed)' : ''}: ${truncate(part.text, maxCharsByKind.toolResult)}`;
    case 'file':
      return `${role}: [the file ${part.name ?? part.mediaType}]`;
    case 'reasoning':
      return '';
  }
}
