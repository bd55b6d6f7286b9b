// Service level objectives: targets, measurements and verdicts.
import { getOutcomeCount, type Outcomes } from './outcomes.ts';
import { computeQuantile, type Quantile, computeRate, type Interval, type Rate } from './statistics.ts';

/** The targets of a fleet. */
export type Objectives = {
  /** The share of runs that end with an answer, of those that were not cancelled. */
  readonly answered: number;
  /** The 95th percentile of the time in the queue, in milliseconds. */
  readonly waitedMs: number;
  /** The 95th percentile of the run time, in milliseconds. */
  readonly tookMs: number;
};

/** The default targets. */
export const defaultObjectives: Objectives = { answered: 0.9, waitedMs: 60_000, tookMs: 600_000 };

/** Whether an objective is met; `not enough data` if the confidence interval includes the target. */
export type ObjectiveVerdict = 'met' | 'missed' | 'not enough data';

/** An objective with its measurement. */
export type Objective = {
  readonly id: keyof Objectives;
  readonly description: string;
  readonly target: number;
  readonly measured: Rate | Quantile | null;
  readonly verdict: ObjectiveVerdict;
  /** The remaining error budget: 1 all of it, 0 none, negative if exceeded; null without a measurement. */
  readonly budgetLeft: number | null;
};

/** Queue times and run times in milliseconds. */
export type Durations = { readonly queueMs: readonly number[]; readonly durationMs: readonly number[] };

/** Evaluates the objectives. */
export function evaluateObjectives(
  outcomes: Outcomes,
  { queueMs, durationMs }: Durations,
  targets: Objectives = defaultObjectives,
): readonly Objective[] {
  return [
    evaluateAnswerRate(outcomes, targets.answered),
    evaluateLatency('waitedMs', '95 of 100 runs start within so many milliseconds', queueMs, targets.waitedMs),
    evaluateLatency(
      'tookMs',
      '95 of 100 runs end within so many milliseconds of their start',
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
    description: 'runs that end with an answer, of those that were not cancelled',
    target,
    measured: total === 0 ? null : measured,
    verdict: total === 0 ? 'not enough data' : compareToTarget(measured.interval, target),
    budgetLeft: computeErrorBudget(total - good, 1 - target, total),
  };
}

const latencyQuantile = 0.95;

function evaluateLatency(
  id: 'waitedMs' | 'tookMs',
  description: string,
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
    description,
    target,
    measured: measured ?? null,
    verdict: high !== null && high <= target ? 'met' : low !== null && low > target ? 'missed' : 'not enough data',
    budgetLeft: computeErrorBudget(slow, 1 - latencyQuantile, durations.length),
  };
}

/** Compares a confidence interval with a target. */
function compareToTarget([low, high]: Interval, target: number): ObjectiveVerdict {
  if (low >= target) return 'met';
  return high < target ? 'missed' : 'not enough data';
}

/** Returns the remaining error budget. */
function computeErrorBudget(failed: number, allowed: number, total: number): number | null {
  if (total === 0) return null;
  if (allowed > 0) return 1 - failed / (allowed * total);
  return failed > 0 ? -failed : 0;
}
