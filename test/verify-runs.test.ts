// Verification in a session: --verify, the setting verify.answers and /verify, with the results of tools as evidence.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { findClaimsWithoutEvidence } from '../src/checks/index.ts';
import { isObject, messageText, type Event, type JsonObject } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel } from './support/scripted-judges.ts';
import { noTerminal } from './support/terminal.ts';

const models = ['qwen3', 'llama3.2', 'mistral-small'].map((id) => ({ id, tools: true, context: 32_768 }));

const readSystem = (body: JsonObject): string => {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
};

/** The author reads notes.md and then answers; the other models judge. */
async function createReader(t: TestContext, answer: string): Promise<TestProgram> {
  const program = await createProgram(
    t,
    ({ model, prompt, results, body }) => {
      if (model !== 'qwen3') return respondAsModel({ answers: true }, readSystem(body), prompt);
      return results.length === 0 ? calls('read_file', { path: 'notes.md' }) : says(answer);
    },
    { models },
  );
  await program.seedModels('qwen3');
  writeFileSync(
    path.join(program.cwd, 'notes.md'),
    '# Notes\n\nThe pump of the house runs at 40 bar.\nThe filter is changed in May.\n',
  );
  return program;
}

const readEvents = (program: TestProgram): readonly Event[] =>
  program
    .session(program.sessions()[0] ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);

const question = 'At how many bar does the pump of the house run?';

test('[A25] [A125] --verify: claims are verified with the results of the session, the false one is struck, the log has the evidence', async (t) => {
  const program = await createReader(t, 'The pump of the house runs at 40 bar. The filter is changed in June.');
  const { code, out, err } = await program.run(['-p', question, '--verify']);
  assert.equal(code, 0, err + out);
  assert.match(out, /^The pump of the house runs at 40 bar\. \[1\] ~~The filter is changed in June\.~~\n\nVerified: /);
  assert.match(out, /\[1\] event \d+: "The pump of the house runs at 40 bar"/);
  const events = readEvents(program);
  const record = events.find((event) => event.type === 'annotation-added' && event.key === 'verification');
  assert.ok(record?.type === 'annotation-added' && isObject(record.value) && record.value['outcome'] === 'verified');
  assert.ok(Array.isArray(record.value['claims']) && record.value['claims'].length === 2);
  assert.deepEqual(findClaimsWithoutEvidence(events), []);
  assert.ok(record.spent && Number(record.spent.input) > 0, 'the judges are part of the cost of the session');
});

test('[A2] [A36] --verify: an answer without evidence ends as an abstention with its own exit code, also in JSON', async (t) => {
  const program = await createReader(t, 'The pump of the house runs at 90 bar.');
  const { code, out } = await program.call(['-p', question, '--verify']);
  assert.equal(code, 6);
  assert.match(out, /^I don’t know: No claim of the answer is supported\./);
  const json = await program.call(['-p', question, '--verify', '--json']);
  assert.equal(json.code, 6);
  const result = JSON.parse(json.out) as JsonObject;
  assert.deepEqual(
    [result['reason'], isObject(result['verification']) && result['verification']['outcome']],
    ['abstained', 'abstained'],
  );
});

test('[A34] [A36] --verify: a program gets the answer with the false claim struck, and beside it what the model wrote', async (t) => {
  const answer = 'The pump of the house runs at 40 bar. The filter is changed in June.';
  const program = await createReader(t, answer);
  const { code, out, err } = await program.call(['-p', question, '--verify', '--json']);
  assert.equal(code, 0, err);
  const result = JSON.parse(out) as JsonObject;
  assert.equal(
    result['result'],
    'The pump of the house runs at 40 bar. [1] ~~The filter is changed in June.~~',
    'the answer that is handed on',
  );
  assert.equal(result['original_result'], answer);
  const turn = readEvents(program).findLast((event) => event.type === 'turn-ended');
  assert.ok(turn?.type === 'turn-ended' && messageText(turn.message) === answer, 'the log has the words of the model');
});

test('[A2] [A36] --verify: an abstention hands on no claim, also if the verification cannot run', async (t) => {
  const wrong = await createReader(t, 'The pump of the house runs at 90 bar.');
  const result = JSON.parse((await wrong.call(['-p', question, '--verify', '--json'])).out) as JsonObject;
  assert.match(String(result['result']), /^I don’t know: No claim of the answer is supported\./);
  assert.equal(result['original_result'], 'The pump of the house runs at 90 bar.');
  assert.equal((await wrong.call(['config', 'set', 'verify.judges', 'nothing'])).code, 0);
  const unknown = JSON.parse((await wrong.call(['-p', question, '--verify', '--json'])).out) as JsonObject;
  assert.match(String(unknown['result']), /^Not verified: There is no model "nothing"/);
});

test('[A26] --verify: a file path that is not in the workspace is contradicted, and one outside of it is not looked up', async (t) => {
  const answer = 'The pump of the house runs at 40 bar. See `docs/nowhere.md`. The file `../notes.md` exists.';
  const program = await createReader(t, answer);
  writeFileSync(path.join(program.cwd, '..', 'notes.md'), 'A secret.');
  const { out } = await program.call(['-p', question, '--verify']);
  assert.match(out, /contradicted See `docs\/nowhere\.md`\.\n +The file docs\/nowhere\.md does not exist\./);
  assert.match(out, /no evidence {2}The file `\.\.\/notes\.md` exists\./);
});

test('[A25] the setting verify.answers verifies every run; without it and without the flag no judge is asked', async (t) => {
  const program = await createReader(t, 'The pump of the house runs at 90 bar.');
  const plain = await program.call(['-p', question]);
  assert.equal(plain.code, 0);
  assert.ok(program.modelRequests().every(({ body }) => (body as JsonObject)['model'] === 'qwen3'));
  assert.equal((await program.call(['config', 'set', 'verify.answers', 'true'])).code, 0);
  assert.equal((await program.call(['-p', question])).code, 6);
});

test(
  '[A34] [A36] --verify at the prompt shows the answer again with the false claim struck',
  { skip: noTerminal() },
  async (t) => {
    const program = await createReader(t, 'The pump of the house runs at 40 bar. The filter is changed in June.');
    const terminal = await program.open(['--verify']);
    await terminal.waitFor(/qwen3/);
    await terminal.type(question);
    await terminal.keys('Enter');
    await terminal.waitFor(/with what is not supported struck out:[^]*runs at 40 bar\. \[1\]/);
  },
);

test('[A34] /verify verifies the last answer at the prompt', { skip: noTerminal() }, async (t) => {
  const program = await createReader(t, 'The pump of the house runs at 40 bar. The filter is changed in June.');
  const terminal = await program.open([]);
  await terminal.waitFor(/qwen3/);
  await terminal.type(question);
  await terminal.keys('Enter');
  await terminal.waitFor(/changed in June/);
  await terminal.type('/verify');
  await terminal.keys('Enter');
  await terminal.waitFor(/Verified: /);
  await terminal.waitFor(/contradicted/);
});

test('[A24] [A34] after kill -9 of a run with --verify, the resumed run is verified without the option', async (t) => {
  const program = await createReader(t, 'The pump of the house runs at 50 bar.');
  program.server.setScript(({ model, results }) =>
    model !== 'qwen3' || results.length > 0 ? says('', { hang: true }) : calls('read_file', { path: 'notes.md' }),
  );
  const running = program.start(['-p', question, '--verify', '-n', 'killed']);
  await waitUntil('the second request', () => program.modelRequests().length >= 2, 20_000);
  running.kill('SIGKILL');
  await running.ended;
  assert.match(program.session('killed'), /"verify\/required"/);
  program.server.setScript(({ model, prompt, body }) =>
    model === 'qwen3'
      ? says('The pump of the house runs at 50 bar.')
      : respondAsModel({ answers: true }, readSystem(body), prompt),
  );
  const resumed = await program.call(['-p', '/continue', '-r', 'killed']);
  assert.equal(resumed.code, 6, resumed.out + resumed.err);
  assert.match(resumed.out, /~~The pump of the house runs at 50 bar\.~~/);
  const later = await program.call(['-p', question, '-r', 'killed']);
  assert.equal(later.code, 0, later.out + later.err);
  assert.doesNotMatch(later.out, /~~/, 'a new run without the option is not verified');
});

test('[A34] [A36] a resumed and an exported transcript show the struck claims as struck, and an abstention as one', async (t) => {
  const program = await createReader(t, 'The pump of the house runs at 40 bar. The filter is changed in June.');
  assert.equal((await program.call(['-p', question, '--verify', '-n', 'talk'])).code, 0);
  const struck = /40 bar\. \[1\] ~~The filter is changed in June\.~~/;
  assert.match((await program.call(['sessions', 'export', 'talk'])).out, struck);
  const json = JSON.parse((await program.call(['sessions', 'export', 'talk', '--format', 'json'])).out) as JsonObject;
  assert.match(JSON.stringify(json['checkedAnswers']), struck);
  const html = (await program.call(['sessions', 'export', 'talk', '--format', 'html'])).out;
  assert.match(html, /<(?:del|s)>The filter is changed in June\.<\/(?:del|s)>/);
  const wrong = await createReader(t, 'The pump of the house runs at 50 bar.');
  assert.equal((await wrong.call(['-p', question, '--verify', '-n', 'talk'])).code, 6);
  const { out } = await wrong.call(['sessions', 'export', 'talk']);
  assert.match(
    out,
    /I don’t know: .*\n\nThe draft, which is not verified:\n\n~~The pump of the house runs at 50 bar\.~~/,
  );
});

test(
  '[A36] a session that is resumed at the prompt shows the answer with its struck claim',
  { skip: noTerminal() },
  async (t) => {
    const program = await createReader(t, 'The pump of the house runs at 40 bar. The filter is changed in June.');
    assert.equal((await program.call(['-p', question, '--verify', '-n', 'talk'])).code, 0);
    const terminal = await program.open(['-r', 'talk']);
    const screen = await terminal.waitFor(/40 bar\. \[1\]/);
    assert.match(screen, /The filter is changed in June\./);
    assert.equal(screen.match(/The filter is changed in June\./g)?.length, 1);
  },
);
