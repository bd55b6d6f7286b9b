// Tests commands of the model in the real program: endless output, background commands, and their end with the program.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { Json } from '../src/core/index.ts';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import { isProcessAlive, requestMessages, createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { createPromptEnvironment, openPrompt } from './support/terminal-prompt.ts';
import { noSandbox } from './support/sandbox.ts';
import { noTerminal } from './support/terminal.ts';

const sandboxMissing = await noSandbox();
/** Uses a sandbox if there is one. */
const sandboxArgs: readonly string[] = sandboxMissing === false ? [] : ['--no-sandbox'];

type Step = (results: readonly string[]) => readonly [string, Json];

/** A script that makes these calls one after another, each with the earlier results, and then answers. */
const scriptSteps =
  (...steps: readonly Step[]) =>
  ({ results }: { readonly results: readonly string[] }): ScriptedResponse => {
    const [tool, input] = steps[results.length]?.(results) ?? [];
    return tool === undefined ? says('All done.') : calls(tool, input ?? {});
  };

const runStep =
  (command: string, more: object = {}): Step =>
  () => ['run_command', { command, ...more }];
const parseJobId = (results: readonly string[]): string => /bg-\w+/.exec(results[0] ?? '')?.[0] ?? 'none';
const pollStep =
  (more: object = {}): Step =>
  (results) => ['use_tool', { tool: 'command_output', input: { id: parseJobId(results), ...more } }];

/** Returns the tool results that the model got, in order. */
const getToolResults = (program: TestProgram): readonly string[] =>
  requestMessages(program.modelRequests().at(-1)).flatMap(({ role, content }) =>
    role === 'tool' ? [String(content)] : [],
  );

test(
  '[fault 32] [P17] output beyond the limit, binary or without line breaks: both ends shown, the exact size reported, a range readable, the disk not filled',
  { timeout: 60_000 },
  async (t) => {
    const fileIn = (said: readonly string[]): string => / in (\S+): use read_file/.exec(said[0] ?? '')?.[1] ?? 'none';
    const program = await createProgram(
      t,
      scriptSteps(runStep('head -c 134217728 /dev/zero'), (said) => [
        'read_file',
        { path: fileIn(said), offset: 1000, limit: 1 },
      ]),
    );
    await program.seedModels('qwen3');
    const { code, err } = await program.run(['-p', 'go', '--auto-approve', ...sandboxArgs]);
    assert.equal(code, 0, err);
    const [shown = '', range = ''] = getToolResults(program);
    assert.ok(shown.length < 3000, `${shown.length}`);
    assert.match(shown, /^␀+\n\[… \d+ of \d+ characters left out …\]\n␀+\n\[Some of it is not text/);
    assert.match(
      shown,
      /It wrote 134217728 bytes; only its first 3355\d+ bytes are in \S+: use read_file with offset\. Exit code: 0\.\]$/,
    );
    assert.match(range, /^␀{10000}\n\[Lines 1000-1000 of \d+\. Continue with offset 1001\.\]$/);
    const dir = program.state('outputs');
    const sizes = readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((each) =>
      each.isFile() ? [statSync(path.join(each.parentPath, each.name)).size] : [],
    );
    assert.deepEqual(
      sizes.map((size) => size <= 33_554_432),
      [true],
    );
  },
);

/** Writes its process id, and runs for a long time. */
const longCommand = 'echo "up $$"; while :; do sleep 0.1; echo $$ >> alive; done';

/** Counts the lines that a command has written: a running one writes more. */
const countAliveLines = ({ cwd }: Pick<TestProgram, 'cwd'>): number => {
  const file = path.join(cwd, 'alive');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length : 0;
};

/** Waits until no more lines are written. */
async function waitUntilSilent(program: Pick<TestProgram, 'cwd'>): Promise<void> {
  for (let before = -1; before !== countAliveLines(program);) {
    before = countAliveLines(program);
    await new Promise((wake) => setTimeout(wake, 1000));
  }
}

test('[P17] a background command is started, inspected, and ended with the program', { timeout: 60_000 }, async (t) => {
  const program = await createProgram(
    t,
    scriptSteps(runStep(longCommand, { background: true }), pollStep({ wait_s: 20, until: 'up' })),
  );
  await program.seedModels('qwen3');
  const { code, err } = await program.call(['-p', 'go', '--auto-approve', ...sandboxArgs]);
  assert.equal(code, 0, err);
  const [started = '', seen = ''] = getToolResults(program);
  assert.match(started, /^Started in the background as bg-/);
  assert.match(seen, /^up \d+\n\[It has been running for/);
  await waitUntilSilent(program);
});

test('a background command needs approval', async (t) => {
  const program = await createProgram(t, scriptSteps(runStep('touch ran', { background: true })));
  await program.seedModels('qwen3');
  const { code } = await program.call(['-p', 'go', '-n', 'asked', ...sandboxArgs]);
  assert.equal(code, 5);
  assert.match(program.session('asked'), /"question":"run_command: touch ran\\n\(It runs in the background\.\)"/);
  assert.ok(!existsSync(path.join(program.cwd, 'ran')));
});

for (const [where, options, skip] of [
  ['in a sandbox', [], sandboxMissing],
  ['without a sandbox', ['--no-sandbox'], false],
] as const)
  test(
    `kill -9 of the program leaves no command in the background, ${where}; after it is resumed the command is gone`,
    { skip, timeout: 90_000 },
    async (t) => {
      const program = await createProgram(t, async ({ results: said, prompt }) => {
        if (said.length === 0) return calls(...runStep(longCommand, { background: true })(said));
        if (prompt === 'go')
          return said.length === 1 ? calls(...pollStep({ wait_s: 20, until: 'up' })(said)) : new Promise(() => {});
        return said.length === 2 ? calls(...pollStep()(said)) : says('It is gone.');
      });
      await program.seedModels('qwen3');
      const going = program.start(['-p', 'go', '-n', 'cut', '--auto-approve', ...options]);
      await waitUntil('the command is at work', () => countAliveLines(program) > 2, 30_000);
      await waitUntil('the model was told', () => getToolResults(program).length === 2, 30_000);
      going.kill('SIGKILL');
      await going.ended;
      const [own = 0] =
        /up (\d+)/
          .exec(getToolResults(program)[1] ?? '')
          ?.slice(1)
          .map(Number) ?? [];
      if (options.length > 0) await waitUntil('the shell is gone', () => !isProcessAlive(own));
      await waitUntilSilent(program);
      const before = countAliveLines(program);
      const { code, out, err } = await program.call(['-p', 'and now?', '-r', 'cut', '--auto-approve', ...options]);
      assert.deepEqual([code, out.trim()], [0, 'It is gone.'], err);
      assert.match(getToolResults(program)[2] ?? '', /^Error: There is no command bg-\w+: .* are not restarted\./);
      assert.equal(countAliveLines(program), before, 'it was not restarted');
    },
  );

test('the end of a background command is reported once, with the next request', { timeout: 60_000 }, async (t) => {
  const note = 'has ended. Exit code: 7.';
  const program = await createProgram(t, ({ results: said, body }) => {
    if (said.length === 0) return calls(...runStep('exit 7', { background: true })(said));
    return JSON.stringify(body).includes(note) ? says('Told.') : calls(...runStep(`sleep 0.1; : ${said.length}`)(said));
  });
  await program.seedModels('qwen3');
  const { code, out, err } = await program.call(['-p', 'go', '--auto-approve', ...sandboxArgs]);
  assert.deepEqual([code, out.trim()], [0, 'Told.'], err);
  assert.equal(
    requestMessages(program.modelRequests().at(-1)).filter(({ content }) => String(content).includes(note)).length,
    1,
  );
  const { out: again } = await program.call(['-p', 'again', '--continue', '--auto-approve', ...sandboxArgs]);
  assert.equal(again.trim(), 'Told.');
  assert.equal(JSON.stringify(program.modelRequests().at(-1)?.body).split(note).length - 1, 1);
});

test('a background command keeps running when the MCP servers are reloaded', { timeout: 60_000 }, async (t) => {
  const program = await createProgram(t, ({ prompt, results: said }) => {
    if (said.length === 0) return calls(...runStep(longCommand, { background: true })(said));
    if (prompt === 'go') return says('Started.');
    return said.length === 1 ? calls(...pollStep({ wait_s: 20, until: 'up' })(said)) : says('Seen.');
  });
  await program.seedModels('qwen3');
  const { code, err } = await program.call(['--interactive', '--auto-approve', ...sandboxArgs], {
    input: 'go\n/mcp reload\nlook\n',
  });
  assert.equal(code, 0, err);
  assert.match(getToolResults(program)[1] ?? '', /^up \d+\n\[It has been running for/);
  await waitUntilSilent(program);
});

test(
  'a background command belongs to its session: switching the session ends it',
  { skip: noTerminal(), timeout: 90_000 },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      scriptSteps(runStep(longCommand, { background: true }), pollStep({ wait_s: 20, until: 'up' })),
    );
    const program = { cwd: environment.cwd };
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--auto-approve']);
    await prompt.enterAndWait('go', /^✓ run_command [^\n]*background=true[^]*^✓ command_output [^]*^All done\.$/m);
    const before = countAliveLines(program);
    await waitUntil('it keeps running without a waiter', () => countAliveLines(program) > before + 2);
    await prompt.enterAndWait('/session new', /· A new session: /);
    await waitUntilSilent(program);
  },
);
