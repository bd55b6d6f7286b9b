// Hodges-Lehmann estimate of the shift between two samples, with a distribution-free confidence interval.
import { defaultZScore, type Interval } from './rates.ts';

/** Returns all pairwise differences of two samples, ascending. */
export function pairwiseDifferences(first: readonly number[], second: readonly number[]): readonly number[] {
  return first.flatMap((a) => second.map((b) => a - b)).toSorted((a, b) => a - b);
}

/** Returns the median of sorted numbers. */
export function medianOfSorted(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}

/** Returns the confidence interval of the shift; unbounded if the samples are too small. */
export function hodgesLehmannInterval(
  sorted: readonly number[],
  sizes: readonly [first: number, second: number],
  deviate: number = defaultZScore,
): Interval {
  const [m, n] = sizes;
  const skip = Math.floor((m * n) / 2 - deviate * Math.sqrt((m * n * (m + n + 1)) / 12));
  if (skip < 1) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return [sorted[skip - 1] as number, sorted[m * n - skip] as number];
}
