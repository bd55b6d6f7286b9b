// Tests the interactive mode in a real terminal and one-shot runs in a pipe.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, callsThenAnswer, closedUrl, says } from '../src/testing/index.ts';
import { enterLine } from './support/tui.ts';
import {
  answerPrompt,
  waitForExitCode,
  requestMessages,
  createProgram,
  requestToolNames,
} from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const prompt = /^> *$/m;
const dateName = /^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d+)?$/;

test(
  '[J2, J17, J25, J29, J30, J48, A72] no arguments, --interactive and chat open the same prompt, which accepts messages and commands repeatedly',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    const terminals = await Promise.all([[], ['--interactive'], ['chat']].map((args) => program.open(args)));
    for (const terminal of terminals) {
      await terminal.waitFor(/Fairlead with qwen3, session "\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d)?"/);
      await terminal.waitFor(prompt);
    }
    const [first] = terminals;
    assert.ok(first);
    await enterLine(first, 'good morning');
    await first.waitFor(/^> good morning\n\nYou said: good morning\n\n─+\n> *$/m);
    await enterLine(first, '/cwd');
    await first.waitFor(/The working directory is \S+\/work\n\n─+\n> *$/m);
    for (const terminal of terminals) await terminal.keys('C-d');
    assert.deepEqual(await Promise.all(terminals.map(waitForExitCode)), [0, 0, 0]);
    const [kept = '', ...others] = program.sessions();
    assert.match(kept, dateName);
    assert.deepEqual(others, [], 'a prompt without input leaves no session');
  },
);

test('[J31, J33, J88] --test-connection and --refresh-models run and then open the prompt', { skip }, async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const [tested, refreshed] = await Promise.all([
    program.open(['--test-connection']),
    program.open(['--refresh-models']),
  ]);
  await tested.waitFor(/ollama \(http\S+\) answers \(\d+ ms\) and has 2 models\.[^]*^> *$/m);
  await refreshed.waitFor(/2 models at ollama \(http\S+\)\.[^]*^> *$/m);
  await enterLine(refreshed, '/refresh-models');
  await refreshed.waitFor(/2 models: qwen3, tiny/);
  assert.deepEqual(program.modelRequests(), [], 'no model request was sent');
});

test('[J31] a failed --test-connection ends the program instead of opening the prompt', { skip }, async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const env = { OLLAMA_API_URL: await closedUrl() };
  const terminal = await program.open(['--test-connection'], { env });
  assert.equal(await waitForExitCode(terminal), 7);
  const screen = await terminal.screen();
  assert.match(screen, /Cannot connect to ollama/);
  assert.doesNotMatch(screen, prompt);
});

test('[J20, J21, J32, J34, J50, J88] in one-shot mode they run and exit with 0, or print the error', async (t) => {
  const program = await createProgram(t);
  const refreshed = await program.run(['--one-shot', '--refresh-models']);
  assert.deepEqual(refreshed, { code: 0, out: 'qwen3\ntiny\n', err: '' });
  const tested = await program.call(['--one-shot', '--test-connection']);
  assert.deepEqual([tested.code, tested.err], [0, '']);
  assert.match(tested.out, /^ollama \(http\S+\) answers \(\d+ ms\) and has 2 models\.\n$/);
  const env = { OLLAMA_API_URL: await closedUrl() };
  for (const flag of ['--test-connection', '--refresh-models']) {
    const { code, out, err } = await program.call(['--one-shot', flag], { env });
    assert.deepEqual([code, out], [7, '']);
    assert.match(err, /^Cannot connect to ollama[^\n]+\n$/);
  }
  assert.deepEqual(program.sessions(), []);
});

test(
  '[J47] both modes run the same loop: inference, tool calls, more inference, until there is an answer',
  { skip },
  async (t) => {
    const program = await createProgram(t, callsThenAnswer(2, 'read_file', { path: 'note.txt' }, 'It says: buy milk.'));
    await program.seedModels('qwen3');
    writeFileSync(path.join(program.cwd, 'note.txt'), 'buy milk\n');
    const { code, out, err } = await program.call(['--one-shot', '--prompt', 'read the note']);
    assert.deepEqual([code, out], [0, 'It says: buy milk.\n']);
    assert.equal(err.match(/\[tool\] read_file/g)?.length, 2);
    const once = program.modelRequests().map(requestMessages);
    assert.deepEqual(
      once.map((messages) => messages.length),
      [1, 3, 5],
    );
    assert.match(JSON.stringify(once.at(-1)), /buy milk/);
    program.server.clearRequests();
    const terminal = await program.open([]);
    await terminal.waitFor(prompt);
    await enterLine(terminal, 'read the note');
    await terminal.waitFor(/It says: buy milk\.\n\n─+\n> *$/m);
    assert.deepEqual(program.modelRequests().map(requestMessages), once);
  },
);

test(
  '[J51, J91] --model-name is the initial model of the prompt and the model of a one-shot run',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    const { code, err } = await program.call(['--one-shot', '--model-name', 'tiny', '-p', 'hi']);
    assert.equal(code, 0);
    assert.equal(err, 'tiny cannot call tools, so none are offered to it: it can only talk.\n');
    assert.deepEqual(requestToolNames(program.modelRequests()[0]), []);
    const terminal = await program.open(['-m', 'qwen3']);
    await terminal.waitFor(/Fairlead with qwen3/);
    await enterLine(terminal, 'one');
    await terminal.waitFor(/You said: one/);
    await enterLine(terminal, '/model tiny');
    await terminal.waitFor(/The next answer comes from tiny/);
    await enterLine(terminal, 'two');
    await terminal.waitFor(/You said: two/);
    const models = program.modelRequests().map(({ body }) => (body as { readonly model: string }).model);
    assert.deepEqual(models, ['tiny', 'qwen3', 'tiny']);
  },
);

test('[J12, J52] --stream prints the answer of a one-shot run while it is generated; without it only the complete answer is printed', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  // Text next to a tool call is not the answer: only streamed output has printed it.
  const script = [says('Let me look.').and(calls('list_files')), 'Nothing there.'];
  program.server.setScript(script);
  const whole = await program.call(['--one-shot', '-p', 'hi']);
  assert.deepEqual([whole.code, whole.out], [0, 'Nothing there.\n']);
  program.server.setScript(script);
  const streamed = await program.call(['--one-shot', '-p', 'hi', '--stream']);
  assert.deepEqual([streamed.code, streamed.out], [0, 'Let me look.\nNothing there.\n']);
});

test(
  '[J12, J52] --stream makes the prompt show answers while they are generated; with --no-stream they are shown complete',
  { skip },
  async (t) => {
    const program = await createProgram(t);
    await program.seedModels('qwen3');
    const streaming = await program.open(['-s']);
    await streaming.waitFor(prompt);
    program.server.setScript([
      says('The first words and no more', { chunks: ['The first words', ' and no more'], cutAfter: 1, hang: true }),
    ]);
    await enterLine(streaming, 'hi');
    await streaming.waitFor(/The first words[^]*(thinking|working)/);
    await streaming.keys('Escape');
    await streaming.waitFor(/Interrupted/);
    const whole = await program.open(['--no-stream']);
    await whole.waitFor(/no streaming/);
    program.server.setScript([says('alpha beta gamma delta omega', { chunkMs: 60 })]);
    await enterLine(whole, 'hi');
    const end = Date.now() + 20_000;
    for (let seen = ''; !/omega/.test(seen); seen = await whole.screen()) {
      assert.doesNotMatch(seen, /alpha/);
      assert.ok(Date.now() < end, seen);
    }
  },
);

test(
  '[A76] --auto-approve and /auto on approve changes automatically; otherwise a run waits for approval',
  { skip },
  async (t) => {
    const write = callsThenAnswer(1, 'write_file', { path: 'made.txt', content: 'hello\n' }, 'Done.');
    const program = await createProgram(t, write);
    await program.seedModels('qwen3');
    const file = path.join(program.cwd, 'made.txt');
    const asked = await program.call(['-p', 'make it', '-n', 'waiting']);
    assert.deepEqual([asked.code, asked.out], [5, '']);
    assert.match(asked.err, /Approval required for write_file\. write_file \S+\/made\.txt \(new file\)\n\+hello/);
    assert.match(asked.err, /To answer: fairlead --resume "waiting"\n$/);
    assert.equal(existsSync(file), false);
    const terminal = await program.open(['--resume', 'waiting']);
    await answerPrompt(terminal, /Create made\.txt\?/, 'y', 'Enter');
    await terminal.waitFor(/Done\.\n\n─+\n> *$/m);
    assert.equal(existsSync(file), true);
    await enterLine(terminal, '/auto on');
    await terminal.waitFor(/File changes and commands are approved automatically\./);
    program.server.setScript(({ results }) =>
      results.length < 2 ? calls('write_file', { path: 'two.txt', content: '2' }) : says('Twice.'),
    );
    await enterLine(terminal, 'again');
    await terminal.waitFor(/Twice\./);
    assert.equal(existsSync(path.join(program.cwd, 'two.txt')), true);
    program.server.setScript(write);
    const auto = await program.call(['-p', 'make it', '--auto-approve']);
    assert.deepEqual([auto.code, auto.out], [0, 'Done.\n']);
  },
);

test('[A79] run --code gives the model only a container to run code in, and reports a missing engine', async (t) => {
  const program = await createProgram(
    t,
    callsThenAnswer(1, 'execute_sandboxed_command', { command: 'echo 6*7' }, 'It is 42.'),
  );
  await program.seedModels('qwen3');
  const engine = path.join(program.home, 'engine');
  writeFileSync(engine, '#!/bin/sh\nfor last; do :; done\necho "ran: $last"\n', { mode: 0o755 });
  const task = ['run', '--code', 'what is six times seven?'];
  const { code, out, err } = await program.call(task, { env: { SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: engine } });
  assert.deepEqual([code, out], [0, 'It is 42.\n'], err);
  const [first, second] = program.modelRequests();
  assert.deepEqual(requestToolNames(first), ['execute_sandboxed_command']);
  assert.match(JSON.stringify(requestMessages(second)), /ran: echo 6\*7/);
  const without = await program.call(task, { env: { SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: 'no-such-engine' } });
  assert.match(without.err, /no-such-engine is not installed, so nothing was run\. Install it/);
});
