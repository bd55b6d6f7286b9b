// Verification in a fleet: a worker verifies the answer of a queued run, and the steps of a plan that ask for it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { isObject, type JsonObject } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel } from './support/scripted-judges.ts';

const models = ['qwen3', 'llama3.2', 'mistral-small'].map((id) => ({ id, tools: true, context: 32_768 }));

const readSystem = (body: JsonObject): string => {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
};

const question = 'At how many bar does the pump of the house run?';

const planSteps = [
  { id: 'read', task: question, after: [], verify: true },
  { id: 'report', task: 'Write a report.', after: ['read'] },
];

/** A program whose author reads notes.md and answers; the other models judge. */
async function createFleetProgram(t: TestContext, answer: string): Promise<TestProgram> {
  const program = await createProgram(
    t,
    ({ model, prompt, results, body }) => {
      if (model !== 'qwen3') return respondAsModel({ answers: true }, readSystem(body), prompt);
      if (prompt.includes('Make a plan')) return says(JSON.stringify({ steps: planSteps }));
      return results.length === 0 ? calls('read_file', { path: 'notes.md' }) : says(answer);
    },
    { models },
  );
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'notes.md'), '# Notes\n\nThe pump of the house runs at 40 bar.\n');
  return program;
}

async function runQueued(program: TestProgram, ...options: readonly string[]): Promise<JsonObject> {
  const queued = await program.run(['enqueue', question, '--id', 'r1', ...options]);
  assert.equal(queued.code, 0, queued.err);
  const worked = await program.run(['worker', '--drain']);
  assert.equal(worked.code, 0, worked.err);
  const shown = await program.run(['runs', 'show', 'r1', '--json']);
  assert.equal(shown.code, 0, shown.err);
  return JSON.parse(shown.out) as JsonObject;
}

const outcomeOf = (shown: JsonObject): JsonObject => {
  const run = isObject(shown['run']) ? shown['run'] : shown;
  return isObject(run['outcome']) ? run['outcome'] : assert.fail(JSON.stringify(shown));
};

test('[A25] a worker verifies the answer of a queued run; a wrong one ends as an abstention', async (t) => {
  const good = outcomeOf(
    await runQueued(await createFleetProgram(t, 'The pump of the house runs at 40 bar.'), '--verify'),
  );
  assert.equal(good['reason'], 'answered', JSON.stringify(good));
  const wrong = await createFleetProgram(t, 'The pump of the house runs at 90 bar.');
  const bad = outcomeOf(await runQueued(wrong, '--verify'));
  assert.equal(bad['reason'], 'abstained', JSON.stringify(bad));
  assert.match(String(bad['detail']), /No claim of the answer is supported/);
  assert.match(String(bad['text']), /^I don’t know: No claim of the answer is supported/);
  assert.equal(bad['originalText'], 'The pump of the house runs at 90 bar.');
});

test('[A34] [A36] the next step of a plan reads the verified answer with the false claim struck', async (t) => {
  const program = await createFleetProgram(t, 'The pump of the house runs at 40 bar. The filter is changed in June.');
  writeFileSync(
    path.join(program.cwd, 'tasks.jsonl'),
    JSON.stringify({ prompt: 'Look after the pump.', kind: 'plan' }),
  );
  const queued = await program.call(['enqueue', '--file', 'tasks.jsonl']);
  assert.equal(queued.code, 0, queued.err);
  const worked = await program.call(['worker', '--drain']);
  assert.equal(worked.code, 0, worked.err);
  const prompts = program.modelRequests().map(({ body }) => JSON.stringify(body));
  const report = prompts.filter((each) => each.includes('Write a report.') && each.includes('the result of step read'));
  assert.ok(report.length > 0, 'the step was asked');
  for (const each of report) {
    assert.match(each, /~~The filter is changed in June\.~~/);
    assert.doesNotMatch(each, /(?<!~~)The filter is changed in June/);
  }
});

test('[A25] without the setting no judge is asked', async (t) => {
  const program = await createFleetProgram(t, 'The pump of the house runs at 90 bar.');
  assert.equal(outcomeOf(await runQueued(program))['reason'], 'answered');
  assert.ok(program.modelRequests().every(({ body }) => (body as JsonObject)['model'] === 'qwen3'));
});
