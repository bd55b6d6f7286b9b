// Tests the parser of the command line with valid and invalid arguments.
import assert from 'node:assert/strict';
import test from 'node:test';
import { profiles } from '../../coding-agent/settings/index.ts';
import { isHarnessName } from './profile.ts';
import { parseCliArgs, type CliArgs, type Invocation } from './parse-args.ts';

const typed: Invocation = { isInteractive: true };
const piped: Invocation = { isInteractive: false };

function understood(line: string, called = typed): CliArgs {
  const asked = parseCliArgs(line.split(' ').filter(Boolean), called);
  assert.ok(!('message' in asked), 'message' in asked ? asked.message : '');
  return asked;
}
function wrong(line: string, called = typed): string {
  const asked = parseCliArgs(line.split(' ').filter(Boolean), called);
  assert.ok('message' in asked, `"${line}" was accepted`);
  return asked.message;
}

test('[J17, J25, J30] no arguments, and --interactive alone, open the prompt', () => {
  for (const line of ['', '--interactive']) {
    const { mode, action, session } = understood(line);
    assert.deepEqual(
      { mode, work: action, which: session },
      { mode: 'interactive', work: undefined, which: { type: 'new' } },
    );
  }
});

test('[J11, J12, J13] model, stream and session name are parsed in all their spellings', () => {
  for (const flag of ['--model-name', '--model', '-m']) assert.equal(understood(`${flag} a/b`).model, 'a/b');
  assert.equal(understood('--model=a').model, 'a');
  assert.deepEqual(
    ['', '-s', '--stream', '--no-stream'].map((line) => understood(line).stream),
    [undefined, true, true, false],
  );
  assert.match(wrong('--stream --no-stream'), /cannot be given together/);
  for (const flag of ['--session-name', '-n'])
    assert.deepEqual(understood(`${flag} x`).session, { type: 'new', name: 'x' });
});

test('[J14, J15, J16] -r resumes, -c clones in the profile jayjader, and they exclude each other', () => {
  const harness: Invocation = { ...typed, shortOptions: profiles.jayjader.shortOptions };
  for (const flag of ['--resume-session', '--resume', '-r'])
    assert.deepEqual(understood(`${flag} x`, harness).session, { type: 'resume', session: 'x' });
  for (const flag of ['--clone-session', '--fork', '-c'])
    assert.deepEqual(understood(`${flag} x`, harness).session, { type: 'clone', session: 'x' });
  assert.match(wrong('-r a -c b', harness), /^--resume-session and --clone-session cannot be given together\.$/);
  assert.deepEqual(understood('-c x -n y', harness).session, { type: 'clone', session: 'x', name: 'y' });
  assert.match(wrong('-r x -n y', harness), /--session-name is for a new session/);
  assert.match(wrong('-c', harness), /-c/);
});

test('-c continues in fairlead; the file name of the program that was started selects the profile', () => {
  assert.deepEqual(understood('-c').session, { type: 'latest' });
  assert.deepEqual(understood('--clone-session x').session, { type: 'clone', session: 'x' });
  for (const [file, expected] of [
    ['/usr/bin/fairlead', false],
    ['/opt/dist/bin.js', false],
    ['/usr/bin/harness', false],
    ['/opt/dist/start-harness.js', true],
    ['/usr/bin/start-harness', true],
    ['/home/start-harness/fairlead', false],
    [String.raw`C:\npm\start-harness-jayjader`, true],
    [undefined, false],
  ] as const)
    assert.equal(isHarnessName(file), expected, file);
});

test('with piped text one plain word is a prompt unless it is almost a command; mistyped options get the nearest name', () => {
  const parse = (word: string) =>
    parseCliArgs([word], {
      isInteractive: false,
      hasPipedText: true,
      commands: ['trust', 'chat', 'sessions', 'models'],
    });
  for (const word of ['test', 'what']) assert.ok(!('message' in parse(word)), word);
  for (const word of ['sesions', 'modles', 'trsut']) assert.ok('message' in parse(word), word);
  const message = (...args: readonly string[]) => parseCliArgs(args, typed);
  assert.deepEqual(message('--modle', 'x'), { message: 'There is no option "--modle"; did you mean --model?' });
  assert.deepEqual(message('-p'), { message: '--prompt needs a value: <text>.' });
});

test('a first word that looks like a command is refused with the nearest command; one plain word, and a text in quotes, are prompts', () => {
  const commands = ['sessions', 'runs', 'run', 'why', 'models'];
  const parse = (...args: readonly string[]) => parseCliArgs(args, { ...typed, commands });
  for (const [args, message] of [
    [
      ['sesions', 'list'],
      /^There is no command "sesions"\. Did you mean "sessions"\? To send it to the model: fairlead --prompt "sesions list"$/,
    ],
    [['sesions'], /Did you mean "sessions"\?/],
    [['verify-full'], /^There is no command "verify-full"\. To send it to the model: fairlead --prompt "verify-full"$/],
    [['verify-claims', '--json'], /^There is no command "verify-claims"\./],
    [['redteam'], /^There is no command "redteam"\./],
    [['fix', 'the', 'bug'], /fairlead --prompt "fix the bug"$/],
    [['--json', 'sesions', 'list'], /Did you mean "sessions"\?/],
    [['--model', 'x', 'sessions', 'list'], /^The command "sessions" must be the first argument\./],
    [['resume', 'a'], /fairlead --resume <session>/],
  ] as const) {
    const parsed = parse(...args);
    assert.ok('message' in parsed, args.join(' '));
    assert.match(parsed.message, message);
  }
  for (const [args, text] of [
    [['hello'], 'hello'],
    [['hello', '--json'], 'hello'],
    [['fix the bug'], 'fix the bug'],
    [['Fix', 'the', 'bug'], 'Fix the bug'],
    [['--prompt', 'sesions list'], 'sesions list'],
    [['--', 'sesions', 'list'], 'sesions list'],
  ] as const) {
    const parsed = parse(...args);
    assert.ok(!('message' in parsed), 'message' in parsed ? parsed.message : '');
    assert.deepEqual(parsed.action, { type: 'prompt', text });
  }
  const run = parseCliArgs(['sesions', 'list'], { ...typed, commands, command: 'run' });
  assert.ok(!('message' in run));
});

test('[J14] --resume without a name lets the user choose, and one-shot requires a name', () => {
  assert.deepEqual(understood('--resume').session, { type: 'resume' });
  assert.deepEqual(understood('--resume -s').session, { type: 'resume' });
  assert.match(wrong('--one-shot -p hi --resume'), /needs the name or id/);
});

test('[J18, J19, J49] --one-shot needs an action, and excludes --interactive', () => {
  assert.equal(understood('--one-shot --prompt hi').mode, 'one-shot');
  assert.match(wrong('--one-shot'), /^--one-shot needs an action: a prompt/);
  assert.match(wrong('--one-shot --interactive -p x'), /--interactive and --one-shot cannot be given together/);
});

test('options that would be ignored are errors: a schema in interactive mode, stream-json input with a prompt', () => {
  assert.match(
    wrong('--output-schema x', { command: 'chat', isInteractive: true }),
    /^--output-schema is for one-shot runs\.$/,
  );
  assert.equal(understood('-p x --output-schema x').outputSchema, 'x');
  for (const line of ['-p x', 'x', '-P f.md', '--one-shot --test-connection'])
    assert.match(wrong(`${line} --input-format stream-json`), /^--input-format stream-json reads the prompts from/);
  assert.equal(understood('--input-format stream-json', piped).inputFormat, 'stream-json');
});

test('[J20, J21, J22, J23, J24] the four actions, of which only one may be given', () => {
  assert.deepEqual(understood('--one-shot --test-connection').action, { type: 'test-connection' });
  assert.deepEqual(understood('--refresh-models').action, { type: 'refresh-models' });
  assert.equal(understood('--refresh-models').mode, 'interactive');
  assert.equal(understood('--test-connection').mode, 'interactive');
  assert.deepEqual(parseCliArgs(['--one-shot', '-p', ' two  words '], typed), {
    ...understood('--one-shot -p x'),
    action: { type: 'prompt', text: ' two  words ' },
  });
  assert.deepEqual(understood('--one-shot -P f.md').action, { type: 'prompt-file', path: 'f.md' });
  const four = ['--test-connection', '--refresh-models', '--prompt x', '--prompt-file y'];
  for (const a of four)
    for (const b of four) if (a !== b) assert.match(wrong(`--one-shot ${a} ${b}`), /cannot be given together/);
});

test('positional arguments are a one-shot prompt; with --interactive they are the first message', () => {
  assert.deepEqual(understood('Fix the bug').action, { type: 'prompt', text: 'Fix the bug' });
  assert.equal(understood('Fix the bug').mode, 'one-shot');
  assert.equal(understood('-p fix').mode, 'one-shot');
  assert.equal(understood('--interactive -p fix').mode, 'interactive');
  assert.equal(understood('fix it', { isInteractive: true, command: 'chat' }).mode, 'interactive');
  assert.deepEqual(understood('-- --not-an-option').action, { type: 'prompt', text: '--not-an-option' });
  assert.match(wrong('-p a b'), /Unexpected argument "b" with --prompt/);
});

test('in a pipe the prompt is read from standard input', () => {
  assert.deepEqual([understood('', piped).mode, understood('', piped).action], ['one-shot', { type: 'stdin' }]);
  assert.deepEqual(understood('-').action, { type: 'stdin' });
  assert.equal(understood('--interactive', piped).mode, 'interactive');
  assert.equal(understood('', { isInteractive: false, command: 'chat' }).mode, 'interactive');
});

test('limits and formats are validated', () => {
  assert.deepEqual(understood('x --max-turns 3 --max-budget-usd 0.5').limits, { turns: 3, usd: 0.5 });
  assert.match(wrong('x --max-turns 0'), /--max-turns must be a whole number above 0, not "0"/);
  assert.match(wrong('x --max-budget-usd much'), /--max-budget-usd must be a number above 0/);
  assert.match(wrong('x --output-format yaml'), /text, json or stream-json, not "yaml"/);
  assert.equal(understood('x --json').outputFormat, 'json');
  assert.match(wrong('--output-format json'), /for one-shot runs/);
});

test('an unknown option is named, with a similar one', () => {
  assert.equal(wrong('--promt x'), 'There is no option "--promt"; did you mean --prompt?');
  assert.equal(wrong('-Z'), 'There is no option "-Z"');
  assert.match(wrong('--stream=yes'), /stream.* (takes no value|does not take an argument)/);
  assert.match(wrong('x --model'), /--model|-m/);
});
