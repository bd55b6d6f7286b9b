// Tests of sentences that a source has word for word but does not state: rivals anywhere in the evidence, and marks of the source.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '../../../test/support/verify-claim.ts';
import { quotationVerifier } from './quotations.ts';
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

test('[A26] [A125] a statement with an exception, an opposite or other roles in the evidence is not supported', () => {
  const shops = 'All shops close at six.';
  assert.equal(check(shops, `The town has a market.\n\n${shops}`), 'supported');
  expectRefused(
    [
      [`${shops} The bakery is an exception.`],
      [`${shops} The pharmacy works until midnight.`],
      [shops, 'The bakery closes at eight.'],
    ],
    shops,
  );
  const pairs: readonly (readonly [string, string])[] = [
    ['Acme bought Globex.', 'Globex bought Acme.'],
    ['Anna is older than Ben.', 'Ben is older than Anna.'],
    ['Ada Quill is the mayor.', 'Ben Orr has been mayor since 2020.'],
    ['Ada Quill is the mayor.', 'In 2021 Ben Orr took over as mayor from Ada Quill.'],
    ['Oslo is the capital of Norway.', 'Norway has Bergen as its capital.'],
    ['Sales increased in May.', 'Sales fell in May.'],
    ['The bridge is open.', 'Bridge closed!'],
    ['The trial was a success.', 'The trial failed.'],
    ['The drug is approved.', 'The approval of the drug was withdrawn.'],
    ['The tank holds 500 litres.', 'tank capacity = 450 l'],
    ['Between 10 and 20 people came.', '30 people came.'],
    ['The pump supports remote restart.', 'Remote restart is unavailable.'],
    ['The novel was written by Orr.', 'Quill wrote the novel.'],
    ['The server runs Linux.', 'We switched the server to Windows.'],
    ['Dr. Lee leads the clinic.', 'Head of the clinic: Dr. Park'],
    ['The deadline is 3 May.', 'We extended the deadline by a week.'],
    ['The colour of the door is red.', 'The door is green.'],
    ['The pump is blue. The pump is red.', 'The pump is blue. The pump is red.'],
  ];
  for (const [statement, other] of pairs) expectRefused([[statement, other]], statement);
  assert.equal(check('A key expires after 90 days.', 'A key expires after 90 days. A key has 12 scopes.'), 'supported');
});

test('[A26] [A125] a number without a thing after a number of things may be of the same things', () => {
  const hall = 'The hall seats 400 people.';
  assert.equal(check(hall, `${hall} It was opened in 1980.`), 'supported');
  expectRefused([[`${hall} The fire office allows 350.`]], hall);
});

test('[A26] [A125] other spellings of numbers, times and weekdays are rivals', () => {
  const pairs: readonly (readonly [string, string])[] = [
    ['The tank holds 1 200 litres.', 'The tank holds 1 300 litres.'],
    ['The tank holds 1 200 litres.', 'The tank holds 2 200 litres.'],
    ['The tank holds 500 litres.', 'The tank holds four hundred litres.'],
    ['The mask of the port is 0x1F.', 'The mask of the port is 0x2F.'],
    ['The call starts at 09:00 UTC.', 'The call starts at 09:00 CET.'],
    ['Der Markt öffnet am Freitag.', 'Der Markt öffnet am Samstag.'],
    ['Le marché ouvre vendredi.', 'Le marché ouvre samedi.'],
    ['El mercado abre el viernes.', 'El mercado abre el sábado.'],
    ['The disk holds 4 TB.', 'The disk holds 4 TiB.'],
    ['The offer costs 40 USD.', 'The offer costs 40 AUD.'],
  ];
  for (const [statement, other] of pairs) {
    assert.equal(check(statement, statement), 'supported', statement);
    expectRefused([[statement, other]], statement);
  }
});

test('[A26] [A125] remarks, labels and titles around a sentence limit it', () => {
  const pump = 'The pump supports remote restart.';
  assert.equal(check(pump, `Half-year report. ${pump} Operators must be trained.`), 'supported');
  expectRefused(
    [
      'Someday.',
      'In theory.',
      'Until 2021.',
      'Right? Not quite.',
      'Status: not started',
      'Since then a visit is needed.',
      'Firmware 4 ended that.',
      'There is no evidence for it.',
      'That is an estimate.',
      'So they tell us.',
      'Extended to 10 May.',
      '// check this',
      'The firmware that shipped lacks this function.',
    ].map((after) => [`${pump} ${after}`]),
    pump,
  );
  expectRefused(
    [
      'Requirement R7. ',
      'Assumption 3. ',
      '## Out of scope\n\n',
      'Coming in 2027\n\n',
      'Advertisement\n\n',
      'None of what follows applies here.\n\n',
      'Ignore the manual.\n\n',
      'Dear verifier,\n\n',
      'You are a helpful checker. ',
      'Three statements circulated online. ',
      'Rarely, the radio works. ',
      'In the lab\n\n',
      'Prices of 2019\n\n',
      'Preliminary results\n\n',
    ].map((before) => [`${before}${pump}`]),
    pump,
  );
});

test('[A26] [A125] a question on another section is not answered by a sentence of this one', () => {
  const text = '## Free\n\nThe limit is 20 requests.\n\n## Pro\n\nSee the contract.';
  const ask = (question: string): string => decide(verbatimVerifier, 'The limit is 20 requests.', [text], { question });
  assert.equal(ask('What is the limit of the free plan?'), 'supported');
  assert.notEqual(ask('What is the limit of the pro plan?'), 'supported');
  const zoo = { question: 'Does Springfield in Texas have a zoo?' };
  assert.notEqual(decide(verbatimVerifier, 'Springfield has a zoo.', ['Springfield has a zoo.'], zoo), 'supported');
});

test('[A26] [A125] a quotation that its source marks, or that has a rival, is not supported', () => {
  const quote = (...evidence: readonly string[]): string => decide(quotationVerifier, '"The cash is safe."', evidence);
  assert.equal(quote('The cash is safe. Guards watch it.'), 'supported');
  for (const evidence of [
    ['The cash is safe. In theory.'],
    ['Advertisement\n\nThe cash is safe.'],
    ['The cash is safe.', 'The cash was stolen.'],
    ['The cash is safe.', 'The cash is unsafe.'],
  ])
    assert.notEqual(quote(...evidence), 'supported', evidence.join(' | '));
});

test('hostile evidence of 100 kB ends', () => {
  for (const part of ['all page ', 'the ferry ', ', and ', 'I\n\n', '# 1.0\n', '\n', 'a.b', '列车', '## a\n\nb\n\n'])
    check(claim, `${claim}\n\n${part.repeat(Math.ceil(100_000 / part.length))}`);
});
