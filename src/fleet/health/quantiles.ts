// Percentiles with distribution-free confidence intervals from order statistics.
import type { Interval } from './rates.ts';

/** A quantile of `count` numbers. An end of its interval is null if there are too few numbers to bound it. */
export type Quantile = {
  readonly count: number;
  readonly value: number;
  readonly interval: readonly [low: number | null, high: number | null];
};

/** Returns the p-quantile (0 < p < 1) of ascending numbers with its confidence interval; undefined without numbers. */
export function computeQuantile(ascending: readonly number[], p: number, confidence = 0.95): Quantile | undefined {
  const total = ascending.length;
  if (!(p > 0 && p < 1)) throw new RangeError(`${p} is not between 0 and 1.`);
  if (total === 0) return undefined;
  const [low, high] = findQuantileRanks(total, p, (1 - confidence) / 2);
  return {
    count: total,
    value: ascending[Math.ceil(p * total) - 1] as number,
    interval: [ascending[low - 1] ?? null, ascending[high - 1] ?? null],
  };
}

/** Returns the 1-based ranks that bound a quantile, each with an error probability of at most `tail`; 0 and total + 1 mean no bound. */
function findQuantileRanks(total: number, p: number, tail: number): Interval {
  // The count of numbers below the quantile has a binomial distribution.
  let below = 0;
  let low = 0;
  for (let count = 0; count <= total; count++) {
    below += binomial(total, count, p);
    if (below <= tail) low = count + 1;
    // The tolerance keeps rounding from widening the interval.
    else if (1 - below <= tail + 1e-12) return [low, count + 1];
  }
  return [low, total + 1];
}

/** The binomial probability of `count` in `total`. */
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

/** Returns the 50th, 95th and 99th percentile of numbers in any order; undefined without numbers. */
export function computePercentiles(
  numbers: readonly number[],
): { readonly p50: Quantile; readonly p95: Quantile; readonly p99: Quantile } | undefined {
  const ascending = numbers.toSorted((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => computeQuantile(ascending, p));
  return p50 && p95 && p99 && { p50, p95, p99 };
}
