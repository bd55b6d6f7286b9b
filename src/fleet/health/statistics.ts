// Statistics with confidence intervals: rates (Wilson, Newcombe), percentiles, the shift between two samples (Hodges-Lehmann), and several tests at once (Holm).

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

/** The CDF of the standard normal distribution. */
export function normalCdf(deviate: number): number {
  // Beyond this the tail is smaller than double precision.
  if (Math.abs(deviate) > 8.3) return deviate > 0 ? 1 : 0;
  let sum = 0;
  let term = deviate;
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term;
    term *= deviate ** 2 / odd;
  }
  return 0.5 + sum * (Math.exp(-(deviate ** 2) / 2) / Math.sqrt(2 * Math.PI));
}

/** The z-score of a two-sided confidence level: 1.96 for 0.95. */
export function zScoreForConfidence(confidence: number): number {
  if (!(confidence >= 0 && confidence < 1)) throw new RangeError(`${confidence} is not a confidence level.`);
  const below = (1 + confidence) / 2;
  let [low, high] = [0, 8.3];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < below) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

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

/** A difference to test: its interval by z-score, and the margin below which it does not matter. */
export type HolmTest = { readonly interval: (deviate: number) => Interval; readonly margin: number };

/** The result of a test: whether the difference exceeds its margin, and the interval at the confidence level of the test. */
export type HolmResult = { readonly differs: boolean; readonly interval: Interval; readonly confidence: number };

/** Runs all tests with a family-wise error rate of at most `alpha`. */
export function holm(tests: readonly HolmTest[], alpha = 0.05): readonly HolmResult[] {
  const order = tests
    .map((test, index) => ({ test, index, pValue: computePValue(test) }))
    .toSorted((a, b) => a.pValue - b.pValue);
  const results: HolmResult[] = [];
  let rejects = true;
  for (const [rank, { test, index, pValue }] of order.entries()) {
    const confidence = 1 - alpha / (tests.length - rank);
    rejects &&= pValue < 1 - confidence;
    results[index] = { differs: rejects, interval: test.interval(zScoreForConfidence(confidence)), confidence };
  }
  return results;
}

/** The p-value: the smallest level at which the interval lies entirely beyond the margin. */
function computePValue({ interval, margin }: HolmTest): number {
  const beyond = (deviate: number): boolean => {
    const [low, high] = interval(deviate);
    return low > margin || high < -margin;
  };
  if (!beyond(0)) return 1;
  let [holds, fails] = [0, 8.3];
  if (beyond(fails)) return 0;
  for (let i = 0; i < 50; i++) {
    const middle = (holds + fails) / 2;
    if (beyond(middle)) holds = middle;
    else fails = middle;
  }
  return 2 * (1 - normalCdf(holds));
}

/** Returns the rate of observations in clusters, such as the trials of cases: the interval is that of as many independent observations as the clusters are worth. */
export function computeClusteredRate(clusters: readonly RateCount[]): Rate {
  const filled = clusters.filter(({ total }) => total > 0);
  const count: RateCount = {
    good: filled.reduce((sum, { good }) => sum + good, 0),
    total: filled.reduce((sum, { total }) => sum + total, 0),
  };
  const rate = computeRate(count);
  const size = effectiveSize(filled, count);
  if (rate.rate === null || size >= count.total) return rate;
  return { ...rate, interval: wilsonInterval({ good: rate.rate * size, total: size }) };
}

/** The number of independent observations with the variance of the clustered rate: at least the number of clusters, at most that of observations. */
function effectiveSize(clusters: readonly RateCount[], { good, total }: RateCount): number {
  const k = clusters.length;
  const rate = good / total;
  const binomialVariance = rate * (1 - rate);
  // Without variation the clusters say nothing about how alike their observations are: each counts once.
  if (k < 2 || binomialVariance === 0) return k;
  const squares = clusters.reduce((sum, each) => sum + (each.good - each.total * rate) ** 2, 0);
  const variance = (k / (k - 1)) * (squares / total ** 2);
  return variance === 0 ? total : Math.min(total, Math.max(k, binomialVariance / variance));
}

/** The quantile of Student's distribution that bounds a two-sided 95 % interval: 2.26 for 9 degrees of freedom. */
export function studentQuantile(degrees: number): number {
  const exact = smallStudentQuantiles[degrees - 1];
  if (exact !== undefined) return exact;
  const z = defaultZScore;
  // The expansion of Cornish and Fisher; from 11 degrees its error is below 0.001.
  return (
    z +
    (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3)
  );
}

const smallStudentQuantiles = [
  12.706_2, 4.302_65, 3.182_45, 2.776_45, 2.570_58, 2.446_91, 2.364_62, 2.306, 2.262_16, 2.228_14,
];
