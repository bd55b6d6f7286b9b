// What a run used up, added so that absurd figures from outside cannot poison a budget.
import type { Spent } from './fact.ts';
import { isObject } from './json.ts';
import type { Message, Usage } from './message.ts';
import type { AgentParts, Price } from './ports.ts';
import type { RunState } from './state.ts';
import { estimate, tokensIn } from './tokens.ts';
import { isCost, isUsage } from './usage.ts';

/** Nothing used yet. */
export const noSpending: Spent = {
  turns: 0,
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  usd: 0,
  turnsWithoutPrice: 0,
  ms: 0,
};

/** Adds what was used; counts that are negative or not finite add nothing. */
export const spend = (spent: Spent, used: Partial<Spent>): Spent => ({
  turns: sum(spent.turns, used.turns),
  calls: sum(spent.calls, used.calls),
  input: sum(spent.input, used.input),
  output: sum(spent.output, used.output),
  cacheRead: sum(spent.cacheRead, used.cacheRead),
  cacheWrite: sum(spent.cacheWrite, used.cacheWrite),
  usd: sum(spent.usd, used.usd),
  turnsWithoutPrice: sum(spent.turnsWithoutPrice, used.turnsWithoutPrice),
  ms: sum(spent.ms, used.ms),
});

const sum = (before: number, more = 0): number =>
  more > 0 && more < Number.POSITIVE_INFINITY ? before + more : before;

/** What somebody's code says was used up, as far as it is numbers. */
export const spentIn = (said: unknown): Partial<Spent> =>
  Object.fromEntries(Object.entries(isObject(said) ? said : {}).filter(([, count]) => Number.isFinite(count)));

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

type Account = Pick<RunState, 'spent' | 'total'>;

/** What the run and the session have used with this added to both. */
export const charged = ({ spent, total }: Account, used: Partial<Spent>): Account => ({
  spent: spend(spent, used),
  total: spend(total, used),
});

/** The state with this charged to its run and to its session. */
export const charge = (s: RunState, used: Partial<Spent>): RunState => ({ ...s, ...charged(s, used) });

/** What is written down of the cost of an answer. */
export type Bill = { readonly usage: Usage; readonly usd?: number; readonly estimated?: boolean };

/** What an answer used and cost. Where the provider did not say, or said what cannot be true, we estimate and mark it. */
export function bill(
  { provider: { price } }: AgentParts,
  state: RunState,
  said: { readonly usage: Usage; readonly usd?: number },
  message: Message,
): Bill {
  const usage = isUsage(said.usage) ? said.usage : {};
  const usd = isCost(said.usd) ? said.usd : price && costOf(price, usage);
  if (usd !== undefined) return { usage, usd };
  const guess =
    price &&
    costOf(price, {
      ...usage,
      input: usage.input ?? state.context,
      output: usage.output ?? tokensIn(message.parts),
    });
  return guess === undefined ? { usage } : { usage, usd: guess, estimated: true };
}

/** What an answer that broke off is likely to have used and cost: it was read and begun, so somebody pays for it. */
export function billCut({ provider: { price } }: AgentParts, state: RunState, partial: string): Bill {
  const usage = { input: state.context, output: estimate(partial) };
  const usd = price && costOf(price, usage);
  return usd === undefined ? { usage } : { usage, usd };
}
