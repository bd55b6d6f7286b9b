// Tests the command-line flags with the real program: each works as specified, and invalid combinations fail before anything happens.
import assert from 'node:assert/strict';
import test from 'node:test';
import { waitForExitCode, createProgram } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

test('[J10] -h and --help show the title, the usage and the options in their groups', async (t) => {
  const program = await createProgram(t);
  const [long, ...others] = await Promise.all(
    [['--help'], ['-h'], ['--one-shot', '-h'], ['chat', '--help']].map((args) => program.run(args)),
  );
  assert.ok(long);
  for (const other of others) assert.deepEqual(other, long);
  assert.deepEqual([long.code, long.err], [0, '']);
  assert.match(long.out, /^Fairlead, an agent harness[^\n]*\n\nUsage: fairlead /);
  assert.match(long.out, /\[--interactive \| --one-shot\]/);
  assert.match(long.out, /\[--resume-session <session> \| --clone-session <session>/);
  assert.match(long.out, /\[--prompt <text> \| --prompt-file <file> \| --test-connection \| --refresh-models\]/);
  for (const group of ['Mode (one of these)', 'Action (one of these)', 'Model', 'Session (one of these)'])
    assert.ok(long.out.includes(`\n${group}:\n`), group);
  for (const flags of [
    '-m, --model, --model-name',
    '-s, --stream',
    '-n, --session-name',
    '-r, --resume-session',
    '-c, --continue',
    '-p, --prompt',
    '-P, --prompt-file',
  ])
    assert.ok(long.out.includes(`  ${flags}`), flags);
  const codes = long.out.split('Exit codes:\n')[1] ?? '';
  assert.deepEqual(
    [...codes.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code)),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 129, 130, 143],
  );
  assert.equal(program.server.requests.length, 0);
});

test('arguments and standard input are a prompt that is answered once', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const ended = await Promise.all([
    program.call(['what is this?']),
    program.call([], { input: 'from a pipe\n' }),
    program.run(['run', '-'], { input: 'from a pipe too\n' }),
    program.call(['--', '--not-an-option']),
  ]);
  assert.deepEqual(
    ended.map(({ code, out }) => [code, out]),
    [
      [0, 'You said: what is this?\n'],
      [0, 'You said: from a pipe\n'],
      [0, 'You said: from a pipe too\n'],
      [0, 'You said: --not-an-option\n'],
    ],
  );
});

test('[J49] one-shot in a terminal without an action lists the possible actions', { skip }, async (t) => {
  const program = await createProgram(t);
  const terminal = await program.open(['--one-shot']);
  assert.equal(await waitForExitCode(terminal), 2);
  assert.match(
    await terminal.screen(),
    /^--one-shot needs an action: a prompt, --prompt-file, --test-connection or --refresh-models\.$/m,
  );
});

test('[J16, J19, J24, J49] exclusive flags, and one-shot without an action, give exit code 2 and no request', async (t) => {
  const program = await createProgram(t);
  const together = 'cannot be given together.';
  const refusals: readonly (readonly [readonly string[], string])[] = [
    [['-r', 'a', '--fork', 'b', '-p', 'x'], `--resume-session and --clone-session ${together}`],
    [['--interactive', '--one-shot', '-p', 'x'], `--interactive and --one-shot ${together}`],
    [['--test-connection', '--refresh-models'], `--test-connection and --refresh-models ${together}`],
    [['-p', 'x', '-P', 'y'], `--prompt and --prompt-file ${together}`],
    [['--one-shot', '-p', 'x', '--refresh-models'], `--prompt and --refresh-models ${together}`],
    [['--one-shot'], 'No prompt was given: pass one as an argument or on standard input.'],
    [['--one-shot', '-p', 'x', '-r'], '--resume-session needs the name or id of a session.'],
    [['--promt', 'x'], 'There is no option "--promt"; did you mean --prompt?'],
  ];
  const ended = await Promise.all(refusals.map(([args]) => program.call(args)));
  refusals.forEach(([args, said], i) => {
    assert.deepEqual(ended[i], { code: 2, out: '', err: `${said}\nRun fairlead --help for usage.\n` }, args.join(' '));
  });
  assert.equal(program.server.requests.length, 0);
  assert.deepEqual(program.sessions(), []);
});
