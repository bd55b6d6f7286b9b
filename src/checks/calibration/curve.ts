// The risk-coverage curve of labelled outcomes with exact intervals, the area under it, and how well a confidence separates right from wrong answers (AUROC).
import { binomialInterval } from '../binomial.ts';
import { acceptedAtEachThreshold, type AcceptedOutcomes, type Outcome } from './outcomes.ts';

/** The outcomes at and above one threshold: their share of all, and their error rate with its exact 95 % interval. */
export type CurvePoint = {
  readonly threshold: number;
  readonly coverage: number;
  readonly count: number;
  readonly errors: number;
  readonly errorRate: number;
  readonly interval: readonly [low: number, high: number];
};

/** A risk-coverage curve from the highest threshold to full coverage. */
export type RiskCoverage = {
  readonly points: readonly CurvePoint[];
  /** The area under the curve: the mean error rate over all coverages, lower is better; absent without outcomes. */
  readonly area?: number;
};

/** Max points of a curve. */
export const maxCurvePoints = 100;

/** Computes the risk-coverage curve of outcomes; a curve with more thresholds than the limit is thinned evenly. */
export function computeRiskCoverage(outcomes: readonly Outcome[], limit: number = maxCurvePoints): RiskCoverage {
  const thresholds = acceptedAtEachThreshold(outcomes);
  const total = thresholds.at(-1)?.count ?? 0;
  if (total === 0) return { points: [] };
  const points = thinByCoverage(thresholds, total, limit).map(({ threshold, count, errors }) => ({
    threshold,
    coverage: count / total,
    count,
    errors,
    errorRate: errors / count,
    interval: binomialInterval(errors, count),
  }));
  return { points, area: computeArea(thresholds, total) };
}

/** Keeps the first threshold at or above each of `limit` evenly spaced coverages; the last is always kept. */
function thinByCoverage(
  thresholds: readonly AcceptedOutcomes[],
  total: number,
  limit: number,
): readonly AcceptedOutcomes[] {
  if (thresholds.length <= limit) return thresholds;
  let next = 1;
  return thresholds.filter(({ count }) => {
    if ((count / total) * limit < next) return false;
    next = Math.floor((count / total) * limit) + 1;
    return true;
  });
}

/** The mean of the error rate over the coverages 1/n to 1; within equal confidences errors are spread evenly. */
function computeArea(thresholds: readonly AcceptedOutcomes[], total: number): number {
  let sum = 0;
  let before = { count: 0, errors: 0 };
  for (const each of thresholds) {
    const share = (each.errors - before.errors) / (each.count - before.count);
    for (let count = before.count + 1; count <= each.count; count++)
      sum += (before.errors + share * (count - before.count)) / count;
    before = each;
  }
  return sum / total;
}

/** The AUROC of a confidence for wrong answers, with its bootstrap 95 % interval. */
export type Auroc = {
  readonly value: number;
  readonly interval: readonly [low: number, high: number];
  readonly right: number;
  readonly wrong: number;
};

/** Returns the probability that a right answer has a higher confidence than a wrong one, ties counted half; undefined if all are right or all are wrong. */
export function computeAuroc(
  outcomes: readonly Outcome[],
  options: { readonly resamplings?: number; readonly seed?: number } = {},
): Auroc | undefined {
  const value = aurocOf(outcomes);
  if (value === undefined) return undefined;
  const random = createRandom(options.seed ?? 1);
  const values: number[] = [];
  for (let i = 0; i < (options.resamplings ?? 2_000); i++) {
    const drawn = aurocOf(resample(outcomes, random));
    if (drawn !== undefined) values.push(drawn);
  }
  values.sort((a, b) => a - b);
  const at = (share: number): number => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? value;
  const right = outcomes.filter(({ correct }) => correct).length;
  return { value, interval: [at(0.025), at(0.975)], right, wrong: outcomes.length - right };
}

function aurocOf(outcomes: readonly Outcome[]): number | undefined {
  const thresholds = acceptedAtEachThreshold(outcomes);
  const all = thresholds.at(-1);
  const [wrong, right] = [all?.errors ?? 0, (all?.count ?? 0) - (all?.errors ?? 0)];
  if (wrong === 0 || right === 0) return undefined;
  let pairs = 0;
  let before = { count: 0, errors: 0 };
  for (const each of thresholds) {
    const newErrors = each.errors - before.errors;
    const newRight = each.count - before.count - newErrors;
    // Wrong answers below each right one, and half of those beside it.
    pairs += newRight * (wrong - each.errors + newErrors / 2);
    before = each;
  }
  return pairs / (wrong * right);
}

/** Draws as many outcomes as there are, with replacement. */
export function resample<T>(items: readonly T[], random: () => number): readonly T[] {
  return items.map((item) => items[Math.floor(random() * items.length)] ?? item);
}

/** Creates random numbers from 0 to below 1 that depend only on the seed. */
export function createRandom(seed: number): () => number {
  let state = Math.trunc(seed);
  return () => {
    state = (state + 0x9e3779b9) % 4_294_967_296;
    let mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
