// Reducers for tool calls: each call ends once, and when all calls of a response have ended, their results become one message in call order.
import { hash53Value, updateHash53, createHash53, type Hash53State } from './hash53.ts';
import type { Event, UnknownCall } from './fact.ts';
import { canonicalJson } from './json.ts';
import { copyText, textOrCharCodes } from './lazy-text.ts';
import type { ToolResultPart } from './message.ts';
import { recordTouchedFile } from './touched-files.ts';
import { enqueueNote } from './notes.ts';
import { addToTotals } from './usage-totals.ts';
import type { ToolCall, RunState } from './state.ts';
import { partTokens } from './tokens.ts';
import { appendItem } from './persistent-list.ts';

/** Applies `tool-ended`. A second end of the same call changes nothing. */
export function endCall(s: RunState, e: Event & { type: 'tool-ended' }): RunState {
  const index = s.calls.findIndex((call) => call.id === e.call && !call.result);
  if (index < 0) return s;
  const call = s.calls[index] as ToolCall;
  const result: ToolResultPart = Object.assign(
    copyText(e, { type: 'tool-result' as const, id: call.id, tool: call.tool }),
    {
      failed: e.outcome !== 'ok',
      ...(e.untrusted === true && s.nonce
        ? { nonce: s.nonce, ...(e.spotlight === undefined ? {} : { spotlight: e.spotlight }) }
        : {}),
      ...(e.files?.length ? { files: e.files } : {}),
    },
  );
  const calls = s.calls.with(index, { ...call, result });
  const own = addToTotals(s, { calls: call.key === undefined ? 0 : 1, ms: e.ms - (e.overlappedMs ?? 0) });
  // The time of a sub-agent is already part of the call's own time.
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
    ...(e.outcome === 'unknown' || s.unknownCalls ? { unknownCalls: recordUnknownCall(s.unknownCalls, call, e) } : {}),
  };
  return calls.every((each) => each.result) ? finishCallBatch(now) : now;
}

const maxUnknownCalls = 100;

/** Adds a call with an unknown outcome. The same call with a known result removes it: it ran with an approval. */
function recordUnknownCall(
  known: readonly UnknownCall[] = [],
  { tool, input, sent }: ToolCall,
  { outcome }: Event & { type: 'tool-ended' },
): readonly UnknownCall[] {
  if (outcome !== 'ok' && outcome !== 'unknown') return known;
  const text = canonicalJson(input);
  const others = known.filter((each) => each.tool !== tool || canonicalJson(each.input) !== text);
  if (outcome === 'ok') return others;
  return [...others.slice(1 - maxUnknownCalls), { tool, input, ...(sent === undefined ? {} : { sent }) }];
}

/** All calls of a response have ended: their results become one message. Mutates the given state, which must not be shared yet. */
function finishCallBatch(s: { -readonly [key in keyof RunState]: RunState[key] }): RunState {
  const results = s.calls.map((call) => call.result as ToolResultPart);
  const batchHash = callBatchHash(s.calls);
  // Keeps as many hashes as the longest detectable cycle needs, minus this one.
  const kept = Math.min(Math.max(0, 3 * (s.limits?.stuckAfter ?? 0) - 1), 999);
  const failed = results.every((result) => result.failed);
  s.calls = [];
  s.needsTurn = true;
  s.failures = failed ? s.failures + 1 : 0;
  s.callBatches = [...(kept ? s.callBatches.slice(-kept) : []), batchHash];
  s.messages = appendItem(s.messages, { role: 'tool', parts: results });
  s.context += partTokens(results);
  return s;
}

/** The hash of a batch of calls and their results. */
function callBatchHash(calls: readonly ToolCall[]): number {
  const digest = createHash53();
  for (const [i, { tool, input, result }] of calls.entries()) {
    updateHash53(digest, `${i ? '\n' : ''}${tool} ${canonicalJson(input)} `);
    hashSample(digest, result ? textOrCharCodes(result) : '');
  }
  return hash53Value(digest);
}

/** Hashes a sample of a text at constant cost: its length, its head and tail, and some characters in between. */
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

/** Gives every open call a failed result, so that the history stays valid. */
export function closeOpenCalls(s: RunState, why: string): RunState {
  if (s.calls.length === 0) return s;
  const calls = s.calls.map((call): ToolCall =>
    call.result
      ? call
      : { ...call, result: { type: 'tool-result', id: call.id, tool: call.tool, text: why, failed: true } },
  );
  return finishCallBatch({ ...s, calls });
}

/** Applies `approval-resolved` to an open call. */
export function resolveApproval(s: RunState, e: Event & { type: 'approval-resolved' }): RunState {
  const call = s.calls.find((each) => each.id === e.call && !each.result);
  if (!call?.ask) return s;
  const { question, kind } = call.ask;
  const isOutcome = kind === 'unknown-outcome';
  const { allowed, happened, reason } = e;
  return patchCall(s, e.call, {
    ask: {
      question,
      allowed,
      ...(kind ? { kind } : {}),
      ...(happened ? { happened } : {}),
      ...(reason === undefined ? {} : { reason }),
    },
    ...(allowed && isOutcome ? { again: true } : {}),
    ...(allowed && !isOutcome ? { granted: [...(call.granted ?? []), question] } : {}),
  });
}

/** Applies `tool-started`. An answer about an earlier attempt does not apply to this one. */
export function startCall(s: RunState, e: Event & { type: 'tool-started' }): RunState {
  const sent = e.input === undefined ? {} : { sent: e.input };
  const started = patchCall(s, e.call, { key: e.key, ...sent });
  const openCall = started.calls.find((call) => call.id === e.call && !call.result);
  if (!openCall?.again && openCall?.ask?.kind !== 'unknown-outcome') return started;
  return { ...started, calls: started.calls.map((call) => (call === openCall ? withoutOutcomeApproval(call) : call)) };
}

function withoutOutcomeApproval({ again: _, ask, ...call }: ToolCall): ToolCall {
  return ask && ask.kind !== 'unknown-outcome' ? { ...call, ask } : call;
}

/** Updates fields of an open call. */
export const patchCall = (s: RunState, id: string, patch: Partial<ToolCall>): RunState => ({
  ...s,
  calls: s.calls.map((call) => (call.id === id && !call.result ? { ...call, ...patch } : call)),
});
