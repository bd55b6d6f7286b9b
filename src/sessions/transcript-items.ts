// Converts messages to transcript items: text in order, each tool call with its result.
import {
  formatUnconfirmedClaims,
  messageText,
  messageToolCalls,
  type FilePart,
  type Message,
  type ToolOutcome,
  type ToolResultPart,
} from '../core/index.ts';
import { classifyUserText, noAddedInputs, type AddedInputs } from './added-inputs.ts';
import type { CallRecords } from './call-records.ts';
import { toCheckedMessage } from './checked-answers.ts';

/** What wrote a text: a note is a text of the program for the model. */
export type Speaker = 'User' | 'Assistant' | 'Note' | 'Hook' | 'Reminder' | 'Check';

/** A transcript item. */
export type TranscriptItem =
  | { readonly type: 'text'; readonly speaker: Speaker; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'file'; readonly text: string }
  | {
      readonly type: 'call';
      readonly tool: string;
      /** The arguments as multi-line JSON, or the raw text if they are not JSON. */
      readonly input: string;
      /** Absent while there is no result. */
      readonly result: { readonly text: string; readonly failed: boolean } | undefined;
      /** How the call ended; without a record of it `failed` covers all but `ok`. */
      readonly outcome: ToolOutcome | undefined;
      /** The change of an edit as a unified diff. */
      readonly diff?: string;
    };

/** Returns the items of messages. A result without a call, possible after an edit, is an item of its own. */
export function toTranscriptItems(
  messages: readonly Message[],
  calls: CallRecords = new Map(),
  added: AddedInputs = noAddedInputs,
): readonly TranscriptItem[] {
  return messages.flatMap((message, i) => {
    if (message.role === 'tool') return message.parts.flatMap((part) => toOrphanResult(part, messages[i - 1], calls));
    const after = messages[i + 1];
    const results = after?.role === 'tool' ? after.parts.filter((part) => part.type === 'tool-result') : [];
    const claims = message.role === 'assistant' ? added.unconfirmed?.get(messageText(message)) : undefined;
    return [
      ...toCheckedMessage(message, added).parts.flatMap((part) => toItems(part, message.role, results, calls, added)),
      ...(claims ? [{ type: 'text', speaker: 'Check', text: formatUnconfirmedClaims(claims) } as const] : []),
    ];
  });
}

function toItems(
  part: Message['parts'][number],
  role: Message['role'],
  results: readonly ToolResultPart[],
  calls: CallRecords,
  added: AddedInputs = noAddedInputs,
): readonly TranscriptItem[] {
  switch (part.type) {
    case 'text':
      return [role === 'user' ? toUserItem(part.text, added) : { type: 'text', speaker: 'Assistant', text: part.text }];
    case 'reasoning':
      return part.text.trim() === '' ? [] : [{ type: 'reasoning', text: part.text }];
    case 'file':
      return [{ type: 'file', text: formatFilePart(part) }];
    case 'tool-call': {
      const input = part.invalid ?? JSON.stringify(part.input, null, 2);
      return [
        toCallItem(
          part,
          input,
          results.find(({ id }) => id === part.id),
          calls,
        ),
      ];
    }
    case 'tool-result':
      return [toCallItem(part, '', part, calls)];
  }
}

function toUserItem(text: string, added: AddedInputs): TranscriptItem {
  const found = classifyUserText(text, added);
  switch (found.type) {
    case 'user':
      return { type: 'text', speaker: 'User', text };
    case 'reminder':
      return { type: 'text', speaker: 'Reminder', text };
    case 'added':
      return { type: 'text', speaker: found.by === 'hook' ? 'Hook' : 'Note', text };
    case 'command': {
      const failed = found.code !== 0;
      const input = JSON.stringify({ command: found.command }, null, 2);
      return {
        type: 'call',
        tool: 'shell',
        input,
        result: { text: found.output, failed },
        outcome: failed ? 'failed' : 'ok',
      };
    }
  }
}

function toCallItem(
  { id, tool }: Pick<ToolResultPart, 'id' | 'tool'>,
  input: string,
  result: ToolResultPart | undefined,
  calls: CallRecords,
): TranscriptItem {
  const { outcome, diff } = calls.get(id) ?? {};
  return {
    type: 'call',
    tool,
    input,
    result,
    outcome: result && (outcome ?? (result.failed ? 'failed' : 'ok')),
    ...(diff === undefined ? {} : { diff }),
  };
}

function toOrphanResult(
  part: Message['parts'][number],
  before: Message | undefined,
  calls: CallRecords,
): readonly TranscriptItem[] {
  const known = part.type === 'tool-result' && before && messageToolCalls(before).some(({ id }) => id === part.id);
  return known ? [] : toItems(part, 'tool', [], calls);
}

/** Formats a file by type and size. */
const formatFilePart = ({ name, mediaType }: FilePart): string => `[file: ${name ?? 'unnamed'}, ${mediaType}]`;
