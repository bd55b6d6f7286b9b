// Holm's step-down method for several tests at once, on confidence intervals instead of p-values.
import { zScoreForConfidence, normalCdf } from './normal.ts';
import type { Interval } from './rates.ts';

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
