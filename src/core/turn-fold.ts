// Reducers for turns and epochs.
import { wasDetached } from './abort.ts';
import type { Event, Note } from './fact.ts';
import { messageToolCalls, isEmptyMessage, satisfiesToolChoice, type Message, type MessagePart } from './message.ts';
import { isNoteActive, removeShownNotes, renderNotes } from './notes.ts';
import { chargeRun, addToTotals } from './usage-totals.ts';
import type { ToolCall, RunState } from './state.ts';
import { getModelOrigin } from './model-origin.ts';
import { estimateTokens, partTokens, messageTokens } from './tokens.ts';
import { lastItem, appendItem, replaceLastItem, createPersistentList, type PersistentList } from './persistent-list.ts';

/** Applies `epoch-started`: a new prefix begins. */
export function startEpoch(s: RunState, e: Event & { type: 'epoch-started' }): RunState {
  const { epoch, system, tools, model, cwd } = e;
  const now = { ...s, epoch, system, tools, model, modelOrigin: getModelOrigin(e), cwd, sent: 0 };
  const prefix = prefixTokens(e);
  if (!e.baseline)
    return { ...now, context: s.epoch === 0 ? prefix : Math.max(prefix, s.context + prefix - prefixTokens(s)) };
  const { session, messages, turn, loaded, queue, total, pending = s.pending, activeRun, calls = [] } = e.baseline;
  const context = prefix + messageTokens(messages);
  const started: RunState = {
    ...now,
    ...activeRun,
    session,
    nonce: e.baseline.nonce ?? s.nonce,
    messages: createPersistentList(messages),
    turn,
    loaded,
    queue,
    total,
    pending,
    context,
    calls,
    files: e.baseline.files ?? [],
    ...(e.baseline.unknownCalls ? { unknownCalls: e.baseline.unknownCalls } : {}),
    failure: undefined,
    contextAfterCompaction: e.reason === 'compacted' ? context : 0,
    compactions: (activeRun ?? s).compactions + (e.reason === 'compacted' ? 1 : 0),
  };
  return e.spent ? chargeRun(started, e.spent) : started;
}

/** Estimates the tokens of the system text and tools of an epoch. */
export const prefixTokens = ({ system, tools }: Pick<RunState, 'system' | 'tools'>): number =>
  estimateTokens(system) + estimateTokens(JSON.stringify(tools));

/** Applies `turn-started`: delivered inputs and notes join the history. */
export function startTurn(s: RunState, inputs: readonly string[], notes: readonly Note[]): RunState {
  const taken = new Set(inputs);
  const delivered = inputs.length ? s.pending.filter((each) => taken.has(each.input)) : [];
  const parts = [...delivered.flatMap((each) => each.parts), ...renderNotes(notes, s.nonce)];
  const role = lastItem(s.messages)?.role;
  const endsWithInput = role === 'user' || role === 'tool';
  const isSentAsIs = s.asIs && role === 'assistant';
  const now =
    parts.length || !(endsWithInput || isSentAsIs) ? appendUserParts(s, parts.length ? parts : continueParts) : s;
  return {
    ...now,
    turn: s.turn + 1,
    inTurn: true,
    needsTurn: true,
    verified: false,
    unconfirmed: undefined,
    checkedText: undefined,
    sent: now.messages.length,
    truncated: false,
    failure: undefined,
    pending: delivered.length ? s.pending.filter((each) => !taken.has(each.input)) : s.pending,
    queue: s.queue.length ? removeShownNotes(s.queue, notes).filter((note) => isNoteActive(note, s.turn + 2)) : s.queue,
    spent: { ...s.spent, turns: s.spent.turns + 1 },
    total: { ...s.total, turns: s.total.turns + 1 },
  };
}

/** The prompt of a turn without user input, because many models reject a request that ends with an assistant message. */
export const continuePrompt = 'Go on.';

/** The text of the placeholder after an answer that was continued without a new message. */
export const continuedText = '(continued without a new message)';

const continueParts: readonly MessagePart[] = [{ type: 'text', text: continuePrompt }];

/** Adds user parts. Messages that were already sent never change; a placeholder assistant message keeps the roles alternating. */
function appendUserParts(s: RunState, parts: readonly MessagePart[]): RunState {
  const tail = lastItem(s.messages);
  const context = s.context + partTokens(parts);
  const message: Message = { role: 'user', parts };
  if (!tail || tail.role === 'assistant') return { ...s, context, messages: appendItem(s.messages, message) };
  if (s.messages.length > s.sent) {
    if (tail.role === 'user')
      return {
        ...s,
        context,
        messages: replaceLastItem(s.messages, { role: 'user', parts: [...tail.parts, ...parts] }),
      };
    return { ...s, context, messages: appendItem(s.messages, message) };
  }
  return { ...s, context, messages: appendItem(appendItem(s.messages, noAnswerMessage), message) };
}

const noAnswerMessage: Message = { role: 'assistant', parts: [{ type: 'text', text: '(no answer)' }] };

/** Placeholder for a user message that a damaged log has lost: no provider accepts two assistant messages in a row. */
const lostInputMessage: Message = { role: 'user', parts: [{ type: 'text', text: '(lost)' }] };

/** Placeholder between an answer and the answer to a request that was sent as it is. It is added after that request: what was sent never changes. */
const continuedMessage: Message = { role: 'user', parts: [{ type: 'text', text: continuedText }] };

function appendAnswer({ messages, asIs }: RunState, answer: Message): PersistentList<Message> {
  const role = lastItem(messages)?.role;
  const wasAsked = role === 'user' || role === 'tool';
  return appendItem(wasAsked ? messages : appendItem(messages, asIs ? continuedMessage : lostInputMessage), answer);
}

/** Applies `turn-ended`: the response joins the history and its calls are open. */
export function endTurn(s: RunState, e: Event & { type: 'turn-ended' }): RunState {
  const outputTokens = partTokens(e.message.parts);
  const used = { ...e.usage, input: e.usage.input ?? s.context, output: e.usage.output ?? outputTokens };
  const unpriced = e.usd === undefined || e.estimated ? 1 : 0;
  const { spent, total } = addToTotals(s, { ...used, usd: e.usd ?? 0, turnsWithoutPrice: unpriced, ms: e.ms });
  const calls = messageToolCalls(e.message).map((part): ToolCall => ({
    id: part.id,
    tool: part.tool,
    input: part.input,
    ...(part.invalid === undefined ? {} : { invalid: part.invalid }),
  }));
  return {
    ...s,
    spent,
    total,
    inTurn: false,
    asIs: false,
    calls,
    needsTurn: false,
    failure: undefined,
    failures: calls.length ? s.failures : 0,
    truncated: e.finishReason === 'length',
    compactions: 0,
    // The provider's own count is the best estimate of the request size.
    contextAfterCompaction: s.compactions > 0 ? used.input : s.contextAfterCompaction,
    choice: calls.length && satisfiesToolChoice(s.choice, calls) ? 'auto' : s.choice,
    messages: isEmptyMessage(e.message) ? s.messages : appendAnswer(s, e.message),
    context: used.input + used.output,
  };
}

/** Applies `turn-failed`. Partial text that was shown stays in the history unless the turn is retried. */
export function failTurn(s: RunState, e: Event & { type: 'turn-failed' }): RunState {
  // The usage is an estimate, and so is its cost; a free model costs nothing however many tokens it used.
  const unpriced = e.usage && e.usd !== 0 ? 1 : 0;
  const now = chargeRun(s, { ...e.usage, usd: e.usd ?? 0, turnsWithoutPrice: unpriced, ms: e.ms });
  const messages = e.partial && !e.error.retry ? appendAnswer(s, cutOffMessage(e.partial)) : s.messages;
  return { ...now, inTurn: false, failure: e.error, failures: s.failures + (wasDetached(e.error) ? 0 : 1), messages };
}

/** Marks the end of a text that was interrupted. */
export const cutOffMark = ' [cut off]';

const cutOffMessage = (text: string): Message => ({
  role: 'assistant',
  parts: [{ type: 'text', text: text + cutOffMark }],
});
