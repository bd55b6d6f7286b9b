// Service objectives: what the fleet is held to, what was measured, and whether that is enough to say that it is met.
import { getOutcomeCount, type Outcomes } from './outcomes.ts';
import { computeQuantile, type Quantile } from './quantiles.ts';
import { computeRate, type Interval, type Rate } from './rates.ts';

/** What a fleet is held to. */
export type Objectives = {
  /** The share of runs that end with an answer, of those that were not called off. */
  readonly answered: number;
  /** Milliseconds that 95 of 100 runs wait at most before they are begun. */
  readonly waitedMs: number;
  /** Milliseconds that 95 of 100 runs take at most from begun to ended. */
  readonly tookMs: number;
};

/** What a fleet is held to where nobody says otherwise. */
export const defaultObjectives: Objectives = { answered: 0.9, waitedMs: 60_000, tookMs: 600_000 };

/** Whether an objective is met. What the interval leaves open is not decided: there are too few runs to tell. */
export type ObjectiveVerdict = 'met' | 'missed' | 'not enough data';

/** An objective, and how the runs of its window stand to it. */
export type Objective = {
  readonly id: keyof Objectives;
  readonly description: string;
  readonly target: number;
  readonly measured: Rate | Quantile | null;
  readonly verdict: ObjectiveVerdict;
  /** The part of the allowed failures that is left: 1 all of it, 0 none, below 0 overdrawn; null where nothing was measured. */
  readonly budgetLeft: number | null;
};

/** How long the runs of a window waited and took, in milliseconds. */
export type Durations = { readonly queueMs: readonly number[]; readonly durationMs: readonly number[] };

/** The objectives against what was measured. */
export function evaluateObjectives(
  outcomes: Outcomes,
  { queueMs, durationMs }: Durations,
  targets: Objectives = defaultObjectives,
): readonly Objective[] {
  return [
    evaluateAnswerRate(outcomes, targets.answered),
    evaluateLatency('waitedMs', '95 of 100 runs are begun within so many milliseconds', queueMs, targets.waitedMs),
    evaluateLatency(
      'tookMs',
      '95 of 100 runs end within so many milliseconds of being begun',
      durationMs,
      targets.tookMs,
    ),
  ];
}

function evaluateAnswerRate(outcomes: Outcomes, target: number): Objective {
  const measured = computeRate(getOutcomeCount(outcomes, 'answered'));
  const { good, total } = measured;
  return {
    id: 'answered',
    description: 'runs that end with an answer, of those that were not called off',
    target,
    measured: total === 0 ? null : measured,
    verdict: total === 0 ? 'not enough data' : compareToTarget(measured.interval, target),
    budgetLeft: computeErrorBudget(total - good, 1 - target, total),
  };
}

const latencyQuantile = 0.95;

function evaluateLatency(
  id: 'waitedMs' | 'tookMs',
  what: string,
  durations: readonly number[],
  target: number,
): Objective {
  const measured = computeQuantile(
    durations.toSorted((a, b) => a - b),
    latencyQuantile,
  );
  const [low, high] = measured?.interval ?? [null, null];
  const slow = durations.filter((ms) => ms > target).length;
  return {
    id,
    description: what,
    target,
    measured: measured ?? null,
    verdict: high !== null && high <= target ? 'met' : low !== null && low > target ? 'missed' : 'not enough data',
    budgetLeft: computeErrorBudget(slow, 1 - latencyQuantile, durations.length),
  };
}

/** Whether a rate reaches a target for certain, misses it for certain, or neither. */
function compareToTarget([low, high]: Interval, target: number): ObjectiveVerdict {
  if (low >= target) return 'met';
  return high < target ? 'missed' : 'not enough data';
}

/** What is left of the failures that were allowed among so many. */
function computeErrorBudget(failed: number, allowed: number, total: number): number | null {
  if (total === 0) return null;
  if (allowed > 0) return 1 - failed / (allowed * total);
  return failed > 0 ? -failed : 0;
}
