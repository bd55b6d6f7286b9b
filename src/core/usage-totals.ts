// Usage and cost accounting of runs. Implausible figures from a provider cannot corrupt a budget.
import type { UsageTotals } from './fact.ts';
import { isObject } from './json.ts';
import type { Message, Usage } from './message.ts';
import type { ResolvedAgent, Price } from './ports.ts';
import type { RunState } from './state.ts';
import { estimateTokens, partTokens } from './tokens.ts';
import { isValidCost, isValidUsage } from './validate-usage.ts';

/** Usage of zero for every count. */
export const zeroUsage: UsageTotals = {
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

/** Adds usage; counts that are negative or not finite add nothing. */
export const addUsage = (spent: UsageTotals, used: Partial<UsageTotals>): UsageTotals => ({
  turns: addCount(spent.turns, used.turns),
  calls: addCount(spent.calls, used.calls),
  input: addCount(spent.input, used.input),
  output: addCount(spent.output, used.output),
  cacheRead: addCount(spent.cacheRead, used.cacheRead),
  cacheWrite: addCount(spent.cacheWrite, used.cacheWrite),
  usd: addCount(spent.usd, used.usd),
  turnsWithoutPrice: addCount(spent.turnsWithoutPrice, used.turnsWithoutPrice),
  ms: addCount(spent.ms, used.ms),
});

const addCount = (before: number, more = 0): number =>
  more > 0 && more < Number.POSITIVE_INFINITY ? before + more : before;

/** Returns the numeric fields of usage that user code reported. */
export const parseUsageTotals = (reported: unknown): Partial<UsageTotals> =>
  Object.fromEntries(Object.entries(isObject(reported) ? reported : {}).filter(([, count]) => Number.isFinite(count)));

/** Computes the cost of a response; cached tokens use their own price if there is one. Unknown counts give an unknown cost. */
export function usageCost(price: Price, usage: Usage): number | undefined {
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

type RunAccount = Pick<RunState, 'spent' | 'total'>;

/** Adds usage to the totals of the run and of the session. */
export const addToTotals = ({ spent, total }: RunAccount, used: Partial<UsageTotals>): RunAccount => ({
  spent: addUsage(spent, used),
  total: addUsage(total, used),
});

/** Charges usage to the run and to the session. */
export const chargeRun = (s: RunState, used: Partial<UsageTotals>): RunState => ({ ...s, ...addToTotals(s, used) });

/** The recorded cost of a response. */
export type AnswerCost = { readonly usage: Usage; readonly usd?: number; readonly estimated?: boolean };

/** Returns usage and cost of a response. If the provider sent no plausible counts, they are estimated and marked. */
export function answerCost(
  { provider: { price } }: ResolvedAgent,
  state: RunState,
  reported: { readonly usage: Usage; readonly usd?: number },
  message: Message,
): AnswerCost {
  const usage = isValidUsage(reported.usage) ? reported.usage : {};
  const usd = isValidCost(reported.usd) ? reported.usd : price && usageCost(price, usage);
  if (usd !== undefined) return { usage, usd };
  const estimate =
    price &&
    usageCost(price, {
      ...usage,
      input: usage.input ?? state.context,
      output: usage.output ?? partTokens(message.parts),
    });
  return estimate === undefined ? { usage } : { usage, usd: estimate, estimated: true };
}

/** Returns usage and cost of an interrupted response, which the provider charges for: as the error reports them, or estimated. */
export function partialAnswerCost(
  { provider: { price } }: ResolvedAgent,
  state: RunState,
  partial: string,
  reported: { readonly usage?: Usage | undefined; readonly usd?: number | undefined } = {},
): AnswerCost {
  const usage =
    reported.usage && isValidUsage(reported.usage)
      ? reported.usage
      : { input: state.context, output: estimateTokens(partial) };
  const usd = isValidCost(reported.usd) ? reported.usd : price && usageCost(price, usage);
  return usd === undefined ? { usage } : { usage, usd };
}
