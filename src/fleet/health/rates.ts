// Rates with Wilson score intervals, and Newcombe intervals of the difference of two rates.
import { zScoreForConfidence } from './normal.ts';

/** A closed interval. */
export type Interval = readonly [low: number, high: number];

/** A count of successes in a total. */
export type RateCount = { readonly good: number; readonly total: number };

/** The z-score of 95 % confidence. */
export const defaultZScore: number = zScoreForConfidence(0.95);

/** Returns the Wilson interval of a rate; [0, 1] if the total is 0. */
export function wilsonInterval({ good, total }: RateCount, deviate: number = defaultZScore): Interval {
  if (!(good >= 0 && total >= good)) throw new RangeError(`${good} of ${total} is not a rate.`);
  if (total === 0) return [0, 1];
  const rate = good / total;
  const square = deviate ** 2;
  const middle = rate + square / (2 * total);
  const half = deviate * Math.sqrt((rate * (1 - rate)) / total + square / (4 * total ** 2));
  const scale = 1 + square / total;
  // Rounding must not move the ends away from exactly 0 and 1.
  return [
    good === 0 ? 0 : Math.max(0, (middle - half) / scale),
    good === total ? 1 : Math.min(1, (middle + half) / scale),
  ];
}

/** Returns the Newcombe interval of the first rate minus the second. */
export function newcombeInterval(first: RateCount, second: RateCount, deviate: number = defaultZScore): Interval {
  const [low1, high1] = wilsonInterval(first, deviate);
  const [low2, high2] = wilsonInterval(second, deviate);
  if (first.total === 0 || second.total === 0) return [-1, 1];
  const [rate1, rate2] = [first.good / first.total, second.good / second.total];
  const difference = rate1 - rate2;
  return [difference - Math.hypot(rate1 - low1, high2 - rate2), difference + Math.hypot(high1 - rate1, rate2 - low2)];
}

/** A rate with its counts and its interval; `rate` is null if the total is 0. */
export type Rate = RateCount & { readonly rate: number | null; readonly interval: Interval };

/** Returns the rate of a count. */
export const computeRate = (count: RateCount): Rate => ({
  good: count.good,
  total: count.total,
  rate: count.total === 0 ? null : count.good / count.total,
  interval: wilsonInterval(count),
});
