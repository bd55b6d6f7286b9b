// The budget of a pattern: calls, tokens, dollars and time, reserved before a call and settled after it.
import { raceAbort } from '../../core/index.ts';
import { badOptionError } from './errors.ts';

/** What a pattern may use in all its calls together. Every number is finite and above 0. */
export type PatternBudget = {
  /** Requests to models. A turn of an agent is one. */
  readonly calls: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** US dollars. Once the price of a call is not known, no further call is made. */
  readonly usd?: number;
  /** Milliseconds. Calls under way are aborted. */
  readonly ms?: number;
};

/** What a pattern used. */
export type PatternSpent = {
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
  /** Calls whose price is not known; their cost is not part of `usd`. */
  readonly callsWithoutPrice: number;
  readonly ms: number;
};

/** What one call used. `usd` is undefined if the price is not known. */
export type CallCost = { readonly calls: number; readonly tokens: number; readonly usd: number | undefined };

/** What a call needs before it may start. */
type CallNeed = {
  /** The model calls that it may make: 0 for code, 1 for a model; for an agent the most turns it may have. */
  readonly calls: number;
  /** The fewest calls with which it makes sense to start. */
  readonly minCalls: number;
  /** The tokens that it needs at least. */
  readonly tokens: number;
  /** The number of calls that run beside it and share what is left; 1 if it is alone. */
  readonly shares: number;
  /** Calls that stay free for a later step. */
  readonly keep: number;
};

/** What a call may use at most, until it is settled. */
export type Reservation = {
  readonly calls: number;
  readonly tokens?: number;
  readonly usd?: number;
  settle(cost: CallCost): void;
};

/** Counts and limits the calls of one pattern. */
type PatternMeter = {
  /** Aborts with the signal of the caller, and when the time is over. */
  readonly signal: AbortSignal;
  /** Reserves, waiting for calls under way if what is left does not suffice; a text says why the call may not start. */
  reserve(need: CallNeed): Promise<Reservation | string>;
  spent(): PatternSpent;
  /** Whether the time of the budget is over. */
  isTimeOver(): boolean;
  /** Calls that are neither used nor reserved. */
  freeCalls(): number;
  close(): void;
};

/** The tokens that an answer is expected to have at least. */
const expectedAnswerTokens = 300;
const maxTimerMs = 2 ** 31 - 1;
/** Sums of dollars are not exact. */
const roundingUsd = 1e-9;

/** Throws unless every number of a budget is finite and above 0. */
function assertBudget(budget: PatternBudget): void {
  const given: Partial<Record<string, unknown>> = { ...(budget as PatternBudget | undefined) };
  if (given['calls'] === undefined)
    throw badOptionError('A pattern needs a budget with a number of calls.', 'budget: { calls: 20 }');
  for (const name of ['calls', 'tokens', 'usd', 'ms']) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0)
      throw badOptionError(`budget.${name} must be a finite number above 0, not ${String(value)}.`);
  }
  if (!Number.isInteger(given['calls']))
    throw badOptionError(`budget.calls must be a whole number, not ${String(given['calls'])}.`);
}

type Open = { readonly calls: number; readonly tokens: number; readonly usd: number };

/** Starts to count. `close` ends the timer. */
export function createPatternMeter(budget: PatternBudget, signal: AbortSignal): PatternMeter {
  assertBudget(budget);
  const start = performance.now();
  const spent = { calls: 0, tokens: 0, usd: 0, callsWithoutPrice: 0 };
  const largest = { tokens: expectedAnswerTokens, usd: 0 };
  const open = new Set<Open>();
  const time = new AbortController();
  let wake = Promise.withResolvers<void>();
  const timer = budget.ms === undefined ? undefined : setTimeout(() => time.abort(), Math.min(budget.ms, maxTimerMs));
  const all = AbortSignal.any([signal, time.signal]);
  const sumOpen = (name: keyof Open): number => [...open].reduce((sum, each) => sum + each[name], 0);
  const freeCalls = (): number => budget.calls - spent.calls - sumOpen('calls');

  /** Returns what a call may use, or why it does not fit at present. */
  const fit = (need: CallNeed): (Open & { readonly isLimited: boolean }) | string => {
    const free = freeCalls() - need.keep;
    const calls = Math.min(need.calls, Math.max(need.minCalls, Math.floor(free / need.shares)));
    if (calls > free && need.minCalls > 0) return `the budget of ${budget.calls} calls is used up.`;
    let tokens = need.tokens + (need.minCalls === 0 ? 0 : largest.tokens);
    if (budget.tokens !== undefined && need.minCalls > 0) {
      const left = budget.tokens - spent.tokens - sumOpen('tokens');
      if (tokens > left) return `the budget of ${budget.tokens} tokens does not suffice for the next call.`;
      if (need.calls > 1) tokens = Math.max(tokens, Math.floor(left / need.shares));
    }
    let { usd } = largest;
    if (budget.usd !== undefined && need.minCalls > 0) {
      if (spent.callsWithoutPrice > 0) return 'the price of a call is not known, so that dollars cannot be limited.';
      const left = budget.usd - spent.usd - sumOpen('usd');
      if (left <= roundingUsd || usd > left + roundingUsd) return `the budget of $${budget.usd} is used up.`;
      // Before the price of a first call is known, calls are made one after the other.
      if (need.calls > 1) usd = Math.max(usd, left / need.shares);
      else if (largest.usd === 0 && spent.calls === 0) usd = left;
    }
    return { calls: need.minCalls === 0 ? 0 : calls, tokens, usd, isLimited: need.calls > 1 };
  };

  const settle = (reserved: Open, cost: CallCost): void => {
    if (!open.delete(reserved)) return;
    spent.calls += cost.calls;
    spent.tokens += cost.tokens;
    spent.usd += cost.usd ?? 0;
    if (cost.usd === undefined) spent.callsWithoutPrice += 1;
    if (cost.calls === 1) {
      largest.tokens = Math.max(largest.tokens, cost.tokens);
      largest.usd = Math.max(largest.usd, cost.usd ?? 0);
    }
    wake.resolve();
    wake = Promise.withResolvers();
  };

  return {
    signal: all,
    async reserve(need) {
      for (;;) {
        all.throwIfAborted();
        const fitting = fit(need);
        if (typeof fitting === 'string') {
          if (open.size === 0) return fitting;
          const { promise } = wake;
          await raceAbort(all, () => promise);
          continue;
        }
        const { isLimited, ...reserved } = fitting;
        open.add(reserved);
        return {
          calls: reserved.calls,
          ...(isLimited && budget.tokens !== undefined ? { tokens: reserved.tokens } : {}),
          ...(isLimited && budget.usd !== undefined ? { usd: reserved.usd } : {}),
          settle: (cost) => settle(reserved, cost),
        };
      }
    },
    spent: () => ({ ...spent, ms: Math.round(performance.now() - start) }),
    isTimeOver: () => time.signal.aborted,
    freeCalls,
    close: () => clearTimeout(timer),
  };
}
