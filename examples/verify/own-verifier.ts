// Verifies claims without a model: the verifiers that are built in, and one of the program's own that knows the prices of a shop.
import assert from 'node:assert/strict';
import {
  defaultVerifiers,
  runVerifiers,
  scoreSupport,
  splitClaims,
  verifier,
  type Evidence,
  type VerifyContext,
} from 'fairlead/checks';

const prices = new Map([
  ['a pen', 2],
  ['a notebook', 5],
]);

// Decides only a claim that is nothing but a price; undefined leaves the claim to the next verifier.
const priceVerifier = verifier({
  name: 'prices',
  handles: ({ text }) => text.includes('costs'),
  verify({ text }) {
    const [, item = '', price] = /^(.+) costs (\d+) euros\.?$/.exec(text) ?? [];
    const known = prices.get(item.toLowerCase());
    if (known === undefined) return undefined;
    return {
      type: known === Number(price) ? 'supported' : 'contradicted',
      decidedBy: 'exact',
      verifier: 'prices',
      evidence: [{ source: { type: 'computed', by: 'price list' }, text: `${item}: ${known} euros` }],
      why: `The price list says ${known} euros.`,
    };
  },
});

const evidence: readonly Evidence[] = [
  { source: { type: 'given', name: 'terms' }, text: 'Orders are sent within two days. Returns are free for 30 days.' },
];
const answer =
  'A pen costs 2 euros. A notebook costs 4 euros. 3 * 5 = 15. Returns are free for 30 days. Returns are free for 60 days. The shop is in Graz.';
const context: VerifyContext = { answer, evidence, signal: new AbortController().signal };

const verdicts: string[] = [];
for (const claim of splitClaims(answer)) {
  const { verdict } = await runVerifiers([priceVerifier, ...defaultVerifiers], claim, context);
  verdicts.push(verdict?.type ?? 'open');
  console.log(`${verdict?.type ?? 'open'}: ${claim.text} ${verdict?.why ?? ''}`);
}
assert.deepEqual(verdicts, ['supported', 'contradicted', 'supported', 'supported', 'unverifiable', 'unverifiable']);

// The scorer orders claims that no verifier decided. It never makes a claim supported.
const terms = evidence[0]?.text ?? '';
const [near, far] = [scoreSupport('Orders are sent in two days.', terms), scoreSupport('The shop is in Graz.', terms)];
console.log(near.probability.toFixed(2), far.probability.toFixed(2));
assert.ok(near.probability > far.probability);
