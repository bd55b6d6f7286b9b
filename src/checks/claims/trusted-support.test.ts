// Tests of what may support a claim: no output that the author chose, no source that a judge contradicts, no memory of models where there are documents.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createScriptedModel, type ScriptedModelOptions } from '../../../test/support/scripted-judges.ts';
import type { Evidence, VerifyModel } from '../types.ts';
import { verifyAnswer } from './verify-answer.ts';

const author = { name: 'anthropic/claude-opus-4.8', family: 'claude' };
const panel = (first: ScriptedModelOptions = {}, second: ScriptedModelOptions = {}): readonly VerifyModel[] => [
  createScriptedModel('openai/gpt-5', 'gpt', first),
  createScriptedModel('google/gemini-3', 'gemini', second),
];
const given = (text: string, more: Partial<Evidence> = {}): Evidence => ({
  source: { type: 'given', name: 'notes' },
  text,
  ...more,
});

test('[A125] [A108] output that the author chose supports no claim, also if every judge agrees; it may contradict one', async () => {
  const answer = 'The city of Sydney is the capital of Australia.';
  const question = 'What is the capital of Australia?';
  const chosen = given(answer, { isChosen: true });
  const judges = panel();
  const report = await verifyAnswer({ question, answer, author, judges, evidence: [chosen] });
  assert.equal(report.outcome, 'not-verified');
  assert.match(report.claims[0]?.votes?.[0]?.why ?? '', /could choose/);
  const against = given('The city of Canberra is the capital of Australia.', { isChosen: true });
  const contradicted = await verifyAnswer({ question, answer, author, judges, evidence: [against] });
  assert.equal(contradicted.claims[0]?.verdict.type, 'contradicted');
});

test('[A125] the output of a command supports a claim about that output, by judges, if the question is about it', async () => {
  const answer = 'The test of the parser printed 3 failures.';
  const evidence = [given('The test of the parser printed 3 failures', { isChosen: true })];
  const ask = (question: string, judges: readonly VerifyModel[]): Promise<{ readonly outcome: string }> =>
    verifyAnswer({ question, answer, author, judges, evidence });
  assert.equal((await ask('What did the test of the parser print?', panel())).outcome, 'verified');
  assert.notEqual((await ask('What did the test of the parser print?', [])).outcome, 'verified');
  assert.notEqual((await ask('Is the parser good?', panel())).outcome, 'verified');
});

const filled = 'Lake Burley Griffin was filled in 1964.';
const quotation = 'The gates of the Griffin dam closed a decade later, so that water came in then.';

test('[A33] [A35] a judge can contradict what a source has word for word, by a quotation that exists; without judges the exact verdict stands', async () => {
  const evidence = [given(`${filled}\n\n${quotation}`)];
  const run = (judges: readonly VerifyModel[]): ReturnType<typeof verifyAnswer> =>
    verifyAnswer({ answer: filled, author, evidence, judges });
  const objects: ScriptedModelOptions = { judge: () => ({ verdict: 'contradicted', passage: 1, quotation }) };
  const exact = await run([]);
  assert.deepEqual([exact.outcome, exact.spent.requests], ['verified', 0]);
  assert.equal((await run(panel())).outcome, 'verified');
  for (const judges of [panel(objects), panel(objects).slice(0, 1)]) {
    const disputed = await run(judges);
    assert.deepEqual([disputed.outcome, disputed.claims[0]?.verdict.type], ['abstained', 'unverifiable']);
    assert.match(disputed.claims[0]?.verdict.why ?? '', /gpt-5 quotes words that contradict it: "The gates of/);
  }
  for (const wrong of ['The gates of the dam are open.', filled]) {
    const forged = { judge: () => ({ verdict: 'contradicted', passage: 1, quotation: wrong }) };
    assert.equal((await run(panel(forged))).outcome, 'verified', wrong);
  }
  assert.equal((await run(panel({ always: new Error('down') }, { always: 'x' }))).outcome, 'verified', 'no vote');
});

test('[A35] what was computed is not sent to judges', async () => {
  const judges = panel({ judge: () => ({ verdict: 'contradicted', passage: 1, quotation: 'two' }) });
  const report = await verifyAnswer({ answer: '2 + 2 = 4', author, judges, evidence: [given('two and two')] });
  assert.deepEqual([report.outcome, report.spent.requests], ['verified', 0]);
});

test('[A28] [A67] with documents, what models remember supports nothing unless it is asked for', async () => {
  const question = 'Which firm filled the lake?';
  const answer = 'The firm Acme filled the lake.';
  const knows: ScriptedModelOptions = { answer: () => answer, plan: () => 'Which firm was it?', answers: true };
  const run = (options: Partial<Parameters<typeof verifyAnswer>[0]>): ReturnType<typeof verifyAnswer> =>
    verifyAnswer({ question, answer, author, judges: panel(knows, knows), chain: true, ...options });
  assert.equal((await run({})).outcome, 'verified');
  const documents = { evidence: [given('A note on the lake, on Acme, and on a firm.')] };
  assert.equal((await run(documents)).outcome, 'abstained');
  assert.equal((await run({ search: async () => [] })).outcome, 'abstained');
  assert.equal((await run({ ...documents, independent: false })).outcome, 'abstained');
  assert.equal((await run({ ...documents, independent: true })).outcome, 'verified');
});

test('[A25] exact checks of many claims let other work run, and end at the deadline or at an abort', async () => {
  const answer = Array.from({ length: 900 }, (_, i) => `The lake ${i} is "deep and blue ${i} today".`).join(' ');
  const evidence = Array.from({ length: 60 }, (_, i): Evidence => ({
    source: { type: 'given', name: `n${i}` },
    text: 'The lake is deep. '.repeat(200),
  }));
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const late = await verifyAnswer({ answer, evidence, budget: { ms: 30 } });
  clearInterval(timer);
  assert.ok(ticks > 0);
  assert.deepEqual([late.outcome, /time limit of 30 ms|time limit is reached/.test(late.why)], ['abstained', true]);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 20);
  await assert.rejects(verifyAnswer({ answer, evidence, signal: controller.signal }), /enough/);
});

test('[A25] an answer with too many claims is not verified, and its report lists none of them', async () => {
  const report = await verifyAnswer({ question: 'q?', answer: '- a\n'.repeat(50_000) });
  assert.deepEqual([report.outcome, report.claims, report.answer], ['not-verified', [], '']);
  assert.match(report.why, /^The answer has 50000 claims; at most 1000 are verified\.$/);
});
