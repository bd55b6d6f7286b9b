// Tests of sentences that a source has word for word but does not state: rivals anywhere in the evidence, and marks of the source.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../test/support/verify-claim.ts';
import { verbatimVerifier } from './verbatim.ts';

const check = (text: string, ...evidence: readonly string[]): string => decide(verbatimVerifier, text, evidence);
const claim = 'The ferry carries forty cars.';
const expectRefused = (texts: readonly (readonly string[])[], statement = claim): void => {
  for (const evidence of texts) assert.notEqual(check(statement, ...evidence), 'supported', evidence.join(' | '));
};

test('[A26] [A125] a statement with a rival anywhere in the evidence is not supported word for word', () => {
  assert.equal(check(claim, `${claim} The bus carries nine people.`), 'supported');
  assert.equal(check(claim, claim, `Harbour guide\n\n${claim}`), 'supported', 'the same sentence again');
  assert.equal(check(claim, `${claim} The ferry carries forty cars and six lorries.`), 'supported', 'it says more');
  expectRefused([
    [`${claim} The weather is mild.\n\nSince May the ferry carries fifty cars.`],
    [claim, 'The new ferry carries forty lorries.'],
    [claim, 'Nobody was asked, and the ferry does not carry cars.'],
    [`## Now\n- The ferry carries sixty cars.\n\n## Then\n- ${claim}`],
  ]);
  expectRefused(
    [['The mayor of the town is Ada Quill.', 'The mayor of the town is Ben Orr.']],
    'The mayor of the town is Ada Quill.',
  );
  expectRefused(
    [['The bridge is open to cars all year.', 'The bridge is closed.']],
    'The bridge is open to cars all year.',
  );
  expectRefused([['商店每天营业。\n\n从五月起，商店只在周末营业。']], '商店每天营业。');
});

test('[A26] [A125] a source that marks itself as invented, as a sample or as older does not support its sentences', () => {
  assert.equal(check(claim, `Harbour guide\n\nThe pier is new. ${claim}`), 'supported');
  assert.equal(check(claim, `# Ferry\n\n## 2.0\n\n${claim}\n\n## 1.0\n\nThe pier was wooden.`), 'supported');
  expectRefused([
    [`THE CROSSING\nA short story by M. Ilk\n\nIt was cold. ${claim}`],
    [`Letter templates. Change what you need.\n\nText 1\n\n${claim}`],
    [`How it worked until 2019\n\nThe pier was wooden. ${claim}`],
    [`# Ferry\n\n## 2.0\n\nThe pier is new.\n\n## 1.0\n\n${claim}`],
    [`A guard told me everything. ${claim} Then he left.`],
    [`I slept badly on the boat. ${claim}`],
    [`Which line was crossed out?\nThis one.\n\n${claim}`],
    [`Yeah, sure. ${claim}`],
    [`Harbour guide\n\n${claim}`, "The page 'Harbour guide' is outdated."],
    [claim, 'All texts on this site are made up.'],
  ]);
});

test('hostile evidence of 100 kB ends', () => {
  for (const part of ['all page ', 'the ferry ', ', and ', 'I\n\n', '# 1.0\n', '\n', 'a.b', '列车', '## a\n\nb\n\n'])
    check(claim, `${claim}\n\n${part.repeat(Math.ceil(100_000 / part.length))}`);
});
