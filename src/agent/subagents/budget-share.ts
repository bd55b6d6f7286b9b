// The budget of a sub-agent: a share of what its parent has left, so that all together never exceed the parent's limits.
import { subagentLimits, type Limits, type RunState } from '../../core/index.ts';

/** The limits that are consumed by use. */
const spendableLimits = ['turns', 'tokens', 'usd', 'calls'] as const;

/** An amount that is reserved, or that was used and not yet charged. */
export type BudgetShare = Partial<Pick<Limits, (typeof spendableLimits)[number]>>;

/** The limits of a sub-agent: an equal share of what is left after the reserved amounts. One turn stays with the parent, which must read the report. */
export function computeBudgetShare(
  state: RunState,
  requested: BudgetShare,
  reserved: readonly BudgetShare[],
  shares = 1,
): Partial<Limits> {
  const remaining = subagentLimits(state);
  const share: Partial<Record<(typeof spendableLimits)[number], number>> = {};
  for (const name of spendableLimits) {
    const max = remaining[name];
    if (max === undefined) {
      if (requested[name] !== undefined) share[name] = requested[name];
      continue;
    }
    const reservedAmount = reserved.reduce((sum, each) => sum + (each[name] ?? 0), 0);
    const rest = Math.max(0, max - reservedAmount - (name === 'turns' ? 1 : 0));
    const equal = name === 'usd' ? rest / shares : Math.floor(rest / shares);
    share[name] = Math.min(equal, requested[name] ?? equal);
  }
  const { maxRetriesPerAnswer, stuckAfter, outputChars } = state.limits ?? {};
  const inherited = Object.entries({ maxRetriesPerAnswer, stuckAfter, outputChars }).filter(
    ([, limit]) => limit !== undefined,
  );
  return { ...Object.fromEntries(inherited), ...remaining, ...share };
}

/** What a run has used, as an amount of its budget. */
export const budgetUsed = ({ spent }: Pick<RunState, 'spent'>): BudgetShare => ({
  turns: spent.turns,
  tokens: spent.input + spent.output,
  usd: spent.usd,
  calls: spent.calls,
});

/** Whether a run and its sub-agents together have exceeded the limits of the run. */
export function isOverBudget({ limits, spent, run }: RunState, subagents: readonly BudgetShare[]): boolean {
  if (!limits || run === undefined) return false;
  const own = budgetUsed({ spent });
  return spendableLimits.some((name) => {
    const used = subagents.reduce((sum, each) => sum + (each[name] ?? 0), own[name] ?? 0);
    return limits[name] !== undefined && used > limits[name];
  });
}
