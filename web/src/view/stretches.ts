// Tallies of ended runs as the columns of a chart: rates with their intervals, percentiles, throughput.
import type { StopReason, RunStats } from '../../../src/core/index.ts';

/** A column of numbers; null where nothing was measured, which is drawn as a gap. */
export type Column = readonly (number | null)[];

/** What a chart draws: times in seconds, and columns beside them. */
export type Stretches = {
  readonly times: readonly number[];
  readonly ended: Column;
  readonly waited: readonly [Column, Column, Column];
  readonly took: readonly [Column, Column, Column];
  readonly errors: RateColumns;
  readonly abstained: RateColumns;
  readonly usd: Column;
};

/** A rate over time with the ends of its interval. */
export type RateColumns = { readonly rate: Column; readonly low: Column; readonly high: Column };

/** Reasons that mean something broke; what a person called off says nothing about the fleet. */
const broke: readonly StopReason[] = ['truncated', 'error-threshold', 'stuck', 'provider-error'];
const calledOff: readonly StopReason[] = ['kill-switch', 'cancelled'];

/** The columns of some tallies. */
export function stretchesOf(tallies: readonly RunStats[]): Stretches {
  const at = (read: (tally: RunStats) => number | null | undefined): Column =>
    tallies.map((tally) => read(tally) ?? null);
  return {
    times: tallies.map(({ from }) => Date.parse(from) / 1000),
    ended: at(({ ended }) => ended),
    waited: [at(({ waited }) => waited?.[0]), at(({ waited }) => waited?.[1]), at(({ waited }) => waited?.[2])],
    took: [at(({ took }) => took?.[0]), at(({ took }) => took?.[1]), at(({ took }) => took?.[2])],
    errors: ratesOf(tallies, broke),
    abstained: ratesOf(tallies, ['abstained']),
    // Where nothing ended, nothing was measured of what it cost.
    usd: at(({ ended, usd }) => (ended > 0 ? usd : null)),
  };
}

function ratesOf(tallies: readonly RunStats[], reasons: readonly StopReason[]): RateColumns {
  const counted = tallies.map((tally) => {
    const sum = (of: readonly StopReason[]): number =>
      of.reduce((all, reason) => all + (tally.reasons[reason] ?? 0), 0);
    return { good: sum(reasons), total: tally.ended - sum(calledOff) };
  });
  const bounds = counted.map(({ good, total }) => wilson(good, total));
  return {
    rate: counted.map(({ good, total }) => (total > 0 ? good / total : null)),
    low: bounds.map((each) => each?.[0] ?? null),
    high: bounds.map((each) => each?.[1] ?? null),
  };
}

const deviate = 1.959_963_984_540_054;

/** The interval of a rate that holds 95 times of 100, right also at none and at all; nothing where nothing was counted. */
export function wilson(good: number, total: number): readonly [number, number] | undefined {
  if (total <= 0) return undefined;
  const rate = good / total;
  const middle = rate + deviate ** 2 / (2 * total);
  const half = deviate * Math.sqrt((rate * (1 - rate)) / total + deviate ** 2 / (4 * total ** 2));
  const scale = 1 + deviate ** 2 / total;
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}
