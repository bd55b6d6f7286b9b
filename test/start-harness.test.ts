// Tests the first start of start-harness-jayjader in an empty home: what it asks, what it refuses, and what it never sends; and /session edit on the log.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { scriptedServer } from '../src/testing/index.ts';
import { answerPrompt, bin, requestMessages, waitForExitCode } from './support/cli-harness.ts';
import { createStartHarness, type StartHarness } from './support/start-harness.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const asksToRefresh = /\? The models of ollama \(\S+\) are unknown\. Fetch the list now\?/;
const promptLine = /^> *$/m;

/** Writes the list of models and the last model as an earlier start did. */
async function seed(harness: StartHarness, previous?: string): Promise<void> {
  const { code, err } = await harness.run(['--one-shot', '--refresh-models']);
  assert.equal(code, 0, err);
  if (previous !== undefined) writeFileSync(harness.state('previous_model_name'), `${previous}\n`);
  harness.server.clearRequests();
}

test('[J36, J67, J68] one-shot: without a list, with an empty list, without a previous model, or with one that is not listed, a warning goes to stderr and nothing is sent', async (t) => {
  const harness = await createStartHarness(t);
  const refuse = async (args: readonly string[], warning: RegExp): Promise<void> => {
    const { code, out, err } = await harness.run(['--one-shot', ...args]);
    assert.notEqual(code, 0);
    assert.equal(out, '');
    assert.match(err, warning);
    assert.deepEqual(harness.server.requests, [], 'no request of any kind');
  };
  const unknownList =
    /^The models of ollama \(\S+\) are unknown\. Fetch the list first: start-harness-jayjader --one-shot --refresh-models\n$/;
  const file = path.join(harness.cwd, 'prompt.md');
  writeFileSync(file, 'hi');
  await refuse(['--prompt', 'hi'], unknownList);
  await refuse(['--prompt-file', file], unknownList);
  await refuse(['--prompt', 'hi', '--model', 'qwen3'], unknownList);
  mkdirSync(harness.state(), { recursive: true });
  writeFileSync(harness.state('models.jsonl'), '');
  writeFileSync(harness.state('previous_model_name'), 'qwen3\n');
  await refuse(['--prompt', 'hi'], unknownList);
  writeFileSync(harness.state('previous_model_name'), '');
  await seed(harness);
  await refuse(['--prompt', 'hi'], /^No model configured: name one with --model, such as --model qwen3,/);
  await seed(harness, 'gone');
  await refuse(['--prompt', 'hi'], /^ollama \(\S+\) has no model "gone"\./);
  await seed(harness, 'qwen3');
  assert.deepEqual(await harness.run(['--one-shot', '--prompt', 'hi']), { code: 0, out: 'You said: hi\n', err: '' });
});

test(
  '[J26, J69] interactive without a list: the program asks before it contacts the provider, and a no ends it',
  { skip },
  async (t) => {
    const harness = await createStartHarness(t);
    for (const key of ['n', 'Escape']) {
      const terminal = await harness.open([]);
      await answerPrompt(terminal, asksToRefresh, ...(key === 'n' ? ['n', 'Enter'] : [key]));
      assert.notEqual(await waitForExitCode(terminal), 0);
      assert.deepEqual(harness.server.requests, [], 'nothing was asked');
    }
  },
);

test(
  '[J26, J28, J67, J86] a yes fetches the list, and a model must be chosen before any prompt or command',
  { skip },
  async (t) => {
    const harness = await createStartHarness(t);
    const terminal = await harness.open(['--interactive']);
    await answerPrompt(terminal, asksToRefresh, 'y', 'Enter');
    const screen = await terminal.waitFor(
      /Which model\? Your text goes to this machine\.[^]*qwen3\n *tiny +cannot call tools/,
    );
    assert.doesNotMatch(screen, /with qwen3/);
    assert.deepEqual(harness.modelRequests(), []);
    await answerPrompt(terminal, /Which model\?/, 'Enter');
    await terminal.waitFor(/with qwen3, session "\d{4}-/);
    await terminal.waitFor(promptLine);
    await terminal.type('hello');
    await terminal.keys('Enter');
    await terminal.waitFor(/^You said: hello$/m);
    assert.equal(readFileSync(harness.state('previous_model_name'), 'utf8'), 'qwen3\n');
    await terminal.keys('C-d');
    assert.equal(await waitForExitCode(terminal), 0);
    const left = await harness.open([], { env: { HARNESS_ROOT_DIRS_NAME: 'other' } });
    await answerPrompt(left, asksToRefresh, 'y', 'Enter');
    await answerPrompt(left, /Which model\?/, 'Escape');
    assert.notEqual(await waitForExitCode(left), 0, 'without a choice there is no prompt');
  },
);

test(
  '[J70, J71, J87] after a refresh the flag, then the previous model decides; one that is not listed must be replaced',
  { skip },
  async (t) => {
    const harness = await createStartHarness(t);
    mkdirSync(harness.state(), { recursive: true });
    const emptyList = (previous: string): void => {
      writeFileSync(harness.state('models.jsonl'), '');
      writeFileSync(harness.state('previous_model_name'), `${previous}\n`);
    };
    emptyList('tiny');
    const previous = await harness.open([]);
    await answerPrompt(previous, asksToRefresh, 'y', 'Enter');
    await previous.waitFor(/with tiny, session/);
    await previous.kill();
    emptyList('tiny');
    const flagged = await harness.open(['-m', 'qwen3']);
    await answerPrompt(flagged, asksToRefresh, 'y', 'Enter');
    await flagged.waitFor(/with qwen3, session/);
    await flagged.kill();
    writeFileSync(harness.state('previous_model_name'), 'gone\n');
    const gone = await harness.open([]);
    await answerPrompt(gone, /has no model "gone"[^]*Which one instead\?[^]*qwen3/, 'Enter');
    await gone.waitFor(/with qwen3, session/);
  },
);

test('[J101] keys of companies in the environment are not used: no word leaves the machine unless the user names a provider elsewhere', async (t) => {
  const elsewhere = await scriptedServer(() => 'From far away.', { models: [{ id: 'far' }] });
  t.after(() => elsewhere.close());
  const env = {
    ANTHROPIC_API_KEY: 'sk-ant-1',
    ANTHROPIC_BASE_URL: elsewhere.url,
    OPENAI_API_KEY: 'sk-2',
    OPENAI_BASE_URL: `${elsewhere.url}/v1`,
  };
  const harness = await createStartHarness(t);
  const secret = 'a private sentence';
  for (const file of [undefined, bin]) {
    const options = { env, ...(file === undefined ? {} : { file }) };
    await harness.run(['--one-shot', '-p', secret], options);
    await harness.run(['--one-shot', '--refresh-models'], options);
    await harness.run(['--one-shot', '-p', secret], options);
    await harness.run(['--one-shot', '-p', secret, '-m', 'qwen3'], options);
    await harness.run(['--interactive', '-m', 'qwen3'], { ...options, input: `${secret}\n` });
    const alone = { ...options, env: { ...env, OLLAMA_API_URL: '' } };
    await harness.run(['--one-shot', '-p', secret, '-n', 'alone'], alone);
  }
  assert.deepEqual(elsewhere.requests, []);
  assert.ok(harness.modelRequests().length >= 4, 'the server of this machine answered');
  const chosen = await harness.run(['--one-shot', '-p', 'hello', '-m', 'openai/far'], { env });
  assert.equal(chosen.code, 0, chosen.err);
  assert.ok(elsewhere.requests.length > 0, 'a named provider is used');
});

test(
  '[J3, J8, J59, J61, J93] /session edit opens the log file in a split of tmux, reads it again, and /continue sends what it says now',
  { skip },
  async (t) => {
    const harness = await createStartHarness(t, ({ index }) => `Answer ${index}.`);
    await seed(harness, 'qwen3');
    const editor = path.join(harness.home, 'editor.sh');
    writeFileSync(
      editor,
      [
        'printf %s "$1" > "$HOME/name"; tmux list-panes | wc -l > "$HOME/panes"',
        // The last line of the file is the answer: it is removed with the end of its run; then the question is changed.
        `node -e '
const fs = require("node:fs");
const lines = fs.readFileSync(process.argv[1], "utf8").trimEnd().split("\\n");
const cut = lines.findIndex((line) => line.includes("turn-started"));
const kept = lines.slice(0, cut).map((line) => line.replace("first words", "better words"));
fs.writeFileSync(process.argv[1], kept.join("\\n") + "\\n");
' "$1"`,
      ].join('\n'),
    );
    const env = { EDITOR: `sh ${editor}`, PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
    const terminal = await harness.open(['-n', 'talk'], { env });
    await terminal.waitFor(promptLine);
    await terminal.type('first words');
    await terminal.keys('Enter');
    await terminal.waitFor(/^Answer 0\.$/m);
    const log = harness.data('sessions/session_talk.jsonl');
    await terminal.type('/session edit');
    await terminal.keys('Enter');
    await terminal.waitFor(/The edit is recorded as a new branch/);
    assert.equal(readFileSync(path.join(harness.home, 'name'), 'utf8'), log);
    assert.equal(readFileSync(path.join(harness.home, 'panes'), 'utf8').trim(), '2');
    await terminal.type('/continue');
    await terminal.keys('Enter');
    await terminal.waitFor(/^Answer 1\.$/m);
    assert.deepEqual(requestMessages(harness.modelRequests().at(-1)), [{ role: 'user', content: 'better words' }]);
    await terminal.keys('C-d');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(readFileSync(log, 'utf8'), /"type":"branch-started"[^\n]*"edited"/);
    const { code, out } = await harness.run(['sessions', 'verify', 'talk']);
    assert.equal(code, 0, out);
  },
);

test('[J8, J59, J62] outside tmux /session edit and /editor say that they need tmux, and change nothing', async (t) => {
  const harness = await createStartHarness(t);
  await seed(harness, 'qwen3');
  const env = { EDITOR: 'false' };
  const { code, out } = await harness.run(['--interactive', '-n', 'talk'], {
    env,
    input: 'hello\n/session edit\n/editor x\nagain\n',
  });
  assert.equal(code, 0);
  assert.equal(out.match(/An editor opens only inside tmux/g)?.length, 2);
  assert.equal(requestMessages(harness.modelRequests().at(-1)).at(-1)?.['content'], 'again');
  const allowed = await harness.run(['--interactive', '-n', 'two', '--profile', 'fairlead', '-m', 'qwen3'], {
    env,
    input: 'hello\n/editor x\n',
  });
  assert.match(allowed.out, /The editor \(false\) exited with code 1/);
});
