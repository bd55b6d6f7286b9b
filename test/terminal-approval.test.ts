// Tests one-shot runs in a real terminal: which questions are asked, what answers them, and that output cannot control the terminal.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { waitForExitCode, createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { noTerminal, type Terminal } from './support/terminal.ts';

const skip = noTerminal();
const hostileText = '\x1b]0;owned\x07\x1b[2J\u202e';
const escapedText = '␛]0;owned␇␛[2J<U+202E>';
const question = /^number or a reply to the model \[y\/N\/a\]: *$/m;

/** Creates a program whose model writes a file and then answers with the result. */
async function createWriterProgram(
  t: Parameters<typeof createProgram>[0],
  answerMs = 0,
): Promise<TestProgram & { readonly file: string }> {
  const program = await createProgram(t, ({ results }) =>
    results.length === 0
      ? calls('write_file', { path: 'made.txt', content: 'hello\n' }).and({ delayMs: answerMs })
      : says('Done.'),
  );
  await program.seedModels('qwen3');
  return { ...program, file: path.join(program.cwd, 'made.txt') };
}

/** Returns the process id of the program in a terminal. */
async function getPid(terminal: Terminal): Promise<number> {
  return Number(execFileSync('pgrep', ['-P', await terminal.queryTmux('#{pane_pid}')], { encoding: 'utf8' }).trim());
}

test(
  '[A75] a one-shot run asks the user on the terminal, shows what "always" covers, and continues',
  { skip },
  async (t) => {
    const program = await createWriterProgram(t);
    const terminal = await program.open(['make it']);
    const seen = await terminal.waitFor(question);
    assert.match(seen, /^made\.txt \(new file, \+1 -0\)\n1 \+ hello\nCreate made\.txt\?\n {2}1\. Yes, once\n/m);
    assert.match(seen, /^ {2}2\. Yes, and any content for \/…\/made\.txt in this session \(a\)$/m);
    await terminal.keys('y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.ok(existsSync(program.file));
    assert.match(await terminal.screen(), /^Done\.$/m);
  },
);

test('[A75] a text that is no choice is a reply: the call is denied and the model reads it', { skip }, async (t) => {
  const program = await createWriterProgram(t);
  const terminal = await program.open(['make it']);
  await terminal.waitFor(question);
  await terminal.type('yes but rename it');
  await terminal.keys('Enter');
  assert.equal(await waitForExitCode(terminal), 0);
  assert.equal(existsSync(program.file), false);
  assert.match(JSON.stringify(program.modelRequests().at(-1)?.body), /Denied by user: yes but rename it/);
});

test('[A75] text typed before a question does not answer it', { skip }, async (t) => {
  const program = await createWriterProgram(t, 1500);
  const terminal = await program.open(['make it']);
  await waitUntil('the model is asked', () => program.modelRequests().length > 0);
  await terminal.keys('y', 'Enter', 'y');
  await terminal.waitFor(question);
  assert.equal(existsSync(program.file), false);
  await terminal.keys('Enter');
  assert.equal(await waitForExitCode(terminal), 0);
  assert.equal(existsSync(program.file), false, 'Enter alone rejects, whatever was typed before the question');
  assert.match(await terminal.screen(), /\[tool\] denied: write_file/);
});

for (const [how, code, act] of [
  ['Ctrl+C', 130, (terminal: Terminal) => terminal.keys('C-c')],
  ['Ctrl+D', 5, (terminal: Terminal) => terminal.keys('C-d')],
  ['SIGTERM', 143, async (terminal: Terminal) => void process.kill(await getPid(terminal), 'SIGTERM')],
] as const)
  test(
    `[A75, J50] ${how} at the question of a one-shot run leaves it open and ends with ${code}`,
    { skip },
    async (t) => {
      const program = await createWriterProgram(t);
      const terminal = await program.open(['make it', '-n', 'left']);
      await terminal.waitFor(question);
      await act(terminal);
      assert.equal(await waitForExitCode(terminal), code);
      const seen = await terminal.screen();
      assert.doesNotMatch(seen, /AbortError|^ +at /m);
      assert.match(seen, /To answer: fairlead --resume "left"/);
      assert.equal(program.modelRequests().length, 1, 'no further model request was sent');
      assert.doesNotMatch(program.session('left'), /"type":"approval-resolved"/);
      assert.equal(existsSync(program.file), false);
    },
  );

test(
  '[A75, A77] a one-shot run that resumes a session asks its open question, and names the call that it then makes',
  { skip },
  async (t) => {
    const program = await createWriterProgram(t);
    assert.equal((await program.run(['make it', '-n', 'left'])).code, 5);
    const terminal = await program.open(['go on', '--resume', 'left']);
    await terminal.waitFor(question);
    await terminal.keys('y', 'Enter');
    assert.equal(await waitForExitCode(terminal), 0);
    assert.match(await terminal.screen(), /^\[tool\] write_file made\.txt/m);
  },
);

test(
  '[attack 72] output of a one-shot run or a command cannot control the terminal; in a pipe the answer is unchanged',
  { skip },
  async (t) => {
    const program = await createProgram(
      t,
      ({ prompt, results }) =>
        prompt.includes('tool') && results.length === 0
          ? calls(`no${hostileText}tool`, {})
          : says(`${hostileText}told`, { chunks: 9 }),
      {
        models: [
          { id: 'qwen3', tools: true },
          { id: `x${hostileText}`, tools: true },
        ],
      },
    );
    await program.seedModels('qwen3');
    const piped = await program.run(['-p', 'say', '-n', 'said']);
    assert.equal(piped.out, `${hostileText}told\n`);
    const unknown = await program.run(['-m', `x${hostileText.slice(0, -1)}`, 'hi']);
    assert.equal(unknown.code, 1);
    assert.ok(unknown.err.includes(`Did you mean x${escapedText}`), unknown.err);
    for (const [args, code, brings] of [
      [['say'], 0, `${escapedText}told`],
      [['say', '--stream'], 0, `${escapedText}told`],
      [['tool', '--stream'], 0, `no${escapedText}tool`],
      [['--one-shot', '--refresh-models'], 0, `x${escapedText}`],
      [['models', 'ollama'], 0, `x${escapedText}`],
      [['sessions', 'export', 'said'], 0, `${escapedText}told`],
    ] as const) {
      const terminal = await program.open(args, { rows: 50 });
      assert.equal(await waitForExitCode(terminal), code, args.join(' '));
      const seen = await terminal.screen();
      assert.ok(seen.includes(brings), `${args.join(' ')}:\n${seen}`);
      assert.doesNotMatch(await terminal.queryTmux('#{pane_title}'), /owned/);
      await terminal.kill();
    }
  },
);
