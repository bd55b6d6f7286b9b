// Tallies of ended runs as the columns of a chart: rates with their intervals, percentiles, throughput.
import type { StopReason, RunStats } from '../../../src/core/index.ts';

/** A column of numbers; null where nothing was measured, which is drawn as a gap. */
export type SeriesValues = readonly (number | null)[];

/** What a chart draws: times in seconds, and columns beside them. */
export type HealthSeries = {
  readonly times: readonly number[];
  readonly ended: SeriesValues;
  readonly waited: readonly [SeriesValues, SeriesValues, SeriesValues];
  readonly took: readonly [SeriesValues, SeriesValues, SeriesValues];
  readonly errors: RateSeries;
  readonly abstained: RateSeries;
  readonly usd: SeriesValues;
};

/** A rate over time with the ends of its interval. */
export type RateSeries = { readonly rate: SeriesValues; readonly low: SeriesValues; readonly high: SeriesValues };

/** Reasons that mean something broke; what a person called off says nothing about the fleet. */
const errorStopReasons: readonly StopReason[] = ['truncated', 'error-threshold', 'stuck', 'provider-error'];
const cancelledStopReasons: readonly StopReason[] = ['kill-switch', 'cancelled'];

/** The columns of some tallies. */
export function buildHealthSeries(tallies: readonly RunStats[]): HealthSeries {
  const at = (read: (tally: RunStats) => number | null | undefined): SeriesValues =>
    tallies.map((tally) => read(tally) ?? null);
  return {
    times: tallies.map(({ from }) => Date.parse(from) / 1000),
    ended: at(({ ended }) => ended),
    waited: [at(({ queueMs: waited }) => waited?.[0]), at(({ queueMs: waited }) => waited?.[1]), at(({ queueMs: waited }) => waited?.[2])],
    took: [at(({ durationMs: took }) => took?.[0]), at(({ durationMs: took }) => took?.[1]), at(({ durationMs: took }) => took?.[2])],
    errors: buildRateSeries(tallies, errorStopReasons),
    abstained: buildRateSeries(tallies, ['abstained']),
    // Where nothing ended, nothing was measured of what it cost.
    usd: at(({ ended, usd }) => (ended > 0 ? usd : null)),
  };
}

function buildRateSeries(tallies: readonly RunStats[], reasons: readonly StopReason[]): RateSeries {
  const counted = tallies.map((tally) => {
    const sum = (of: readonly StopReason[]): number =>
      of.reduce((all, reason) => all + (tally.reasons[reason] ?? 0), 0);
    return { good: sum(reasons), total: tally.ended - sum(cancelledStopReasons) };
  });
  const bounds = counted.map(({ good, total }) => wilsonInterval(good, total));
  return {
    rate: counted.map(({ good, total }) => (total > 0 ? good / total : null)),
    low: bounds.map((each) => each?.[0] ?? null),
    high: bounds.map((each) => each?.[1] ?? null),
  };
}

const z95 = 1.959_963_984_540_054;

/** The interval of a rate that holds 95 times of 100, right also at none and at all; nothing where nothing was counted. */
export function wilsonInterval(good: number, total: number): readonly [number, number] | undefined {
  if (total <= 0) return undefined;
  const rate = good / total;
  const middle = rate + z95 ** 2 / (2 * total);
  const half = z95 * Math.sqrt((rate * (1 - rate)) / total + z95 ** 2 / (4 * total ** 2));
  const scale = 1 + z95 ** 2 / total;
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}
