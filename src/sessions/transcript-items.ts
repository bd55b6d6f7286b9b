// Converts messages to transcript items: text in order, each tool call with its result.
import { messageToolCalls, type FilePart, type Message, type ToolResultPart } from '../core/index.ts';

/** A transcript item. */
export type TranscriptItem =
  | { readonly type: 'text'; readonly speaker: 'User' | 'Assistant'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'file'; readonly text: string }
  | {
      readonly type: 'call';
      readonly tool: string;
      /** The arguments as multi-line JSON, or the raw text if they are not JSON. */
      readonly input: string;
      /** Absent while there is no result. */
      readonly result: { readonly text: string; readonly failed: boolean } | undefined;
    };

/** Returns the items of messages. A result without a call, possible after an edit, is an item of its own. */
export function toTranscriptItems(messages: readonly Message[]): readonly TranscriptItem[] {
  return messages.flatMap((message, i) => {
    if (message.role === 'tool') return message.parts.flatMap((part) => toOrphanResult(part, messages[i - 1]));
    const after = messages[i + 1];
    const results = after?.role === 'tool' ? after.parts.filter((part) => part.type === 'tool-result') : [];
    return message.parts.flatMap((part) => toItems(part, message.role, results));
  });
}

function toItems(
  part: Message['parts'][number],
  role: Message['role'],
  results: readonly ToolResultPart[],
): readonly TranscriptItem[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', speaker: role === 'user' ? 'User' : 'Assistant', text: part.text }];
    case 'reasoning':
      return part.text.trim() === '' ? [] : [{ type: 'reasoning', text: part.text }];
    case 'file':
      return [{ type: 'file', text: formatFilePart(part) }];
    case 'tool-call': {
      const input = part.invalid ?? JSON.stringify(part.input, null, 2);
      return [{ type: 'call', tool: part.tool, input, result: results.find(({ id }) => id === part.id) }];
    }
    case 'tool-result':
      return [{ type: 'call', tool: part.tool, input: '', result: part }];
  }
}

function toOrphanResult(part: Message['parts'][number], before: Message | undefined): readonly TranscriptItem[] {
  const known = part.type === 'tool-result' && before && messageToolCalls(before).some(({ id }) => id === part.id);
  return known ? [] : toItems(part, 'tool', []);
}

/** Formats a file by type and size. */
const formatFilePart = ({ name, mediaType }: FilePart): string => `[file: ${name ?? 'unnamed'}, ${mediaType}]`;
