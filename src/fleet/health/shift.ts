// By how much one sample stands above another, without assuming a distribution: Hodges and Lehmann's estimate and its interval.
import { defaultZScore, type Interval } from './rates.ts';

/** The differences of each of the first to each of the second, ascending. */
export function pairwiseDifferences(first: readonly number[], second: readonly number[]): readonly number[] {
  return first.flatMap((a) => second.map((b) => a - b)).toSorted((a, b) => a - b);
}

/** The middle of the differences. */
export function medianOfSorted(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}

/** The interval of the shift between samples of these sizes, out of their differences; without end where they are too few. */
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
