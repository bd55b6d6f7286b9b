// Tests that a session belongs to its folder: --continue, resuming elsewhere, and a pending command never runs in another folder unasked.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { answerPrompt, createProgram, requestMessages, waitForExitCode, waitUntil } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';
import { enterLine } from './support/tui.ts';

const skip = noTerminal();

/** A model that touches a file on request. */
const touchScript: Parameters<typeof createProgram>[1] = ({ prompt, results }) =>
  prompt === 'touch it' && results.length === 0
    ? calls('run_command', { command: 'touch touched' })
    : says(`You said: ${prompt}`);

test('--continue and -c take the latest session of this folder, and say so if there is none', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const other = path.join(program.home, 'other');
  mkdirSync(other);
  assert.equal((await program.run(['first here', '-n', 'here'])).code, 0);
  assert.equal((await program.call(['first there', '-n', 'there'], { cwd: other })).code, 0);
  assert.equal((await program.call(['-c', 'second here'])).code, 0);
  assert.deepEqual(
    requestMessages(program.modelRequests().at(-1)).map(({ content }) => content),
    ['first here', 'You said: first here', 'second here'],
  );
  const empty = path.join(program.home, 'empty');
  mkdirSync(empty);
  const refused = await program.call(['--continue', 'hello'], { cwd: empty });
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /^There is no session of this folder to continue yet\. The latest of another folder is "here" \(.*work\): fairlead --resume "here"\n$/,
  );
  const elsewhere = await program.call(['--continue', '--cwd', other, 'again there']);
  assert.equal(elsewhere.code, 0, elsewhere.err);
  assert.equal(requestMessages(program.modelRequests().at(-1))[0]?.['content'], 'first there');
});

test('in a pipe a session of another folder is refused unless --cwd says where to run', async (t) => {
  const program = await createProgram(t, touchScript);
  await program.seedModels('qwen3');
  const other = path.join(program.home, 'other');
  mkdirSync(other);
  assert.equal((await program.call(['touch it', '-n', 'waiting', '--no-sandbox'])).code, 5);
  const requests = program.modelRequests().length;
  for (const args of [
    ['-r', 'waiting', 'go on', '--auto-approve', '--no-sandbox'],
    ['--fork', 'waiting', 'go on', '--auto-approve', '--no-sandbox'],
    ['--interactive', '-r', 'waiting', '--auto-approve', '--no-sandbox'],
  ]) {
    const refused = await program.call(args, { cwd: other });
    assert.equal(refused.code, 1, args.join(' '));
    assert.match(
      refused.err,
      /The session "waiting" belongs to .*work\. To run it there: --cwd ".*work"; to run it here: --cwd \./,
    );
  }
  assert.equal(program.modelRequests().length, requests);
  assert.ok(!existsSync(path.join(other, 'touched')) && !existsSync(path.join(program.cwd, 'touched')));
  const there = await program.call(['-r', 'waiting', '--cwd', program.cwd, '-p', 'go on', '--no-sandbox'], {
    cwd: other,
  });
  assert.equal(there.code, 5, there.err);
  assert.match(there.err, /^To answer: fairlead --resume "waiting"$/m);
});

test(
  'in a terminal the user is asked where a session of another folder runs, and its pending command runs there; the last line says how to resume',
  { skip },
  async (t) => {
    const program = await createProgram(t, touchScript);
    await program.seedModels('qwen3');
    const other = path.join(program.home, 'other');
    mkdirSync(other);
    assert.equal((await program.call(['touch it', '--no-sandbox'])).code, 5);
    const [name = ''] = program.sessions();
    const question = /belongs to .*work\. Where should it run\?/;
    const left = await program.open(['-r', name, '--no-sandbox'], { cwd: other });
    await answerPrompt(left, question, 'Enter');
    assert.equal(await waitForExitCode(left), 1);
    const started = await program.open(['-r', name, '--no-sandbox'], { cwd: other });
    await answerPrompt(started, question, 't', 'Enter');
    await started.waitFor(/touch touched/);
    await started.keys('C-d');
    const screen = await started.waitFor(/\(left with \d+\)/);
    assert.match(screen, /^To resume "touch it": fairlead --resume [\da-f]{8}$/m);
    const inside = await program.open(['--no-sandbox'], { cwd: other });
    await inside.waitFor(/^> *$/m);
    await enterLine(inside, `/resume ${name}`);
    await answerPrompt(inside, question, 't', 'Enter');
    await inside.waitFor(/Resumed ".*" in .*work[^]*touch touched/);
    await inside.waitFor(/Run this command\?/);
    assert.ok(!existsSync(path.join(other, 'touched')));
    await inside.keys('C-d');
    await waitForExitCode(inside);
    await waitUntil('nothing ran', () => !existsSync(path.join(program.cwd, 'touched')));
  },
);
