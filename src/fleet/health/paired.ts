// Paired comparisons: the same cases measured twice. The difference with its interval, and exact tests of whether there is one.
import { defaultZScore, studentQuantile, type Interval } from './statistics.ts';

/** A difference of two rates over the same cases. */
export type PairedDifference = {
  /** The number of cases in both. */
  readonly pairs: number;
  /** The mean of the differences of the cases, from -1 to 1. */
  readonly value: number;
  /** Its 95 % interval; [-1, 1] without cases. */
  readonly interval: Interval;
  /** The probability of a difference at least as large if there is none. */
  readonly pValue: number;
  /** `mcnemar`: one trial of each case; `sign-flip`: several. */
  readonly test: 'mcnemar' | 'sign-flip';
};

/** The rate of a case before and after, from 0 to 1. */
export type RatePair = readonly [before: number, after: number];

/** Compares the rates of the same cases. */
export function comparePairs(pairs: readonly RatePair[]): PairedDifference {
  const differences = toDifferences(pairs);
  const n = differences.length;
  const isSingle = hasOneTrial(pairs);
  return {
    pairs: n,
    value: n === 0 ? 0 : differences.reduce((sum, each) => sum + each, 0) / n,
    interval: pairedInterval(pairs),
    pValue: isSingle
      ? mcnemarPValue(differences.filter((each) => each < 0).length, differences.filter((each) => each > 0).length)
      : signFlipPValue(differences),
    test: isSingle ? 'mcnemar' : 'sign-flip',
  };
}

/** Returns the 95 % interval of the mean difference of pairs. */
export function pairedInterval(pairs: readonly RatePair[]): Interval {
  const differences = toDifferences(pairs);
  return hasOneTrial(pairs) ? singleInterval(differences) : repeatedInterval(differences);
}

function toDifferences(pairs: readonly RatePair[]): readonly number[] {
  if (!pairs.every((pair) => pair.every((rate) => rate >= 0 && rate <= 1)))
    throw new RangeError('A rate of a pair is not between 0 and 1.');
  return pairs.map(([before, after]) => after - before);
}

/** Whether every rate is 0 or 1, as with one trial of each case. */
const hasOneTrial = (pairs: readonly RatePair[]): boolean => pairs.every((pair) => pair.every(Number.isInteger));

/** The two-sided p-value of McNemar's exact test: how likely this split of the changed cases is if both directions are equally likely. */
export function mcnemarPValue(worse: number, better: number): number {
  const changed = worse + better;
  if (changed === 0) return 1;
  const least = Math.min(worse, better);
  // The terms of the binomial distribution with p = 1/2, as logarithms: a half to the power of thousands is 0 as a number.
  let log = -changed * Math.LN2;
  let sum = 0;
  for (let i = 0; i <= least; i++) {
    sum += Math.exp(log);
    log += Math.log(changed - i) - Math.log(i + 1);
  }
  return Math.min(1, 2 * sum);
}

/** The interval of differences that are -1, 0 or 1: Wald's with one case added in each direction (Bonett and Price), which keeps its coverage for few cases. */
const singleInterval = (differences: readonly number[]): Interval =>
  differences.length === 0 ? [-1, 1] : addedInterval(differences, 1);

/** Wald's interval with a case added in each direction that differs by `size`. */
function addedInterval(differences: readonly number[], size: number): Interval {
  const n = differences.length + 2;
  const mean = differences.reduce((sum, each) => sum + each, 0) / n;
  const squares = differences.reduce((sum, each) => sum + each ** 2, 2 * size ** 2);
  const half = defaultZScore * Math.sqrt((squares / n - mean ** 2) / n);
  return [Math.max(-1, mean - half), Math.min(1, mean + half)];
}

/**
 * The interval of the mean difference of cases with several trials: Student's, with the cases as observations, so that trials of one case do not count
 * as independent. If few cases differ, the sample varies less than what it was drawn from: the interval then has what added cases give, too.
 */
function repeatedInterval(differences: readonly number[]): Interval {
  const n = differences.length;
  if (n < 2) return [-1, 1];
  const largest = differences.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
  const added = addedInterval(differences, largest === 0 ? 1 : largest);
  const mean = differences.reduce((sum, each) => sum + each, 0) / n;
  const squares = differences.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const half = studentQuantile(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return [Math.max(-1, Math.min(mean - half, added[0])), Math.min(1, Math.max(mean + half, added[1]))];
}

const maxExactCases = 14;
const randomFlips = 20_000;

/** The two-sided p-value of the sign-flip test: how often a mean at least as large results if the sign of each case is random. Exact for few cases, otherwise with fixed random numbers. */
export function signFlipPValue(differences: readonly number[]): number {
  const changed = differences.filter((each) => each !== 0);
  if (changed.length === 0) return 1;
  const sum = Math.abs(changed.reduce((total, each) => total + each, 0));
  const isExact = changed.length <= maxExactCases;
  const rounds = isExact ? 2 ** changed.length : randomFlips;
  const random = createBits(changed.length);
  let extreme = 0;
  for (let round = 0; round < rounds; round++) {
    let flipped = 0;
    for (const [i, each] of changed.entries()) {
      const isNegative = isExact ? ((round >> i) & 1) === 1 : random() === 1;
      flipped += isNegative ? -each : each;
    }
    // The tolerance keeps rounding from excluding the observed sum itself.
    if (Math.abs(flipped) >= sum - 1e-9) extreme++;
  }
  return isExact ? extreme / rounds : (extreme + 1) / (rounds + 1);
}

/** Random bits with a fixed start, so that the same figures give the same result. */
function createBits(seed: number): () => 0 | 1 {
  let state = (seed * 2_654_435_761 + 1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return (state >>> 16) % 2 === 0 ? 0 : 1;
  };
}
