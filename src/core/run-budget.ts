// The budget of a run for requests that are no turns, such as those to a reviewer or a reader of quarantined text.
import { FairleadError } from './errors.ts';
import type { UsageTotals } from './fact.ts';
import type { RunState } from './state.ts';

/** Throws if the budget of the run has no room for another request. `own` is what was used and is not recorded yet. */
export function assertRunBudget({ limits, spent }: RunState, own: UsageTotals, hasPrice: boolean): void {
  const isUnpriced = limits?.usd !== undefined && !hasPrice;
  const tokens = spent.input + spent.output + own.input + own.output;
  const isSpent =
    (limits?.tokens !== undefined && tokens >= limits.tokens) ||
    (limits?.usd !== undefined && spent.usd + own.usd >= limits.usd);
  if (!isUnpriced && !isSpent) return;
  throw new FairleadError(
    'run/no-budget',
    isUnpriced
      ? 'The price of the model is not known, and the run has a budget in dollars.'
      : 'The budget of the run is exhausted.',
    { blame: 'user', hint: 'Raise the limits of the run, or choose a model with a known price.' },
  );
}
