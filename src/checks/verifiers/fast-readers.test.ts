// Tests that the readers of ASCII text agree with the patterns for any text, and that traits hide no claim from a verifier.
import assert from 'node:assert/strict';
import test from 'node:test';
import { contextOf, decide, toClaim } from '../../../test/support/verify-claim.ts';
import { verificationTraps } from '../trap-set/index.ts';
import { tokenizeArithmetic } from './arithmetic-tokens.ts';
import { hasSomeTrait, hasTraits, traits } from './claim-traits.ts';
import { defaultVerifiers } from './run-verifiers.ts';
import { readAnyStatement, readStatement } from './statement-words.ts';
import { verbatimVerifier } from './verbatim.ts';

const texts = [
  ...verificationTraps.flatMap(({ claim, evidence }) => [claim, ...evidence]),
  "It's 3.5, 1,000 or 12:30 o'clock; rock'n'roll isn't the singers' thing's end.",
  "The class's rings, kings and ED's ids: don't, can't, it's, ING, s, es 7th x 2**3 <= 9 != 8 == 7 ~5 `a_b`",
  "'quoted' 1'000 ''s n't 'nt an't 5's 5..6 7,,8 9: \t\n10-20%",
].filter((text) => /^[\p{ASCII}]*$/u.test(text));

test('tokens and statements of ASCII text are those of the patterns', () => {
  assert.ok(texts.length > 200);
  for (const text of texts) {
    const other = tokenizeArithmetic(`${text} é`).slice(0, -1);
    assert.deepEqual(tokenizeArithmetic(text), other, text);
    assert.deepEqual(readStatement(text), readAnyStatement(text), text);
  }
});

test('a long statement with many words and numbers is read', () => {
  const words = Array.from({ length: 500 }, (_, i) => `wort${i % 300} ${i % 200}`).join(' ');
  assert.deepEqual(readStatement(words), readAnyStatement(words));
  assert.equal(readStatement(words).words.length, 301);
});

test('a claim has the traits of what it contains', () => {
  const expected: readonly (readonly [string, number])[] = [
    ['A foot is', traits.unit | traits.relation],
    ['one two', traits.numberWord],
    ['Twice', traits.operation],
    ['a\tb', traits.uneven],
    ['a  b', traits.uneven],
    ['a b “c”', traits.quotation | traits.uneven],
    ['> a', traits.quotation],
    ['a B', traits.capital],
    ['aB', traits.capital],
    ['a/b', traits.slash],
    ['`a`', traits.tick],
    ['7 ≈ 7', traits.digit | traits.relation | traits.statement],
    ['two times 3 is 6', traits.statement],
    ['Half of it is gone', traits.statement],
    ['12=12', traits.statement],
    ['x'.repeat(20_000), traits.digit | traits.unit | traits.quotation],
  ];
  for (const [text, bits] of expected) assert.ok(hasTraits(text, bits), text);
  assert.ok(!hasSomeTrait('The cache holds the last value.', 2047));
  assert.ok(!hasTraits('It is why a job may start two times.', traits.statement));
});

test('a verifier that decides a claim also handles it', async () => {
  for (const { claim, evidence } of verificationTraps)
    for (const verifier of defaultVerifiers) {
      const context = contextOf(claim, evidence.length > 0 ? evidence : ['None.']);
      if (verifier.handles(toClaim(claim), context)) continue;
      assert.equal(await verifier.verify(toClaim(claim), context), undefined, `${verifier.name}: ${claim}`);
    }
});

test('evidence with an equal text is read once, and its source still counts', () => {
  const claim = 'The ferry carries forty cars.';
  const text = `Harbour guide\n\nThe pier is new. ${claim}`;
  assert.equal(decide(verbatimVerifier, claim, [text]), 'supported');
  assert.equal(decide(verbatimVerifier, claim, [text]), 'supported');
  const bySelf = { source: { type: 'model', name: 'm' }, text } as const;
  assert.equal(decide(verbatimVerifier, claim, [bySelf]), 'undecided');
});

test('texts beyond the number that is kept are read again', () => {
  const claim = 'The ferry carries forty cars.';
  for (let i = 0; i < 14; i++)
    assert.equal(decide(verbatimVerifier, claim, [`${claim}\n\n${`Item ${i}. `.repeat(9000)}`]), 'supported');
});
