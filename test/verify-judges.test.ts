// The judges of a verification as a user meets them: who they are before a text is sent, how they are named, and which quorum is possible.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { isObject, type JsonObject } from '../src/core/index.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel } from './support/scripted-judges.ts';

const models = ['qwen3', 'llama3.2', 'mistral-small'].map((id) => ({ id, tools: true, context: 32_768 }));

const readSystem = (body: JsonObject): string => {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
};

async function createJudged(t: TestContext): Promise<TestProgram> {
  const program = await createProgram(
    t,
    ({ model, prompt, body }) =>
      model === 'qwen3' ? 'The rover has six wheels.' : respondAsModel({ answers: true }, readSystem(body), prompt),
    { models },
  );
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'answer.md'), 'The rover has six wheels.\n');
  writeFileSync(path.join(program.cwd, 'notes.md'), 'The red rover has six big wheels.\n');
  return program;
}

const command = ['verify-claims', '--file', 'answer.md', '--against', 'notes.md', '--no-session'];

test('[A33] [A106] judges that the user did not choose are named with their host on standard error, also with --json', async (t) => {
  const program = await createJudged(t);
  const named = /^Judges: .*llama3\.2 at [\w.]+(?::\d+)?.*\. The answer and its evidence are sent to them/m;
  const json = await program.run([...command, '--json']);
  assert.match(json.err, named);
  assert.ok(Array.isArray((JSON.parse(json.out) as JsonObject)['judges']), 'standard output has the report alone');
  assert.match((await program.call(['-p', 'How many wheels?', '--verify'])).err, named);
  const chosen = await program.call([...command, '--judges', 'llama3.2,mistral-small']);
  assert.doesNotMatch(chosen.err, /Judges:/);
});

test('[A33] verify.judges is a list or a text; anything else is named in one sentence', async (t) => {
  const program = await createJudged(t);
  for (const value of ['["llama3.2","mistral-small"]', 'llama3.2, mistral-small', 'llama3.2 mistral-small']) {
    const set = await program.call(['config', 'set', 'verify.judges', value]);
    assert.equal(set.code, 0, set.err);
    const { out, err } = await program.call(command);
    assert.match(out, /Judges: llama3\.2 \(llama\), mistral-small \(mistral\); quorum 2/, err);
  }
  for (const value of ['[1, 2]', '["llama3.2"', '[["a"]]']) {
    const set = await program.call(['config', 'set', 'verify.judges', value]);
    assert.notEqual(set.code, 0);
    assert.match(set.err, /verify\.judges.*names of models: a list, or names separated by spaces or commas/);
  }
});

test('[A33] a quorum that no number of judges reaches is named in one sentence, before anything is sent', async (t) => {
  const program = await createJudged(t);
  const large = await program.call([...command, '--quorum', '99']);
  assert.equal(large.code, 2);
  assert.match(large.err, /^.*--quorum is at most 5, the largest number of judges, not 99\./m);
  const few = await program.call([...command, '--quorum', '3', '--judges', 'llama3.2 mistral-small']);
  assert.equal(few.code, 2);
  assert.match(few.err, /--quorum is 3, but --judges names 2: a quorum is not possible\./);
  const set = await program.call(['config', 'set', 'verify.quorum', '99']);
  assert.match(set.err, /a whole number from 1 to 5: there are at most 5 judges/);
  const alone = await program.call([...command, '--quorum', '4']);
  assert.match(alone.out, /^Not verified: .*No quorum: 4 model families other than the author's must vote, 3 can\./);
});
