// How tool calls change the state: each is settled once, and a settled round becomes one message in call order.
import { hash53Value, updateHash53, createHash53, type Hash53State } from './hash53.ts';
import type { Event } from './fact.ts';
import { canonicalJson } from './json.ts';
import { copyText, textOrCharCodes } from './lazy-text.ts';
import type { ToolResultPart } from './message.ts';
import { recordTouchedFile } from './touched-files.ts';
import { enqueueNote } from './notes.ts';
import { addToTotals } from './usage-totals.ts';
import type { ToolCall, RunState } from './state.ts';
import { partTokens } from './tokens.ts';
import { appendItem } from './persistent-list.ts';

/** A call is settled; a second ending of the same call changes nothing. */
export function endCall(s: RunState, e: Event & { type: 'tool-ended' }): RunState {
  const index = s.calls.findIndex((call) => call.id === e.call && !call.result);
  if (index < 0) return s;
  const call = s.calls[index] as ToolCall;
  const result: ToolResultPart = Object.assign(
    copyText(e, { type: 'tool-result' as const, id: call.id, tool: call.tool }),
    { failed: e.outcome !== 'ok', ...(e.files?.length ? { files: e.files } : {}) },
  );
  const calls = s.calls.with(index, { ...call, result });
  const own = addToTotals(s, { calls: call.key === undefined ? 0 : 1, ms: e.ms - (e.overlappedMs ?? 0) });
  // A child's time passed within the call's own.
  const { spent, total } = e.spent ? addToTotals(own, { ...e.spent, ms: 0 }) : own;
  const now: RunState = {
    ...s,
    spent,
    total,
    calls,
    completed: s.completed || e.endsRun === true,
    loaded: e.loadsTools?.length ? [...new Set([...s.loaded, ...e.loadsTools])] : s.loaded,
    queue: e.notes?.reduce(enqueueNote, s.queue) ?? s.queue,
    files: recordTouchedFile(s.files, call, e),
  };
  return calls.every((each) => each.result) ? finishCallBatch(now) : now;
}

/** All calls of an answer are settled: their results become one message, in call order. Completes a state that nobody has seen yet. */
function finishCallBatch(s: { -readonly [key in keyof RunState]: RunState[key] }): RunState {
  const results = s.calls.map((call) => call.result as ToolResultPart);
  const round = callBatchHash(s.calls);
  // As many rounds as the longest cycle that counts as stuck takes, less this one.
  const kept = Math.min(Math.max(0, 3 * (s.limits?.stuckAfter ?? 0) - 1), 999);
  const failed = results.every((result) => result.failed);
  s.calls = [];
  s.due = true;
  s.failures = failed ? s.failures + 1 : 0;
  s.rounds = [...(kept ? s.rounds.slice(-kept) : []), round];
  s.messages = appendItem(s.messages, { role: 'tool', parts: results });
  s.context += partTokens(results);
  return s;
}

/** What tells a round of calls with their results from another. */
function callBatchHash(calls: readonly ToolCall[]): number {
  const digest = createHash53();
  for (const [i, { tool, input, result }] of calls.entries()) {
    updateHash53(digest, `${i ? '\n' : ''}${tool} ${canonicalJson(input)} `);
    hashSample(digest, result ? textOrCharCodes(result) : '');
  }
  return hash53Value(digest);
}

/** Enough of a text to notice a change in it, at a cost that does not grow with it: its length, its ends and a letter here and there. */
function hashSample(digest: Hash53State, text: string | Uint8Array): void {
  if (text.length <= 512) return void updateHash53(digest, text);
  updateHash53(digest, `${text.length} `);
  updateHash53(digest, text, 0, 128);
  for (let i = 1; i < 32; i++) {
    const at = Math.floor((text.length * i) / 32);
    updateHash53(digest, text, at, at + 1);
  }
  updateHash53(digest, text, text.length - 128);
}

/** Calls that will never settle get a result that says so, so that the history stays legal. */
export function settleOpenCalls(s: RunState, why: string): RunState {
  if (s.calls.length === 0) return s;
  const calls = s.calls.map((call): ToolCall =>
    call.result
      ? call
      : { ...call, result: { type: 'tool-result', id: call.id, tool: call.tool, text: why, failed: true } },
  );
  return finishCallBatch({ ...s, calls });
}

/** A person answered the question of an open call. */
export function resolveApproval(s: RunState, e: Event & { type: 'approval-resolved' }): RunState {
  const call = s.calls.find((each) => each.id === e.call && !each.result);
  if (!call?.ask) return s;
  const { question, kind } = call.ask;
  const isOutcome = kind === 'unknown-outcome';
  const { allowed, happened } = e;
  return patchCall(s, e.call, {
    ask: { question, allowed, ...(kind ? { kind } : {}), ...(happened ? { happened } : {}) },
    ...(allowed && isOutcome ? { again: true } : {}),
    ...(allowed && !isOutcome ? { granted: [...(call.granted ?? []), question] } : {}),
  });
}

/** A call is under way. What was answered about an attempt before it says nothing about this one. */
export function startCall(s: RunState, e: Event & { type: 'tool-started' }): RunState {
  const sent = e.input === undefined ? {} : { sent: e.input };
  const begun = patchCall(s, e.call, { key: e.key, ...sent });
  const before = begun.calls.find((call) => call.id === e.call && !call.result);
  if (!before?.again && before?.ask?.kind !== 'unknown-outcome') return begun;
  return { ...begun, calls: begun.calls.map((call) => (call === before ? withoutOutcomeApproval(call) : call)) };
}

function withoutOutcomeApproval({ again: _, ask, ...call }: ToolCall): ToolCall {
  return ask && ask.kind !== 'unknown-outcome' ? { ...call, ask } : call;
}

/** Adds to what is known of an open call. */
export const patchCall = (s: RunState, id: string, patch: Partial<ToolCall>): RunState => ({
  ...s,
  calls: s.calls.map((call) => (call.id === id && !call.result ? { ...call, ...patch } : call)),
});
