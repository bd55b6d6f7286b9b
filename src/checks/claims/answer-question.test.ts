// Tests of answered questions: best-of-N, ensemble, samples that refuse, and grounding.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createScriptedModel, type ScriptedModel } from '../../../test/support/scripted-judges.ts';
import type { Evidence } from '../types.ts';
import { answerQuestion, type AnswerQuestionOptions, type AnswerReport } from './answer-question.ts';

const question = 'What is the capital of Australia?';
const good = 'Canberra is the capital of Australia.';
const longGood = 'Canberra is the capital of Australia. Canberra is the capital of Australia today.';
const bad = 'Sydney is the capital of Australia.';

const createAuthor = (...drafts: readonly string[]): ScriptedModel => {
  let next = 0;
  return createScriptedModel('anthropic/claude-opus-4.8', 'claude', {
    answer: () => drafts[Math.min(next++, drafts.length - 1)] ?? '',
  });
};

const knows = { answer: () => good };
const panel = (): readonly ScriptedModel[] => [
  createScriptedModel('openai/gpt-5', 'gpt', knows),
  createScriptedModel('google/gemini-3', 'gemini', knows),
];

const answer = (author: ScriptedModel, options: Partial<AnswerQuestionOptions> = {}): Promise<AnswerReport> =>
  answerQuestion({ question, author, judges: panel(), ...options });

test('[A31] [A80] of several drafts the one with the best verification is returned, and ties go to the shortest', async () => {
  const report = await answer(createAuthor(bad, longGood, good), { drafts: 3 });
  assert.deepEqual([report.outcome, report.draft], ['verified', good]);
  assert.deepEqual(
    report.drafts.map(({ supported, claims }) => [supported, claims]),
    [
      [0, 1],
      [1, 2],
      [1, 1],
    ],
  );
  const evidence: Evidence = {
    source: { type: 'given', name: 'a' },
    text: `${good} The lake of Canberra is in the city.`,
  };
  const longer = `${good} The lake of Canberra is in the city.`;
  const tied = await answer(createAuthor(longer, good), { drafts: 2, evidence: [evidence] });
  assert.deepEqual([tied.drafts.map(({ outcome }) => outcome), tied.draft], [['verified', 'verified'], good]);
  const alone = await answer(createAuthor(bad, good), { drafts: 1 });
  assert.notEqual(alone.outcome, 'verified');
});

test('[A28] [A80] the ensemble is asked once for all drafts, without sight of them', async () => {
  const judges = panel();
  await answer(createAuthor(bad, longGood, good), { drafts: 3, judges });
  for (const { prompts } of judges) assert.equal(prompts.filter((prompt) => prompt === question).length, 1);
});

test('[A27] samples that disagree refuse an answer that only models support; they never certify one', async () => {
  const mixed = ['Canberra is the capital of Australia.', 'Sydney.', 'Perth.', 'Melbourne.', 'Hobart.'];
  const refused = await answer(createAuthor(...mixed), { samples: 5 });
  assert.deepEqual([refused.outcome, refused.verifiedText, refused.uncertainty?.outcome], ['abstained', '', 'refuse']);
  const agreeing = await answer(createAuthor(good), { samples: 5 });
  assert.deepEqual([agreeing.outcome, agreeing.uncertainty?.outcome], ['verified', 'no-objection']);
  const alone = await answer(createAuthor(bad), { samples: 5, judges: [] });
  assert.equal(alone.uncertainty?.outcome, 'no-objection', 'five equal samples');
  assert.equal(alone.outcome, 'not-verified', 'agreement of one model is no evidence');
});

test('[A106] ground, then generate: the draft is written from passages that the search found, and cites them', async () => {
  const source = { type: 'document', path: 'docs/a.md', lines: [3, 3], hash: 'ab'.repeat(32) } as const;
  const title = '# Australia\n\n';
  const whole: Evidence = { source, text: `${title}${good}\n` };
  const evidence: Evidence = { source, text: good, within: () => ({ whole, start: title.length }) };
  const queries: string[] = [];
  const author = createAuthor(good);
  const report = await answer(author, {
    judges: [],
    search: async (query) => {
      queries.push(query);
      return [evidence];
    },
  });
  assert.deepEqual([report.outcome, report.answer], ['verified', `${good} [1]`]);
  assert.equal(queries[0], question, 'the search comes before the draft');
  assert.match(author.prompts[0] ?? '', /<outside-text from="passage 1">\nCanberra/);
  assert.deepEqual(report.citations[0]?.evidence.source, evidence.source);
});

test('[A25] [A32] an author that fails or refuses, or a budget that does not reach, never gives a verified answer', async () => {
  const broken = createScriptedModel('anthropic/claude-opus-4.8', 'claude', { always: new Error('no connection') });
  const failed = await answer(broken);
  assert.deepEqual([failed.outcome, failed.verifiedText], ['not-verified', '']);
  assert.match(failed.why, /no connection/);
  assert.equal((await answer(createAuthor('I do not know.'))).outcome, 'abstained');
  for (const budget of [{ requests: 2 }, { ms: 0 }, { tokens: 10 }]) {
    const report = await answer(createAuthor(good), { budget });
    assert.deepEqual([report.outcome, report.verifiedText], ['abstained', ''], JSON.stringify(budget));
  }
});

test('[A27] [A29] samples of long answers are compared by a judge of another family, and count differently', async () => {
  const long = `${good} ${Array.from({ length: 60 }, (_, i) => `Suburb${i} is a part of it.`).join(' ')}`;
  const author = createAuthor(...Array.from({ length: 5 }, (_, i) => `${long} Draft ${i}.`));
  const judges = panel();
  const report = await answer(author, { samples: 5, judges });
  assert.equal(report.uncertainty?.version, 'entailment-1');
  // These judges say neither yes nor no, so no two samples are equal.
  assert.equal(report.uncertainty.outcome, 'refuse');
  assert.ok(judges[0]?.prompts.some((prompt) => prompt.includes('Does the first answer imply the second?')));
  assert.ok(author.prompts.every((prompt) => !prompt.includes('imply')));
  assert.equal((await answer(createAuthor(good), { samples: 5 })).uncertainty?.version, 'samples-1');
});
