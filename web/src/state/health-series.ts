// Converts run statistics to chart series: rates with confidence intervals, percentiles, throughput, cost.
import type { StopReason, RunStats } from '../../../src/core/index.ts';

/** The values of a series; null if nothing was measured, which a chart draws as a gap. */
export type SeriesValues = readonly (number | null)[];

/** The series of the health charts; times are in seconds. */
export type HealthSeries = {
  readonly times: readonly number[];
  readonly ended: SeriesValues;
  readonly queueMs: readonly [SeriesValues, SeriesValues, SeriesValues];
  readonly durationMs: readonly [SeriesValues, SeriesValues, SeriesValues];
  readonly errors: RateSeries;
  readonly abstained: RateSeries;
  readonly usd: SeriesValues;
};

/** A rate over time with its confidence interval. */
export type RateSeries = { readonly rate: SeriesValues; readonly low: SeriesValues; readonly high: SeriesValues };

/** Stop reasons that count as errors; cancelled runs count for no rate. */
const errorStopReasons: readonly StopReason[] = ['truncated', 'error-threshold', 'stuck', 'provider-error'];
const cancelledStopReasons: readonly StopReason[] = ['kill-switch', 'cancelled'];

/** Returns the series of these buckets. */
export function buildHealthSeries(stats: readonly RunStats[]): HealthSeries {
  const at = (read: (bucket: RunStats) => number | null | undefined): SeriesValues =>
    stats.map((bucket) => read(bucket) ?? null);
  return {
    times: stats.map(({ from }) => Date.parse(from) / 1000),
    ended: at(({ ended }) => ended),
    queueMs: [at(({ queueMs }) => queueMs?.[0]), at(({ queueMs }) => queueMs?.[1]), at(({ queueMs }) => queueMs?.[2])],
    durationMs: [
      at(({ durationMs }) => durationMs?.[0]),
      at(({ durationMs }) => durationMs?.[1]),
      at(({ durationMs }) => durationMs?.[2]),
    ],
    errors: buildRateSeries(stats, errorStopReasons),
    abstained: buildRateSeries(stats, ['abstained']),
    // Without an ended run there is no cost to show.
    usd: at(({ ended, usd }) => (ended > 0 ? usd : null)),
  };
}

function buildRateSeries(stats: readonly RunStats[], reasons: readonly StopReason[]): RateSeries {
  const counted = stats.map((bucket) => {
    const sum = (of: readonly StopReason[]): number =>
      of.reduce((all, reason) => all + (bucket.reasons[reason] ?? 0), 0);
    return { good: sum(reasons), total: bucket.ended - sum(cancelledStopReasons) };
  });
  const bounds = counted.map(({ good, total }) => wilsonInterval(good, total));
  return {
    rate: counted.map(({ good, total }) => (total > 0 ? good / total : null)),
    low: bounds.map((each) => each?.[0] ?? null),
    high: bounds.map((each) => each?.[1] ?? null),
  };
}

const z95 = 1.959_963_984_540_054;

/** Returns the 95 % Wilson interval of a rate; undefined if the total is 0. */
export function wilsonInterval(good: number, total: number): readonly [number, number] | undefined {
  if (total <= 0) return undefined;
  const rate = good / total;
  const middle = rate + z95 ** 2 / (2 * total);
  const half = z95 * Math.sqrt((rate * (1 - rate)) / total + z95 ** 2 / (4 * total ** 2));
  const scale = 1 + z95 ** 2 / total;
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}
