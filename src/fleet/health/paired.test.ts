// Paired comparisons: exact tests by known values, and the coverage of the intervals by simulation of a known difference.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createRandom } from '../../checks/index.ts';
import { comparePairs, mcnemarPValue, pairedInterval, signFlipPValue } from './paired.ts';
import { computeClusteredRate, studentQuantile } from './statistics.ts';

const isNear = (value: number, expected: number, by = 5e-4): void =>
  assert.ok(Math.abs(value - expected) <= by, `${value} is not ${expected}`);

test('[A48] the exact test of changed cases has the values of the binomial distribution', () => {
  isNear(mcnemarPValue(1, 9), 22 / 1024);
  isNear(mcnemarPValue(9, 1), 22 / 1024);
  assert.equal(mcnemarPValue(0, 0), 1);
  assert.equal(mcnemarPValue(5, 5), 1);
  isNear(mcnemarPValue(0, 5), 2 / 32);
  assert.ok(mcnemarPValue(100, 2000) >= 0 && mcnemarPValue(100, 2000) < 1e-6, 'large counts do not overflow');
  for (const [degrees, quantile] of [
    [1, 12.706],
    [5, 2.5706],
    [9, 2.2622],
    [29, 2.0452],
    [1000, 1.9623],
  ] as const)
    isNear(studentQuantile(degrees), quantile, 2e-3);
});

test('[A48] the sign-flip test is exact for few cases and near the exact value for many', () => {
  assert.equal(signFlipPValue([0, 0]), 1);
  assert.equal(signFlipPValue([0.5, 0.5, 0.5]), 2 / 8);
  const many = Array.from({ length: 20 }, (_, i) => (i < 15 ? 1 : -1));
  isNear(signFlipPValue(many), mcnemarPValue(5, 15), 0.01);
});

test('[A48] the same results twice are no difference, and an interval without cases says nothing', () => {
  const same = comparePairs(Array.from({ length: 20 }, (_, i) => [i % 2, i % 2] as const));
  assert.deepEqual([same.value, same.pValue, same.test], [0, 1, 'mcnemar']);
  assert.ok(same.interval[0] < 0 && same.interval[1] > 0);
  assert.deepEqual(comparePairs([]).interval, [-1, 1]);
  assert.deepEqual(comparePairs([[0.5, 0.75]]).interval, [-1, 1]);
  assert.throws(() => comparePairs([[0, 2]]), RangeError);
});

test('[A48] the interval has the observed difference, also if every case differs by the same amount', () => {
  for (const cases of [2, 5, 20, 200])
    for (const after of [2 / 3, 0.9]) {
      const { value, interval } = comparePairs(Array.from({ length: cases }, () => [1, after] as const));
      assert.ok(
        interval[0] <= value && value <= interval[1],
        `${cases} cases, ${after}: ${value} in ${interval.join()}`,
      );
    }
});

test('[A48] a difference of few wrong trials near 100 % is covered in at least 93 of 100 evaluations, and a false verdict is rare', () => {
  const random = createRandom(20_261_118);
  const rate = (p: number): number => [1, 2, 3].filter(() => random() < p).length / 3;
  let [covered, decided] = [0, 0];
  for (let round = 0; round < 2000; round++) {
    const [low, high] = pairedInterval(Array.from({ length: 20 }, () => [rate(0.99), rate(0.97)] as const));
    if (low <= -0.02 && -0.02 <= high) covered++;
    const [least, most] = pairedInterval(Array.from({ length: 8 }, () => [rate(0.5), rate(0.5)] as const));
    if (least > 0 || most < 0) decided++;
  }
  assert.ok(covered >= 1860, `${covered} of 2000 are covered`);
  assert.ok(decided <= 100, `${decided} of 2000 are decided without a difference`);
});

/** How often the interval of simulated evaluations has the true difference. Each case has a difficulty of its own, so that the two results of a case are alike. */
function simulate({ cases, trials, drop }: { cases: number; trials: number; drop: number }, rounds = 2000) {
  const random = createRandom(20_260_718);
  let covered = 0;
  // The difference in the population of cases, of which each round draws some.
  const expected = meanDrop(drop);
  for (let round = 0; round < rounds; round++) {
    const pairs = Array.from({ length: cases }, () => {
      const before = 0.15 + 0.8 * random();
      // Half of the cases are affected, and each of them loses twice the mean.
      const after = random() < 0.5 ? Math.max(0, before - 2 * drop) : before;
      const rate = (p: number): number =>
        Array.from({ length: trials }, () => (random() < p ? 1 : 0)).reduce<number>((sum, each) => sum + each, 0) /
        trials;
      return [rate(before), rate(after)] as const;
    });
    const interval = pairedInterval(pairs);
    if (interval[0] <= expected && expected <= interval[1]) covered++;
  }
  return covered / rounds;
}

/** The mean of the simulated differences, by integration. */
function meanDrop(drop: number): number {
  const steps = 10_000;
  let sum = 0;
  for (let i = 0; i < steps; i++) sum -= Math.min(0.15 + (0.8 * (i + 0.5)) / steps, 2 * drop) / 2;
  return sum / steps;
}

for (const [cases, trials, drop] of [
  [30, 1, 0.15],
  [100, 1, 0.1],
  [30, 5, 0.15],
  [100, 3, 0.05],
  [40, 3, 0],
] as const)
  test(`[A48] the interval of the difference has the true value in 93 to 97 of 100 evaluations: ${cases} cases, ${trials} trials, ${drop} points lost`, (t) => {
    const coverage = simulate({ cases, trials, drop });
    t.diagnostic(`coverage ${(100 * coverage).toFixed(1)} %`);
    assert.ok(coverage >= 0.93 && coverage <= 0.97, `the coverage is ${coverage}`);
  });

test('[A48] the interval of a clustered rate has the true value in 93 to 97 of 100 evaluations', (t) => {
  const random = createRandom(7);
  const rounds = 2000;
  let covered = 0;
  for (let round = 0; round < rounds; round++) {
    const clusters = Array.from({ length: 40 }, () => {
      const p = random() ** 0.5;
      const good = Array.from({ length: 5 }, () => random() < p).filter(Boolean).length;
      return { good, total: 5 };
    });
    const [low, high] = computeClusteredRate(clusters).interval;
    if (low <= 2 / 3 && 2 / 3 <= high) covered++;
  }
  t.diagnostic(`coverage ${(100 * covered) / rounds} %`);
  assert.ok(covered / rounds >= 0.93 && covered / rounds <= 0.97, `the coverage is ${covered / rounds}`);
});
