// Tests of the exact binomial bounds against values that follow from the definition.
import assert from 'node:assert/strict';
import test from 'node:test';
import { binomialCdf, binomialInterval, binomialUpperBound } from './binomial.ts';

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

test('without a success the bound is 1 - level^(1/n), and without tries everything is possible', () => {
  for (const total of [1, 16, 120, 1000]) {
    near(binomialUpperBound(0, total), 1 - 0.05 ** (1 / total));
    near(binomialInterval(0, total)[1], 1 - 0.025 ** (1 / total));
    assert.equal(binomialInterval(0, total)[0], 0);
    near(binomialInterval(total, total)[0], 0.025 ** (1 / total));
    assert.equal(binomialInterval(total, total)[1], 1);
  }
  assert.deepEqual(binomialInterval(0, 0), [0, 1]);
});

test('at its ends the interval leaves exactly the stated probability on each side', () => {
  for (const [count, total] of [
    [1, 10],
    [5, 10],
    [37, 250],
    [990, 1000],
  ] as const) {
    const [low, high] = binomialInterval(count, total);
    near(binomialCdf(count, total, high), 0.025);
    near(1 - binomialCdf(count - 1, total, low), 0.025);
  }
});

test('a count that is not a count throws', () => {
  for (const [count, total] of [
    [-1, 10],
    [11, 10],
    [0.5, 10],
    [Number.NaN, 10],
  ] as const)
    assert.throws(() => binomialInterval(count, total), RangeError);
});
