// Tests the selection of the model: the saved list, the last one used, errors of one-shot runs, and questions to the user.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { enterLine } from './support/tui.ts';
import { answerPrompt, waitForExitCode, createProgram, type TestProgram, waitUntil } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const prompt = /^> *$/m;

const getRequestedModels = (program: TestProgram): readonly string[] =>
  program.modelRequests().map(({ body }) => (body as { readonly model: string }).model);
const readKnownModels = (program: TestProgram): readonly { readonly id: string; readonly tools: unknown }[] =>
  readFileSync(program.state('models.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; tools: unknown });
const readPreviousModel = (program: TestProgram): string =>
  readFileSync(program.state('previous_model_name'), 'utf8').trim();

for (const [provider, listing, chat, style] of [
  ['ollama', '/api/tags', '/api/chat', undefined],
  ['lm-studio', '/api/v1/models', '/v1/chat/completions', 'lm-studio'],
  ['lemonade', '/api/v1/models', '/api/v1/chat/completions', 'lemonade'],
] as const) {
  test(`[J1, J81, J82, J86, J89, J90, J91] ${provider}: found by its address, listed with the capabilities of each model, queried, and saved`, async (t) => {
    const program = await createProgram(t, undefined, style ? { listingStyle: style } : {});
    const env = { HARNESS_INFERENCE_PROVIDER: provider };
    const listed = await program.run(['--one-shot', '--refresh-models'], { env });
    assert.deepEqual(listed, { code: 0, out: 'qwen3\ntiny\n', err: '' });
    assert.ok(program.server.requests.some(({ path: at }) => at === listing));
    assert.deepEqual(
      readKnownModels(program).map(({ id, tools }) => [id, tools]),
      [
        ['qwen3', true],
        ['tiny', false],
      ],
    );
    program.server.clearRequests();
    const first = await program.call(['--one-shot', '--prompt', 'hi', '--model-name', 'qwen3'], { env });
    assert.deepEqual(first, { code: 0, out: 'You said: hi\n', err: '' });
    assert.equal(existsSync(program.state('previous_model_name')), false, 'a one-shot changes no default');
    writeFileSync(program.state('previous_model_name'), 'qwen3\n');
    const second = await program.call(['--one-shot', '--prompt', 'again'], { env });
    assert.equal(second.code, 0, second.err);
    assert.deepEqual(getRequestedModels(program), ['qwen3', 'qwen3']);
    assert.deepEqual(new Set(program.modelRequests().map(({ path: at }) => at)), new Set([chat]));
    assert.ok(!program.server.requests.some(({ path: at }) => at === listing), 'the saved list was used');
  });
}

test('[J81, J82] the default provider is ollama at http://localhost:11434', async (t) => {
  const program = await createProgram(t);
  const { out, err } = await program.call(['--one-shot', '--test-connection'], { env: { OLLAMA_API_URL: '' } });
  assert.match(out + err, /ollama.*(localhost|127\.0\.0\.1):11434|^ollama answers/);
  const wrong = await program.call(['--one-shot', '-p', 'x'], { env: { HARNESS_INFERENCE_PROVIDER: 'nobody' } });
  assert.deepEqual([wrong.code, wrong.out], [1, '']);
  assert.match(wrong.err, /HARNESS_INFERENCE_PROVIDER must be one of .*ollama, lm-studio, lemonade.*, not "nobody"/);
  assert.equal(program.server.requests.length, 0);
});

/** Lists are fetched only after a yes, as the setting `refresh` demands. */
function askBeforeRefresh(program: TestProgram): void {
  mkdirSync(program.config(), { recursive: true });
  writeFileSync(program.config('config.json'), '{"refresh":"ask"}');
}

test('[J35, J36, J37, J67, J68] with refresh "ask", a one-shot run without a known model stops with one sentence and no request', async (t) => {
  const program = await createProgram(t);
  askBeforeRefresh(program);
  writeFileSync(path.join(program.cwd, 'q.md'), 'hi');
  const stopped = async (args: readonly string[], said: RegExp, expected = 1): Promise<void> => {
    const { code, out, err } = await program.call(['--one-shot', ...args]);
    assert.deepEqual([code, out], [expected, ''], err);
    assert.match(err, said);
    assert.equal(err.split('\n').length, 2, 'one sentence and no stack trace');
  };
  const noList =
    /^The models of ollama \(http\S+\) are unknown\. Fetch the list first: fairlead --one-shot --refresh-models$/m;
  await stopped(['-p', 'hi'], noList);
  await stopped(['-P', 'q.md'], noList);
  await stopped(['-p', 'hi', '-m', 'qwen3'], noList);
  await program.seedModels();
  await stopped(
    ['-p', 'hi'],
    /^No model configured: name one with --model, such as --model qwen3, or run fairlead in a terminal/m,
    2,
  );
  writeFileSync(program.state('previous_model_name'), 'gone\n');
  await stopped(['-p', 'hi'], /^ollama \(http\S+\) has no model "gone"\./m);
  await stopped(['-P', 'q.md', '-m', 'qwen'], /^ollama \(http\S+\) has no model "qwen"\. Did you mean qwen3\?$/m);
  writeFileSync(program.state('previous_model_name'), 'qwen3\n');
  writeFileSync(program.state('models.jsonl'), '');
  await stopped(['-p', 'hi'], noList);
  assert.deepEqual(program.server.requests, []);
  assert.deepEqual(program.sessions(), []);
  assert.equal(readPreviousModel(program), 'qwen3');
});

test(
  '[J26, J69, J70, J86, J91] interactive without a list and with refresh "ask": asks whether to fetch it; no ends the program, yes fetches and saves it',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    askBeforeRefresh(program);
    const question = /The models of ollama \(http\S+\) are unknown\. Fetch the list now\? \[y\/N\]/;
    const refused = await program.open([]);
    await answerPrompt(refused, question, 'n', 'Enter');
    assert.equal(await waitForExitCode(refused), 1);
    assert.deepEqual(program.server.requests, []);
    await program.seedModels('qwen3');
    rmSync(program.state('models.jsonl'));
    const accepted = await program.open([]);
    await answerPrompt(accepted, question, 'y', 'Enter');
    await accepted.waitFor(/2 models at ollama[^]*Fairlead with qwen3/);
    assert.equal(readKnownModels(program).length, 2);
    program.server.clearRequests();
    const later = await program.open([]);
    await later.waitFor(/Fairlead with qwen3/);
    assert.ok(!program.server.requests.some(({ path: at }) => at === '/api/tags'), 'the saved list was used');
  },
);

test(
  '[J11, J27, J71] interactive after a refresh: the model of the flag if it is in the list, otherwise the user must choose',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    rmSync(program.state('models.jsonl'));
    const flagged = await program.open(['--model', 'tiny']);
    await flagged.waitFor(/Fairlead with tiny/);
    rmSync(program.state('models.jsonl'));
    const unknown = await program.open(['--model-name', 'missing']);
    await unknown.waitFor(/ollama \(http\S+\) has no model "missing"\. Which one instead\?/);
    await answerPrompt(unknown, /qwen3/, 'Down', 'Enter');
    await unknown.waitFor(/Fairlead with tiny/);
    await enterLine(unknown, 'hi');
    await unknown.waitFor(/You said: hi/);
    assert.deepEqual(getRequestedModels(program), ['tiny']);
    // It is saved once it has answered, a moment after the answer is shown.
    await waitUntil('the saved model has changed', () => readPreviousModel(program) === 'tiny');
    const next = await program.open([]);
    await next.waitFor(/Fairlead with tiny/);
  },
);

test(
  '[J28, J67, J87] interactive: without a previous model, or with a removed one, a model must be chosen before the prompt',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await program.seedModels();
    const none = await program.open([]);
    const screen = await none.waitFor(
      /Which model\? Your text goes to this machine\.\n> *\n.*qwen3.*\n.*tiny.*cannot call tools/,
    );
    assert.doesNotMatch(screen, /Fairlead with/);
    await enterLine(none, '/help');
    await answerPrompt(none, /> \/help/, 'Escape');
    assert.equal(await waitForExitCode(none), 1, 'cancelling the choice ends the program');
    writeFileSync(program.state('previous_model_name'), 'gone\n');
    const gone = await program.open([]);
    await answerPrompt(gone, /has no model "gone"\. Which one instead\?/, 'Enter');
    await gone.waitFor(/Fairlead with qwen3/);
    await gone.waitFor(prompt);
    assert.deepEqual(getRequestedModels(program), []);
  },
);
