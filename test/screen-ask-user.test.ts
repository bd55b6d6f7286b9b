// Tests ask_user in a real terminal: text answers and choices, interrupted, killed and asked again; and not offered without a terminal.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { waitUntilArmed } from './support/tui.ts';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import { waitForExitCode, createProgram, waitUntil } from './support/cli-harness.ts';
import { createPromptEnvironment, openPrompt } from './support/terminal-prompt.ts';
import { noTerminal, type Terminal } from './support/terminal.ts';

const skip = noTerminal();
const port = { question: 'Which port shall it be?\x1b[2J', choices: ['eighty', 'another'] };
const why = { question: 'And why?' };
const asksPort = scriptHiddenCalls([['ask_user', port]]);
const portOpen = /^\? Which port shall it be\?␛\[2J\n +↑↓ fills in a choice · Enter answer · Esc skip the question$/m;
const whyOpen = /^\? And why\?\n +Enter answer · Esc skip the question$/m;

/** Answers a question once it accepts keys: text is typed, key names are pressed. */
async function answerQuestion(
  terminal: Terminal,
  question: RegExp,
  text: string,
  ...keys: readonly string[]
): Promise<void> {
  await terminal.waitFor(question);
  await waitUntilArmed();
  await terminal.type(text);
  await terminal.keys(...keys);
}

/** Returns the outcomes of the calls of a session. */
const parseOutcomes = (log: string): readonly string[] =>
  [...log.matchAll(/"type":"tool-ended".*?"outcome":"([a-z]+)"/g)].map(([, outcome = '']) => outcome);

test(
  '[A75] two questions of the model are asked one after the other, and it gets the exact answers',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      scriptHiddenCalls([
        ['ask_user', port],
        ['ask_user', why],
      ]),
    );
    const prompt = await openPrompt(t, environment);
    await prompt.enter('begin');
    const seen = await prompt.waitFor(portOpen);
    assert.match(seen, /^Which port shall it be\?␛\[2J\n {2}1\. eighty\n {2}2\. another$/m);
    assert.doesNotMatch(seen, /^\? And why/m);
    await answerQuestion(prompt, portOpen, '', 'Down', 'Enter');
    await answerQuestion(prompt, whyOpen, 'Because "it" IS so', 'Enter');
    await prompt.waitFor(/^Heard: eighty \| Because "it" IS so$/m);
  },
);

test(
  '[A75, P67] Esc skips the question and the model continues; Ctrl+C clears the text, then ends the run with its question',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, scriptHiddenCalls([['ask_user', port]], [['ask_user', why]]));
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--session-name', 'left']);
    await prompt.enter('begin');
    await answerQuestion(prompt, portOpen, '', 'Escape');
    await answerQuestion(prompt, whyOpen, 'half an ans', 'C-c');
    await prompt.waitFor(/^\? And why\?\n[^\n]*\n>\s*\nwaiting for you/m);
    await waitUntilArmed();
    await prompt.keys('C-c');
    await prompt.waitFor(/^· Interrupted\./m);
    const screen = await prompt.screen();
    assert.doesNotMatch(screen, /^\? And why/m, 'the question is gone');
    const kept = readFileSync(path.join(environment.data, 'sessions/session_left.jsonl'), 'utf8');
    assert.match(kept, /The user did not answer\. Continue as well as you can/);
    assert.match(kept, /"outcome":"interrupted"/);
  },
);

test('[P65] a question that was open when the program was killed is asked again', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, asksPort);
  const args = ['--refresh-models', '--model', 'alpha'];
  const killed = await openPrompt(t, environment, [...args, '--session-name', 'kept']);
  await killed.enter('begin');
  await killed.waitFor(portOpen);
  const shell = await killed.queryTmux('#{pane_pid}');
  process.kill(Number(execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' }).trim()), 'SIGKILL');
  await killed.waitFor(/exit code 137/);
  await killed.kill();
  const prompt = await openPrompt(t, environment, ['--resume', 'kept']);
  await prompt.waitFor(/did not finish: \/continue resumes it/);
  await prompt.enter('/continue');
  await answerQuestion(prompt, portOpen, '2', 'Enter');
  await prompt.waitFor(/^Heard: another$/m);
});

test('[A75] plain mode and a one-shot run in a terminal ask as well; answers keep their case', { skip }, async (t) => {
  const environment = await createPromptEnvironment(
    t,
    scriptHiddenCalls([
      ['ask_user', port],
      ['ask_user', why],
    ]),
  );
  const plain = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--plain']);
  await plain.enter('begin');
  await answerQuestion(plain, /2\. another\na number or your own answer, empty to skip: *$/m, '1', 'Enter');
  await answerQuestion(plain, /^your answer, empty to skip: *$/m, 'A Fair Lead', 'Enter');
  await plain.waitFor(/^Heard: eighty \| A Fair Lead$/m);
  const program = await createProgram(
    t,
    scriptHiddenCalls([
      ['ask_user', port],
      ['ask_user', why],
    ]),
  );
  await program.seedModels('qwen3');
  const terminal = await program.open(['--prompt', 'begin', '--no-sandbox']);
  await answerQuestion(terminal, /2\. another\nA number or your own answer, empty to skip: *$/m, 'Port 8080', 'Enter');
  await answerQuestion(terminal, /^Your answer, empty to skip: *$/m, '', 'C-d');
  assert.equal(await waitForExitCode(terminal), 0);
  assert.match(await terminal.screen(), /^Heard: Port 8080 \| The user did not answer/m);
});

test('[A75] Ctrl+C at a question of a one-shot run ends it, and the end is recorded', { skip }, async (t) => {
  const program = await createProgram(t, asksPort);
  await program.seedModels('qwen3');
  const terminal = await program.open(['--prompt', 'begin', '-n', 'left', '--no-sandbox']);
  await answerQuestion(terminal, /empty to skip: *$/m, '', 'C-c');
  assert.equal(await waitForExitCode(terminal), 130);
  assert.deepEqual(parseOutcomes(program.session('left')), ['ok', 'interrupted']);
});

test('without a terminal the model is not offered ask_user', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  assert.equal((await program.run(['-p', 'hi'])).code, 0);
  await waitUntil('the model is asked', () => program.modelRequests().length === 1);
  assert.match(JSON.stringify(program.modelRequests()[0]?.body), /"load_tools"/);
  assert.doesNotMatch(JSON.stringify(program.modelRequests()[0]?.body), /ask_user/);
});
