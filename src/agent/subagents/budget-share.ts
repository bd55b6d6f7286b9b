// What an agent may use up: a share of what is left to its parent, so that all of them together never pass the parent's limits.
import { subagentLimits, type Limits, type RunState } from '../../core/index.ts';

/** The bounds that are used up, not merely kept. */
const spendableLimits = ['turns', 'tokens', 'usd', 'calls'] as const;

/** What is set aside, or was used and is not yet charged. */
export type BudgetShare = Partial<Pick<Limits, (typeof spendableLimits)[number]>>;

/** A part of what is left once others have theirs: all of it for one who is waited for, an equal part where so many may come. A turn stays with the parent, who has to read the report. */
export function computeBudgetShare(
  state: RunState,
  wish: BudgetShare,
  held: readonly BudgetShare[],
  among = 1,
): Partial<Limits> {
  const left = subagentLimits(state);
  const share: Partial<Record<(typeof spendableLimits)[number], number>> = {};
  for (const what of spendableLimits) {
    const most = left[what];
    if (most === undefined) {
      if (wish[what] !== undefined) share[what] = wish[what];
      continue;
    }
    const taken = held.reduce((sum, each) => sum + (each[what] ?? 0), 0);
    const rest = Math.max(0, most - taken - (what === 'turns' ? 1 : 0));
    const part = what === 'usd' ? rest / among : Math.floor(rest / among);
    share[what] = Math.min(part, wish[what] ?? part);
  }
  const { maxRetriesPerAnswer, stuckAfter, outputChars } = state.limits ?? {};
  const bounds = Object.entries({ maxRetriesPerAnswer, stuckAfter, outputChars }).filter(
    ([, bound]) => bound !== undefined,
  );
  return { ...Object.fromEntries(bounds), ...left, ...share };
}

/** What an agent has used, as its parent sets it aside until it is charged. */
export const budgetUsed = ({ spent }: Pick<RunState, 'spent'>): BudgetShare => ({
  turns: spent.turns,
  tokens: spent.input + spent.output,
  usd: spent.usd,
  calls: spent.calls,
});

/** Whether a run and its agents have together used all that the run may. */
export function isOverBudget({ limits, spent, run }: RunState, agents: readonly BudgetShare[]): boolean {
  if (!limits || run === undefined) return false;
  const own = budgetUsed({ spent });
  return spendableLimits.some((what) => {
    const used = agents.reduce((sum, each) => sum + (each[what] ?? 0), own[what] ?? 0);
    return limits[what] !== undefined && used > limits[what];
  });
}
