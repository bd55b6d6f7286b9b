// Tests of the parts of judging: families, quotations, quorum, batches and parsing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createBatches } from './judge-claims.ts';
import { getModelFamily } from './model-family.ts';
import { parseJudgements } from './parse-judgement.ts';
import { createPassageSelector, splitPassages } from './passages.ts';
import { findMissing, findNumbers, findQuotation, isNegated } from './quotation.ts';
import { decideByQuorum, selectJudges } from './quorum.ts';

test('[A33] the family of a model is found from its name, then from its provider; a name that does not say it gives no vote', () => {
  for (const [name, family] of [
    ['anthropic/claude-opus-4.8', 'claude'],
    ['openrouter/anthropic/claude-sonnet-5', 'claude'],
    ['openai/gpt-5', 'gpt'],
    ['o3-mini', 'gpt'],
    ['google/gemini-3-pro', 'gemini'],
    ['gemma3:4b', 'gemini'],
    ['ollama/llama3.2:1b', 'llama'],
    ['meta-llama/Llama-4-Scout', 'llama'],
    ['qwen2.5-coder:7b', 'qwen'],
    ['mistralai/Mixtral-8x7B', 'mistral'],
    ['deepseek-r1-distill-llama-70b', 'unknown'],
    ['openai/my-fine-tune', 'gpt'],
    ['mystery', 'unknown'],
    ['azure/my-gpt-5', 'gpt'],
    ['azure/prod-o3', 'gpt'],
    ['bedrock/us.deepseek.r1-v1:0', 'deepseek'],
    ['bedrock/openai.gpt-oss-120b-1:0', 'gpt'],
    ['ollama/deepseek-r1:8b', 'unknown'],
    ['ollama/hermes3', 'unknown'],
    ['ollama/tulu3', 'unknown'],
    ['ollama/other', 'unknown'],
    ['', 'unknown'],
  ] as const)
    assert.equal(getModelFamily(name), family, name);
  assert.equal(getModelFamily('my-deployment', 'anthropic'), 'claude');
  const judges = ['a', 'b'].map((name) => ({ name, family: getModelFamily(name) }));
  assert.deepEqual(selectJudges(judges, { name: 'c', family: getModelFamily('c') }), []);
});

test('[A125] a quotation must be in the text, character by character except for white space', () => {
  const text = 'The lake was\n  filled in 1964.';
  assert.deepEqual(findQuotation(text, 'was filled in 1964'), { start: 9, end: 29 });
  assert.deepEqual(findQuotation('It has 450,000 and 1.5 and 45.', 'and 45'), { start: 23, end: 29 });
  for (const part of ['has 45', 'has 450', '000 and', 'and 1', '5 and 45', 'as 450,000'])
    assert.equal(findQuotation('It has 450,000 and 1.5 and 45.', part), undefined, part);
  for (const wrong of ['was filled in 1965', 'Was filled', 'x', '', 'filled  1964', `${text} `.repeat(100)])
    assert.equal(findQuotation(text, wrong), undefined, wrong);
});

test('[A125] the numbers and names of a claim are compared in one form', () => {
  assert.deepEqual(
    [...findNumbers('1,234.50 and 1 234 and two, 3,5 and ١٢')],
    ['1234.5', '1', '234', '3.5', '12', '2'],
  );
  assert.deepEqual(findMissing({ text: 'Mars has two moons.' }, 'The planet Mars has 2 moons'), []);
  assert.deepEqual(findMissing({ text: 'Mars has three moons.' }, 'The planet Mars has 2 moons'), ['3']);
  assert.deepEqual(findMissing({ text: 'Venus has two moons.' }, 'The planet Mars has 2 moons'), ['venus']);
  assert.deepEqual(findMissing({ text: 'The file `a.ts` is in src/core by Ann.' }, 'src/core has a.ts, Ann wrote'), []);
  assert.deepEqual(findMissing({ text: 'Use Java here.' }, 'JavaScript is used here'), ['java']);
  assert.ok(
    isNegated("It isn't so") && isNegated('Das ist nicht so') && isNegated('不是') && !isNegated('It is so; note that'),
  );
});

let nextJudge = 1;

const vote = (family: string, value: 'supported' | 'contradicted' | 'cannot-tell' | 'none') => ({
  judge: `${family}/${nextJudge++}`,
  family,
  vote: value,
  why: '',
});

test('[A33] a quorum counts families; one opposite vote prevents a verdict; a failed judge is no vote', () => {
  const decide = (...votes: readonly ReturnType<typeof vote>[]): string => {
    const result = decideByQuorum(votes);
    return result.type === 'undecided' ? result.reason : result.type;
  };
  assert.equal(decide(vote('a', 'supported'), vote('b', 'supported')), 'supported');
  assert.equal(decide(vote('a', 'supported'), vote('a', 'supported')), 'no-quorum');
  assert.equal(decide(vote('a', 'supported'), vote('b', 'none')), 'no-quorum');
  assert.equal(decide(vote('a', 'supported'), vote('b', 'supported'), vote('c', 'contradicted')), 'disagreement');
  assert.equal(decide(vote('a', 'supported'), vote('b', 'supported'), vote('c', 'cannot-tell')), 'supported');
  assert.equal(decide(vote('a', 'contradicted'), vote('b', 'contradicted')), 'contradicted');
  assert.equal(decide(vote('a', 'contradicted'), vote('b', 'cannot-tell')), 'disagreement');
  assert.equal(decide(vote('a', 'supported'), vote('b', 'cannot-tell')), 'cannot-tell');
  assert.equal(decide(), 'no-quorum');
  assert.equal(decideByQuorum([vote('a', 'supported')], 1).type, 'supported');
  for (const quorum of [0, -1, 0.5, Number.NaN])
    assert.equal(decideByQuorum([vote('a', 'supported')], quorum).type, 'undecided');
});

test('[A33] judgements: only clear verdicts count, and an id that occurs twice has none', () => {
  const entry = { id: 'x', verdict: 'supported', passage: 1, quotation: 'q', why: 'w' };
  const parse = (value: unknown): readonly string[] => [
    ...(parseJudgements(JSON.stringify(value))?.keys() ?? ['no JSON']),
  ];
  assert.deepEqual(parse({ verdicts: [entry, { ...entry, id: 'y', verdict: 'true' }, { ...entry, id: 5 }, null] }), [
    'x',
  ]);
  assert.deepEqual(parse({ verdicts: [entry, entry] }), []);
  assert.deepEqual(parse({ verdicts: [entry, { ...entry, verdict: 'nonsense' }] }), []);
  assert.deepEqual(parse([entry]), ['no JSON']);
  assert.deepEqual([...(parseJudgements('```json\n{"verdicts": []}\n```')?.keys() ?? ['no JSON'])], []);
  assert.equal(parseJudgements('Here it is: {"verdicts": []}'), undefined);
});

test('[A35] long evidence is split into passages that overlap, and the ones with the words of the claim are selected', () => {
  const text = Array.from({ length: 300 }, (_, i) => `Line ${i} says that value ${i * 7} is usual.`).join('\n');
  const evidence = { source: { type: 'given', name: 'a' }, text } as const;
  const passages = splitPassages(evidence);
  assert.ok(passages.every((passage) => passage.text.length <= 1200 && text.startsWith(passage.text, passage.start)));
  for (let i = 0; i < 300; i++)
    assert.ok(passages.some((passage) => passage.text.includes(`Line ${i} says that value ${i * 7} is usual.`)));
  const [best] = createPassageSelector([evidence])({ text: 'Line 250 has the value 1750.' }, 3);
  assert.ok(best?.text.includes('Line 250 says'));
  assert.deepEqual(createPassageSelector([evidence])({ text: 'Nothing fits' }, 3), []);
});

test('[A25] requests have bounds: at most twelve claims and 30,000 characters', () => {
  const passages = splitPassages({ source: { type: 'given', name: 'a' }, text: 'word '.repeat(8000) });
  const tasks = Array.from({ length: 100 }, (_, i) => ({
    claim: { id: `c${i}`, text: 'x'.repeat(100), span: { start: 0, end: 1 } },
    passages: passages.slice(i % 20, (i % 20) + 5),
  }));
  const batches = createBatches(tasks);
  assert.equal(batches.flat().length, 100);
  assert.ok(batches.every((batch) => batch.length <= 12));
});

test('[A108] hostile text of 100 kB is read in linear time', () => {
  for (const piece of ['a', 'A', '1', '1,', '`', ' ', 'A.', "'", '٣', '不', 'n’t ', '[', '"']) {
    const text = piece.repeat(100_000 / piece.length);
    findQuotation(text, 'zz zz');
    findNumbers(text);
    findMissing({ text }, text);
    isNegated(text);
    parseJudgements(text);
    splitPassages({ source: { type: 'given', name: 'a' }, text });
  }
});
