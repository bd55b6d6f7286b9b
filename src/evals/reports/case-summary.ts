// The figures of one case over its trials: how many are right, the time and the cost.
import { computePercentiles, type RateCount } from '../../fleet/health/index.ts';
import type { EvalCaseResult } from '../results.ts';

/** The figures of a case. */
export type CaseSummary = {
  readonly right: RateCount;
  /** Milliseconds of a trial: the median and the 95th percentile; 0 if none was measured. */
  readonly p50: number;
  readonly p95: number;
  /** The cost of all trials, with judges; undefined if the price of one is unknown. */
  readonly usd: number | undefined;
  readonly tokens: number;
};

/** Returns the figures of a case. */
export function summarizeCase({ trials }: EvalCaseResult): CaseSummary {
  const measured = trials.filter(({ responded }) => responded);
  const times = computePercentiles(measured.map(({ durationMs }) => durationMs));
  const isPriced = measured.every(({ costUsd }) => costUsd !== undefined);
  return {
    right: { good: measured.filter(({ right }) => right).length, total: measured.length },
    p50: times?.p50.value ?? 0,
    p95: times?.p95.value ?? 0,
    usd: isPriced ? measured.reduce((sum, { costUsd = 0, judgeUsd = 0 }) => sum + costUsd + judgeUsd, 0) : undefined,
    tokens: measured.reduce((sum, { usage }) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0), 0),
  };
}
