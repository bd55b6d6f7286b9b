// Percentiles of durations with intervals that assume nothing about their distribution: they are order statistics.
import type { Interval } from './rates.ts';

/** A percentile of some numbers. An end of its interval is null where there are too few numbers to bound it. */
export type Quantile = {
  readonly count: number;
  readonly value: number;
  readonly interval: readonly [low: number | null, high: number | null];
};

/** The p-th quantile (0 to 1) of numbers in ascending order, with a distribution-free interval; nothing of nothing. */
export function computeQuantile(ascending: readonly number[], p: number, confidence = 0.95): Quantile | undefined {
  const total = ascending.length;
  if (!(p > 0 && p < 1)) throw new RangeError(`${p} is no quantile.`);
  if (total === 0) return undefined;
  const [low, high] = findQuantileRanks(total, p, (1 - confidence) / 2);
  return {
    count: total,
    value: ascending[Math.ceil(p * total) - 1] as number,
    interval: [ascending[low - 1] ?? null, ascending[high - 1] ?? null],
  };
}

/** The ranks, from 1, of the numbers that bound a quantile, each missing it with at most this chance; 0 and one past the end are none. */
function findQuantileRanks(total: number, p: number, tail: number): Interval {
  // The quantile lies below the number of rank r just where at least r numbers would: a binomial question.
  let below = 0;
  let low = 0;
  for (let count = 0; count <= total; count++) {
    below += binomial(total, count, p);
    if (below <= tail) low = count + 1;
    // Rounding alone must not make an interval wider.
    else if (1 - below <= tail + 1e-12) return [low, count + 1];
  }
  return [low, total + 1];
}

/** The chance of exactly so many out of so many. */
function binomial(total: number, count: number, p: number): number {
  return Math.exp(logChoose(total, count) + count * Math.log(p) + (total - count) * Math.log1p(-p));
}

const logChoose = (total: number, count: number): number =>
  logFactorial(total) - logFactorial(count) - logFactorial(total - count);

const factorials = [0];
function logFactorial(n: number): number {
  for (let i = factorials.length; i <= n; i++) factorials.push((factorials[i - 1] as number) + Math.log(i));
  return factorials[n] as number;
}

/** The 50th, 95th and 99th percentile of some numbers in any order; nothing of nothing. */
export function computePercentiles(
  numbers: readonly number[],
): { readonly p50: Quantile; readonly p95: Quantile; readonly p99: Quantile } | undefined {
  const ascending = numbers.toSorted((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => computeQuantile(ascending, p));
  return p50 && p95 && p99 && { p50, p95, p99 };
}
