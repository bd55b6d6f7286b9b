// Statistics of each tool and of each attempted call: counts, failures in a row, retries, and repeated results.
import {
  canonicalJson,
  hash53,
  hash53Value,
  updateHash53,
  createHash53,
  textOrCharCodes,
  type Event,
  type Json,
} from '../../core/index.ts';
import type { OpenCall } from './open-calls.ts';
import { lruGet, lruSet, type LruMap } from './lru-map.ts';

/** Counts of one run or one user turn. They restart with the next. */
export type PeriodCounts = {
  readonly at: number;
  readonly calls: number;
  readonly retries: number;
  readonly ok: number;
};

/** Statistics of a tool. `seen` is the number of calls of any tool when it was last called. */
export type ToolStats = {
  readonly calls: number;
  readonly ok: number;
  readonly failed: number;
  readonly denied: number;
  readonly inARow: number;
  readonly ms: number;
  readonly usd: number;
  readonly seen: number;
  readonly why: string;
  readonly run: PeriodCounts;
  readonly turn: PeriodCounts;
};

/** Statistics of one call: a tool with exactly these arguments. `same` is how often its last result occurred in a row. */
export type CallAttempts = {
  readonly tool: string;
  readonly input: string;
  readonly count: number;
  readonly failed: number;
  readonly result: number;
  readonly same: number;
  readonly turn: number;
  /** The user turn in which it last failed without a success since; 0 if none. */
  readonly failedIn: number;
};

const emptyCounts: PeriodCounts = { at: 0, calls: 0, retries: 0, ok: 0 };

/** A tool that was never called. */
export const emptyToolStats: ToolStats = {
  calls: 0,
  ok: 0,
  failed: 0,
  denied: 0,
  inARow: 0,
  ms: 0,
  usd: 0,
  seen: 0,
  why: '',
  run: emptyCounts,
  turn: emptyCounts,
};

/** A call that was never attempted. */
export const noAttempts: CallAttempts = {
  tool: '',
  input: '',
  count: 0,
  failed: 0,
  result: 0,
  same: 0,
  turn: 0,
  failedIn: 0,
};

/** Returns the identity of a call: the tool and its arguments, independent of key order. */
export const attemptKey = (tool: string, input: Json): string => `${tool} ${hash53(canonicalInput(input))}`;

let latestInput: { readonly input: Json; readonly text: string } = { input: null, text: 'null' };

/** Returns the canonical JSON of arguments, cached because a call starts and then ends with the same ones. */
function canonicalInput(input: Json): string {
  if (latestInput.input !== input) latestInput = { input, text: canonicalJson(input) };
  return latestInput.text;
}

/** A position in the session: run, user turn, provider turn, and calls so far. */
export type SessionPosition = {
  readonly runs: number;
  readonly userTurns: number;
  readonly turn: number;
  readonly made: number;
};

type ToolStatsState = { readonly tools: LruMap<ToolStats>; readonly tries: LruMap<CallAttempts> };

const currentCounts = (counts: PeriodCounts, at: number): PeriodCounts =>
  counts.at === at ? counts : { ...emptyCounts, at };

/** Records the start of a call. It is a retry if exactly this call failed before in this user turn. */
export function recordCallStart(
  { tools, tries }: ToolStatsState,
  { tool, input }: OpenCall,
  position: SessionPosition,
): LruMap<ToolStats> {
  const stats = lruGet(tools, tool) ?? emptyToolStats;
  const retry = lruGet(tries, attemptKey(tool, input))?.failedIn === position.userTurns ? 1 : 0;
  const addCall = (counts: PeriodCounts): PeriodCounts => ({
    ...counts,
    calls: counts.calls + 1,
    retries: counts.retries + retry,
  });
  return lruSet(tools, tool, {
    ...stats,
    calls: stats.calls + 1,
    seen: position.made + 1,
    run: addCall(currentCounts(stats.run, position.runs)),
    turn: addCall(currentCounts(stats.turn, position.userTurns)),
  });
}

const maxReasonChars = 120;

/** The context of an ended call: its position, its identity, and the hash of its result. */
export type EndedCallContext = { readonly position: SessionPosition; readonly key: string; readonly result: number };

/** Records the end of a call. A denied or interrupted call is neither a failure nor a success of its tool. */
export function recordCallEnd(
  state: ToolStatsState,
  call: OpenCall,
  event: Event & { readonly type: 'tool-ended' },
  context: EndedCallContext,
): ToolStatsState {
  const { outcome } = event;
  const { position } = context;
  const stats = lruGet(state.tools, call.tool) ?? emptyToolStats;
  const failed = outcome === 'failed' || outcome === 'unknown';
  const ok = outcome === 'ok';
  const addSuccess = (counts: PeriodCounts): PeriodCounts => ({ ...counts, ok: counts.ok + (ok ? 1 : 0) });
  const tools = lruSet(state.tools, call.tool, {
    ...stats,
    ok: stats.ok + (ok ? 1 : 0),
    failed: stats.failed + (failed ? 1 : 0),
    denied: stats.denied + (outcome === 'denied' ? 1 : 0),
    inARow: ok ? 0 : stats.inARow + (failed ? 1 : 0),
    ms: stats.ms + event.ms,
    usd: stats.usd + (event.spent?.usd ?? 0),
    why: failed ? event.text.slice(0, maxReasonChars) : stats.why,
    run: addSuccess(currentCounts(stats.run, position.runs)),
    turn: addSuccess(currentCounts(stats.turn, position.userTurns)),
  });
  return { tools, tries: recordAttempt(state.tries, call, context, failed ? 'failed' : ok ? 'ok' : 'neither') };
}

function recordAttempt(
  tries: LruMap<CallAttempts>,
  { tool, input }: OpenCall,
  { position, key, result }: EndedCallContext,
  outcome: 'ok' | 'failed' | 'neither',
): LruMap<CallAttempts> {
  const attempts = lruGet(tries, key) ?? { ...noAttempts, tool, input: canonicalInput(input).slice(0, maxReasonChars) };
  return lruSet(tries, key, {
    ...attempts,
    count: attempts.count + 1,
    failed: attempts.failed + (outcome === 'failed' ? 1 : 0),
    result,
    same: attempts.count > 0 && attempts.result === result ? attempts.same + 1 : 1,
    turn: position.turn,
    failedIn: outcome === 'failed' ? position.userTurns : outcome === 'ok' ? 0 : attempts.failedIn,
  });
}

/** Returns a hash of a result: its outcome and text; for a long text its length and ends, at constant cost. */
export function resultHash(event: Event & { readonly type: 'tool-ended' }): number {
  const hash = createHash53();
  const text = textOrCharCodes(event);
  updateHash53(hash, `${event.outcome} `);
  if (text.length <= 600) return hash53Value(updateHash53(hash, text));
  updateHash53(hash, `${text.length} `);
  updateHash53(hash, text, 0, 300);
  return hash53Value(updateHash53(hash, text, text.length - 300));
}
