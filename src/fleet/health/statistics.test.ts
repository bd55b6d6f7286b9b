// Tests of the statistics (Wilson intervals, differences, percentiles, Holm correction) against published values and properties.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  holm,
  zScoreForConfidence,
  normalCdf,
  computePercentiles,
  computeQuantile,
  newcombeInterval,
  computeRate,
  wilsonInterval,
  type RateCount,
  type Interval,
  pairwiseDifferences,
  hodgesLehmannInterval,
  medianOfSorted,
} from './statistics.ts';

const assertIntervalNear = (found: Interval, wanted: Interval, within = 0.00006): void => {
  for (const i of [0, 1] as const)
    assert.ok(Math.abs(found[i] - wanted[i]) <= within, `${found.join(', ')} is not ${wanted.join(', ')}`);
};
const createCount = (good: number, total: number): RateCount => ({ good, total });
const counts = fc.nat({ max: 500 }).chain((total) => fc.nat({ max: total }).map((good) => createCount(good, total)));

/** A seeded random number generator. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return (state + 0.5) / 4_294_967_296;
  };
}

test('[A65] quantiles of the normal distribution match published tables', () => {
  for (const [deviate, below] of [
    [0, 0.5],
    [1, 0.841344746],
    [1.959963985, 0.975],
    [-2.575829304, 0.005],
    [5, 0.999999713],
  ] as const)
    assert.ok(Math.abs(normalCdf(deviate) - below) < 1e-9, `${deviate}: ${normalCdf(deviate)}`);
  assert.ok(Math.abs(zScoreForConfidence(0.95) - 1.959963985) < 1e-8);
  assert.ok(Math.abs(zScoreForConfidence(0.99) - 2.575829304) < 1e-8);
  assert.throws(() => zScoreForConfidence(1), RangeError);
});

test('[A65, A96] the Wilson interval matches the values of Newcombe (1998)', () => {
  assertIntervalNear(wilsonInterval(createCount(81, 263)), [0.2553, 0.3662]);
  assertIntervalNear(wilsonInterval(createCount(15, 148)), [0.0624, 0.1605]);
  assertIntervalNear(wilsonInterval(createCount(0, 20)), [0, 0.1611]);
  assertIntervalNear(wilsonInterval(createCount(1, 29)), [0.0061, 0.1718]);
  assert.deepEqual(wilsonInterval(createCount(0, 0)), [0, 1]);
  assert.throws(() => wilsonInterval(createCount(3, 2)), RangeError);
});

test('[A65] the interval of a difference matches the values of Newcombe (1998)', () => {
  assertIntervalNear(newcombeInterval(createCount(56, 70), createCount(48, 80)), [0.0524, 0.3339]);
  assertIntervalNear(newcombeInterval(createCount(9, 10), createCount(3, 10)), [0.1705, 0.809]);
  assertIntervalNear(newcombeInterval(createCount(5, 56), createCount(0, 29)), [-0.0381, 0.1926]);
  assertIntervalNear(newcombeInterval(createCount(0, 10), createCount(0, 20)), [-0.1611, 0.2775]);
  assert.deepEqual(newcombeInterval(createCount(0, 0), createCount(5, 10)), [-1, 1]);
});

test('[A65, A96] an interval of a rate contains the rate, is symmetric under complement, and shrinks with more data', () => {
  fc.assert(
    fc.property(counts, ({ good, total }) => {
      const { rate, interval } = computeRate(createCount(good, total));
      const [low, high] = interval;
      assert.ok(0 <= low && low < high && high <= 1);
      if (rate === null) return;
      assert.ok(low <= rate && rate <= high);
      assertIntervalNear(wilsonInterval(createCount(total - good, total)), [1 - high, 1 - low], 1e-12);
      const more = wilsonInterval(createCount(good * 4, total * 4));
      assert.ok(more[1] - more[0] < high - low);
    }),
  );
});

test('[A65] a difference with swapped operands has the opposite sign', () => {
  fc.assert(
    fc.property(counts, counts, (first, second) => {
      const [low, high] = newcombeInterval(first, second);
      assertIntervalNear(newcombeInterval(second, first), [-high, -low], 1e-12);
      assert.ok(low >= -1 - 1e-12 && high <= 1 + 1e-12 && low < high);
    }),
  );
});

test('[A65, A94] intervals of percentiles are the order statistics of the published ranks', () => {
  const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
  assert.deepEqual(computeQuantile(upTo(10), 0.5), { count: 10, value: 5, interval: [2, 9] });
  assert.deepEqual(computeQuantile(upTo(25), 0.5), { count: 25, value: 13, interval: [8, 18] });
  assert.deepEqual(
    computeQuantile(upTo(71), 0.95)?.interval[1],
    null,
    'too few values for an upper end of the 95th percentile',
  );
  assert.deepEqual(computeQuantile(upTo(72), 0.95)?.interval[1], 72);
  assert.deepEqual(computeQuantile([7], 0.5), { count: 1, value: 7, interval: [null, null] });
  assert.equal(computeQuantile([], 0.5), undefined);
  assert.equal(computePercentiles([]), undefined);
  assert.equal(computePercentiles([3, 1, 2])?.p50.value, 2);
});

test('[A65, A94] 95 % of the intervals of a percentile contain it, for any distribution', () => {
  const next = createRandom(7);
  for (const p of [0.5, 0.95]) {
    let held = 0;
    for (let i = 0; i < 1000; i++) {
      // The square of a uniformly distributed number: its p-quantile is p squared.
      const sample = Array.from({ length: 150 }, () => next() ** 2).toSorted((a, b) => a - b);
      const [low, high] = computeQuantile(sample, p)?.interval ?? [];
      if ((low ?? 0) <= p ** 2 && p ** 2 <= (high ?? 1)) held++;
    }
    assert.ok(held >= 935, `${held} of 1000 at ${p}`);
  }
});

test('[A65] the shift between two samples is found, and 95 % of its intervals contain it', () => {
  assert.equal(medianOfSorted(pairwiseDifferences([4, 6], [1, 2])), 3.5);
  assert.deepEqual(hodgesLehmannInterval(pairwiseDifferences([1, 2], [3, 4]), [2, 2]), [-Infinity, Infinity]);
  const next = createRandom(11);
  let held = 0;
  for (let i = 0; i < 400; i++) {
    const first = Array.from({ length: 24 }, () => -Math.log(next()) + 0.7);
    const second = Array.from({ length: 60 }, () => -Math.log(next()));
    const [low, high] = hodgesLehmannInterval(pairwiseDifferences(first, second), [24, 60]);
    if (low <= 0.7 && 0.7 <= high) held++;
  }
  assert.ok(held >= 370 && held < 400, `${held} of 400`);
});

test('[A65] several comparisons at once have no more false alarms than one', () => {
  const next = createRandom(3);
  const draw = (total: number, rate: number): RateCount =>
    createCount(Array.from({ length: total }, next).filter((each) => each < rate).length, total);
  let [alone, together] = [0, 0];
  for (let i = 0; i < 400; i++) {
    const questions = Array.from({ length: 6 }, () => {
      const [now, before] = [draw(100, 0.2), draw(300, 0.2)];
      return { interval: (deviate: number) => newcombeInterval(now, before, deviate), margin: 0 };
    });
    if (questions.some((question) => holm([question])[0]?.differs)) alone++;
    if (holm(questions).some(({ differs }) => differs)) together++;
  }
  assert.ok(alone > 60, `${alone} false alarms of 400 without the correction`);
  assert.ok(together <= 30, `${together} false alarms of 400 with it`);
});

test('[A65] a difference needs an interval completely beyond the margin, at the confidence level of its test', () => {
  const asks = (centre: number, error: number, margin = 0): Parameters<typeof holm>[0][number] => ({
    interval: (deviate) => [centre - error * deviate, centre + error * deviate],
    margin,
  });
  const [far, unclear, small] = holm([asks(-1.1, 0.1), asks(0.1, 1), asks(1.1, 0.1, 2)]);
  assert.deepEqual([far?.differs, unclear?.differs, small?.differs], [true, false, false]);
  assert.ok(Math.abs((far?.confidence ?? 0) - (1 - 0.05 / 3)) < 1e-12);
  const clearAlone = asks(2.1, 1);
  assert.equal(holm([clearAlone])[0]?.differs, true);
  assert.equal(holm([clearAlone, asks(0, 1)])[0]?.differs, false, 'not significant with two comparisons');
  assert.deepEqual(
    holm([asks(2.17, 1), asks(2.05, 1)]).map(({ differs }) => differs),
    [false, false],
    'if the most significant one fails, all others fail',
  );
  assert.equal(holm([asks(9, 1), clearAlone])[1]?.differs, true, 'the threshold after a significant one is lower');
});
