// Tests of recomputed arithmetic: what is right, what is wrong, and what must stay undecided.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { arithmeticVerifier } from './arithmetic.ts';
import { contextOf, decide, toClaim } from '../../../test/support/verify-claim.ts';

const check = (text: string): string => decide(arithmeticVerifier, text);

const right = [
  '48,917 + 36,284 = 85,201',
  '12 % of 250 is 30',
  '12% of 250 is 30.',
  '30 is 12 % of 250',
  '3 times 7 is 21',
  'The sum of 1, 2 and 3 is 6.',
  'the sum of 1, 2, and 3 is 6',
  'the remainder of 1000 divided by 7 is 6',
  '1000 divided by 7 leaves a remainder of 6',
  '1.000,5 + 1 = 1.001,5',
  '1,000.5 + 1 = 1,001.5',
  '-3 - -4 = 1',
  '10 / 3 is 3.33',
  '10 / 3 ≈ 3.33',
  '1,234 * 5 is about 6,200',
  '0.1 + 0.2 = 0.3',
  '2 + 2 is not 5',
  '**2 + 2 = 4**',
  '- 2 + 2 = 4',
  '1. 2 + 2 = 4',
  '17 is a prime number',
  '91 is divisible by 7',
  'two plus two is four',
  'twenty-one plus 1 is 22',
  '$3 + $4 = $7',
  '10 percent of 50 euros is 5 euros',
  '2^10 = 1024',
  '2**10 = 1024',
  'the square root of 144 is 12',
  '100 / 3 is about 33',
  'half of 10 is 5',
  '2.5 million + 1.5 million = 4 million',
  'The average of 1, 2 and 3 is 2',
  '(1 + 2) * 3 = 9',
  '5 + 3 is greater than 7',
  '2 + 2 = 4 and 3 + 3 = 6',
  '123456789012345678901234567890 + 1 = 123456789012345678901234567891',
];

const wrong = [
  '48,917 + 36,284 = 85,202',
  '12% of 250 is 31.',
  'The sum of 1, 2, and 3 is 7.',
  '2 + 2 = 5, so Paris is in France',
  '2 + 2 = 4 and 3 + 3 = 7',
  'The total is 3 × 40 = 130 euros',
  '18 is prime',
  '2 + 2 = 4 = 5',
  '2**10 = 1025',
  '-3 + 4 = -1',
  '0.1 + 0.2 = 0.30000000000000004',
  '9007199254740993 + 0 = 9007199254740992',
];

const undecided = [
  '2 + 2 = 4, so Paris is in Germany',
  'Paris is in Germany because 2 + 2 = 4',
  '2 + 2 = 4 (Paris is in Germany)',
  'It is false that 2 + 2 = 4',
  'It is false that 2 + 2 = 5',
  'If 2 + 2 = 5, then I am the Pope',
  'Is it true that 2 + 2 = 5?',
  'In base 8, 7 + 1 = 10',
  '1.000 + 500 = 1.500',
  '7 / 2 = 4',
  '2/3 = 0.66',
  '10 / 3 = 3.33',
  '10 / 3 is 3.3',
  '1/8 is 0.13',
  '1 out of 3 is 33%',
  '2 + 2 is about 4.03',
  '1,234 * 5 is about 6,150',
  '0^0 = 1',
  '0**0 = 1',
  '0.1 + 0.25 = 0.4',
  'x = 3 + 4 = 8',
  'f(2) = 5 + 1',
  '2 + 2 = 4!',
  '1O0 + 1 = 101',
  '1\u043e0 + 1 = 101',
  '2 + 2 = 4\u200b',
  '2 + 2 = ４',
  '0 / 0 = 1',
  '5 is 3',
  '2026-11-17 is 1998',
  '$3 + €4 = $7',
  '250 + 12 % = 280',
  'zwei plus zwei ist vier',
  '二加二等于四',
  '9 ^ 9 ^ 9 ^ 9 = 1',
  '',
];

test('[A26] arithmetic that is right is supported with what was computed', () => {
  for (const text of right) assert.equal(check(text), 'supported', text);
});

test('[A26] arithmetic with a wrong statement is contradicted with what was computed', () => {
  for (const text of wrong) assert.equal(check(text), 'contradicted', text);
});

test('[A26] a claim that says more than its arithmetic, or can be read in two ways, is not decided', () => {
  for (const text of undecided) assert.equal(check(text), 'undecided', text);
});

test('[A26] whatever the numbers, the exact sum is supported and every other number contradicted', () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.bigInt(0n, 10n ** 30n), fc.bigInt(1n, 9n), (a, b, off) => {
      assert.equal(check(`${a} + ${b} = ${a + b}`), 'supported');
      assert.equal(check(`${a} + ${b} = ${a + b + off}`), 'contradicted');
      assert.equal(check(`${a} × ${b} = ${a * b}`), 'supported');
    }),
    { numRuns: 200 },
  );
});

test('[A26] the evidence of arithmetic is the exact value', () => {
  const text = '48,917 + 36,284 = 85,202';
  const verdict = arithmeticVerifier.verify(toClaim(text), contextOf(text)) as {
    readonly evidence: readonly { readonly text: string }[];
  };
  assert.equal(verdict.evidence[0]?.text, '48,917 + 36,284 = 85201');
});

test('[A26] hostile claims of 100 kB end', () => {
  for (const part of ['1 + ', '1, ', '((((', 'sum of 1, ', '1 ', 'the sum of ', '9^9^9^', '- - ', 'is = ', '1/1/1/ '])
    assert.notEqual(check(part.repeat(Math.ceil(100_000 / part.length))), 'supported', part);
});
