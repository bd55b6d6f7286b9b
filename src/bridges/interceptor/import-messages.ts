// Converts the caller's new messages to facts: input, unseen responses and tool results.
import {
  messageText,
  messageToolCalls,
  type Fact,
  type Message,
  type MessagePart,
  type RunState,
} from '../../core/index.ts';
import { unreadableText } from '../../guards/index.ts';
import { untrustedKey, wordsKey } from '../caller-flow/view.ts';

/** Detects a failed result in formats without an error flag. */
export type ToolFailureTest = (tool: string, text: string) => boolean;

/** Default test: the text starts with an error word. */
export const defaultToolFailureTest: ToolFailureTest = (_tool, text) =>
  /^\s*(?:error|exception|traceback|failed|fatal)\b/i.test(text.slice(0, 200));

/** Returns the facts of one message; none if they are recorded already. `words` are those of a rewritten history that count as the user's; undefined if all do. */
export function callerMessageToFacts(
  message: Message | null,
  state: RunState,
  isFailure: ToolFailureTest,
  words?: string,
): readonly Fact[] {
  if (!message) return [];
  if (message.role === 'user') return inputFacts(message.parts, state, words);
  if (message.role === 'assistant') return importAssistantMessage(message, state);
  const others = message.parts.filter((part) => part.type === 'text' || part.type === 'file');
  const beside = others.length ? inputFacts(others, state, words) : [];
  return message.parts
    .flatMap((part): readonly Fact[] => {
      if (part.type !== 'tool-result') return [];
      const call = state.calls.find(({ id, result }) => id === part.id && !result);
      // The model reads a result also if its call is not known.
      if (!call) return [untrustedFact(part.text || unreadableText, part.tool || 'a result without a call')];
      const failed = part.failed || isFailure(call.tool, part.text);
      return [{ type: 'tool-ended', call: part.id, outcome: failed ? 'failed' : 'ok', text: part.text, ms: 0 }];
    })
    .concat(beside);
}

const inputFacts = (parts: readonly MessagePart[], state: RunState, words: string | undefined): readonly Fact[] => [
  {
    type: 'input-received',
    input: `g${state.seq}`,
    how: 'prompt',
    parts,
    ...(words === undefined ? {} : { by: 'program' }),
  },
  ...(words ? [{ type: 'annotation-added', key: wordsKey, value: words } as const] : []),
];

/** Returns the fact that the model reads a text of unknown origin. */
export const untrustedFact = (text: string, source: string): Fact => ({
  type: 'annotation-added',
  key: untrustedKey,
  value: { text, source },
});

/** Imports a response that we did not see; one that we saw is in the log already. What it was written from is not known. */
function importAssistantMessage(message: Message, state: RunState): readonly Fact[] {
  if (isLatestAssistantMessage(message, state)) return [];
  const { turn } = state;
  const inputs = state.pending.map(({ input }) => input);
  return [
    untrustedFact(messageText(message) || unreadableText, 'a reply that was not seen here'),
    { type: 'turn-started', turn: turn + 1, inputs, notes: [] },
    {
      type: 'turn-ended',
      turn: turn + 1,
      message,
      finishReason: messageToolCalls(message).length ? 'tool-calls' : 'stop',
      usage: {},
      usd: 0,
      model: state.model,
      ms: 0,
    },
    ...messageToolCalls(message).map((call): Fact => ({
      type: 'tool-started',
      call: call.id,
      tool: call.tool,
      key: `${state.session}/${call.id}`,
    })),
  ];
}

/** Returns true if this is the last response, compared by calls or by text. */
function isLatestAssistantMessage(message: Message, state: RunState): boolean {
  const { items, length } = state.messages;
  const own = items.slice(Math.max(0, length - 3), length).findLast(({ role }) => role === 'assistant');
  if (!own) return false;
  const ids = (each: Message): string =>
    messageToolCalls(each)
      .map(({ id }) => id)
      .join(' ');
  const words = (each: Message): string =>
    each.parts.flatMap((part) => (part.type === 'text' ? [part.text.trim()] : [])).join(' ');
  return ids(message) === ids(own) && (ids(own) !== '' || words(message) === words(own));
}
