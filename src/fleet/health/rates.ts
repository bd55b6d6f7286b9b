// Intervals of a rate and of the difference of two rates, by the score method: right also at nothing of ten and ten of ten.
import { zScoreForConfidence } from './normal.ts';

/** From and to, both included. */
export type Interval = readonly [low: number, high: number];

/** So many out of so many. */
export type RateCount = { readonly good: number; readonly total: number };

/** The usual deviate: 95 of 100 such intervals hold what they are about. */
export const defaultZScore: number = zScoreForConfidence(0.95);

/** The Wilson interval of a rate; everything from 0 to 1 where nothing was counted. */
export function wilsonInterval({ good, total }: RateCount, deviate: number = defaultZScore): Interval {
  if (!(good >= 0 && total >= good)) throw new RangeError(`${good} of ${total} is no rate.`);
  if (total === 0) return [0, 1];
  const rate = good / total;
  const square = deviate ** 2;
  const middle = rate + square / (2 * total);
  const half = deviate * Math.sqrt((rate * (1 - rate)) / total + square / (4 * total ** 2));
  const scale = 1 + square / total;
  // At the ends the arithmetic leaves a crumb where the method says nothing and everything.
  return [
    good === 0 ? 0 : Math.max(0, (middle - half) / scale),
    good === total ? 1 : Math.min(1, (middle + half) / scale),
  ];
}

/** The Newcombe interval of the first rate less the second. */
export function newcombeInterval(first: RateCount, second: RateCount, deviate: number = defaultZScore): Interval {
  const [low1, high1] = wilsonInterval(first, deviate);
  const [low2, high2] = wilsonInterval(second, deviate);
  if (first.total === 0 || second.total === 0) return [-1, 1];
  const [rate1, rate2] = [first.good / first.total, second.good / second.total];
  const difference = rate1 - rate2;
  return [difference - Math.hypot(rate1 - low1, high2 - rate2), difference + Math.hypot(high1 - rate1, rate2 - low2)];
}

/** A rate as it is reported: counts, the rate itself where there is one, and its interval. */
export type Rate = RateCount & { readonly rate: number | null; readonly interval: Interval };

/** The rate of a count. */
export const computeRate = (count: RateCount): Rate => ({
  good: count.good,
  total: count.total,
  rate: count.total === 0 ? null : count.good / count.total,
  interval: wilsonInterval(count),
});
