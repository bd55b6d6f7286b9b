// What a run used up, added so that absurd figures from outside cannot poison a budget.
import type { Spent } from './fact.ts';
import type { Usage } from './message.ts';
import type { Price } from './ports.ts';
import type { RunState } from './state.ts';

/** Nothing used yet. */
export const noSpending: Spent = {
  turns: 0,
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  usd: 0,
  unpriced: 0,
  ms: 0,
};

/** Adds what was used; counts that are negative or not finite add nothing. */
export function spend(spent: Spent, used: Partial<Spent>): Spent {
  const plus = (key: keyof Spent): number => {
    const more = used[key];
    return more !== undefined && Number.isFinite(more) && more > 0 ? spent[key] + more : spent[key];
  };
  return {
    turns: plus('turns'),
    calls: plus('calls'),
    input: plus('input'),
    output: plus('output'),
    cacheRead: plus('cacheRead'),
    cacheWrite: plus('cacheWrite'),
    usd: plus('usd'),
    unpriced: plus('unpriced'),
    ms: plus('ms'),
  };
}

/** What an answer cost at a price: cached tokens at their own price where there is one. Unknown counts give an unknown cost. */
export function costOf(price: Price, usage: Usage): number | undefined {
  if (usage.input === undefined || usage.output === undefined) return undefined;
  const read = usage.cacheRead ?? 0;
  const written = usage.cacheWrite ?? 0;
  const plain = Math.max(0, usage.input - read - written);
  const millionths =
    plain * price.input +
    read * (price.cacheRead ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    usage.output * price.output;
  return millionths / 1e6;
}

/** The state with this charged to its run and to its session. */
export const charge = (s: RunState, used: Partial<Spent>): RunState => ({
  ...s,
  spent: spend(s.spent, used),
  total: spend(s.total, used),
});
