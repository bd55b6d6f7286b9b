import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { bundleTuiProgram, waitUntilArmed, enterLine } from '../../../test/support/tui.ts';
import { noTerminal, openTerminal } from '../../../test/support/terminal.ts';

const program = await bundleTuiProgram();
const skip = noTerminal();

function piped(input: string, env: Record<string, string> = {}): string {
  const ran = spawnSync(process.execPath, [program], { input, encoding: 'utf8', env: { PATH: '', ...env } });
  assert.equal(ran.stderr, '');
  assert.equal(ran.status, 0);
  return ran.stdout;
}

test('in a pipe each input line is submitted in order, and the end of the input quits', () => {
  const said = piped('work 300\nhello\ncall\n\nask\nyes\npick\n2\n');
  assert.equal(
    said,
    `> work 300
> hello
[info] heard enter "hello"
> call
[tool] bash make all
[tool] bash: ok (1.2s)
  … 12 more lines
${Array.from({ length: 8 }, (_, line) => `  out ${line + 13}\n`).join('')}> ask
Run bash?
  rm -rf ␛[8mhidden<U+202E>
  1. yes
  2. no
  3. always
number [y/N/a]: yes
[info] answered y
> pick
Which one
  1. alpha  the alpha one
  2. beta  the beta one
  3. gamma  the gamma one
number or name, empty to cancel: 2
[info] picked beta
closed
`,
  );
});

test('in a pipe a line that is not an answer, or the end of the input, gives the default answer', () => {
  const said = piped('ask\nhello there\nask');
  assert.match(said, /answered n\n> hello there\n.*\n> ask\n[^]*answered n\nclosed\n$/);
});

test('in a pipe questions are queued, one may be aborted, and an empty line sends a draft', () => {
  const said = piped('questions\ny\na\nfill words put there\n\ngiven\n');
  assert.match(said, /answered y and a\n[^]*\[draft\] words put there\n[^]*> words put there\n\[info\] heard enter/);
  assert.match(said, /given up with n\nclosed\n$/);
});

test('without a terminal no control character is written', () => {
  const said = piped('markdown\nevil\ndiff\nstream 500\n');
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(said, /[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  assert.match(said, /\n {2}\+new line\n/);
  assert.match(said, /word0 word1 [^]*word499/);
});

test('FORCE_COLOR turns colors on even in a pipe', () => {
  assert.ok(piped('diff\n', { FORCE_COLOR: '1' }).includes('\x1b[32m+new line'));
});

for (const [how, env, text] of [
  ['TERM=dumb', { TERM: 'dumb' }, []],
  ['FAIRLEAD_PLAIN=1', { FAIRLEAD_PLAIN: '1', NO_COLOR: '1' }, []],
  ['--plain', {}, ['--plain']],
] as const) {
  test(`[J48] ${how} selects plain mode: a prompt, lines, questions, and the prompt again`, { skip }, async (t) => {
    const terminal = await openTerminal(t, [process.execPath, program, ...text], { env });
    await terminal.waitFor(/\[status\] scripted · 12% of 128k .*\n>/);
    await enterLine(terminal, 'hello \\');
    await enterLine(terminal, 'there');
    await terminal.waitFor(/\[info\] heard enter "hello \\nthere"\n>$/m);
    await enterLine(terminal, 'ask');
    await terminal.waitFor(/1\. yes\n {2}2\. no\n {2}3\. always\nnumber \[y\/N\/a\]:$/m);
    await waitUntilArmed();
    await enterLine(terminal, 'a');
    await terminal.waitFor(/answered a\n>$/m);
    await terminal.keys('C-c');
    await terminal.waitFor(/press Ctrl\+C again to quit/);
    await terminal.keys('C-c');
    await terminal.waitFor(/closed/);
  });
}

test(
  'in plain mode a running job is shown after a second and interrupted with Ctrl+C, and Ctrl+D quits',
  { skip },
  async (t) => {
    const terminal = await openTerminal(t, [process.execPath, program, '--plain'], { env: { NO_COLOR: '1' } });
    await terminal.waitFor(/^>/m);
    await enterLine(terminal, 'work 1500');
    await terminal.waitFor(/\[waiting\] a slow tool/);
    await terminal.keys('C-c');
    await terminal.waitFor(/heard interrupt/);
    await terminal.waitFor(/^> *$/m);
    await terminal.keys('C-d');
    await terminal.waitFor(/closed/);
  },
);

test(
  '[A75] in plain mode the number of a choice answers, and other text is a reply or asks again',
  { skip },
  async (t) => {
    const terminal = await openTerminal(t, [process.execPath, program, '--plain'], {
      rows: 40,
      env: { NO_COLOR: '1' },
    });
    await terminal.waitFor(/^>/m);
    for (const [line, answer] of [
      ['actually no, do not run that', 'n with "actually no, do not run that"'],
      ['yes but rename it', 'n with "yes but rename it"'],
      ['1', 'y with undefined'],
    ] as const) {
      await enterLine(terminal, 'reply');
      await terminal.waitFor(/number or a reply to the model \[y\/N\/a\]: *$/m);
      await waitUntilArmed();
      await enterLine(terminal, line);
      await terminal.waitFor(new RegExp(`answered ${answer}\\n>`));
      await enterLine(terminal, 'clear');
    }
    await enterLine(terminal, 'ask');
    await terminal.waitFor(/number \[y\/N\/a\]: *$/m);
    await waitUntilArmed();
    await enterLine(terminal, 'always please');
    await terminal.waitFor(/always please\nnumber \[y\/N\/a\]: *$/m);
    await enterLine(terminal, '3');
    await terminal.waitFor(/answered a\n>/);
  },
);

test('in plain mode a line typed before a question does not answer it', { skip }, async (t) => {
  const terminal = await openTerminal(t, [process.execPath, program, '--plain'], { env: { NO_COLOR: '1' } });
  await terminal.waitFor(/^>/m);
  await terminal.type('ask 200\ny\n');
  await terminal.waitFor(/heard enter "y"/);
  const screen = await terminal.waitFor(/\[y\/N\/a\]: *$/m);
  assert.doesNotMatch(screen, /answered/);
});

test('in plain mode Tab completes and the arrow keys recall earlier inputs', { skip }, async (t) => {
  const terminal = await openTerminal(t, [process.execPath, program, '--plain']);
  await terminal.waitFor(/^>/m);
  await terminal.type('/mo');
  await terminal.keys('Tab');
  await terminal.waitFor(/^> \/model/m);
  await terminal.keys('C-c', 'Up', 'Up');
  await terminal.waitFor(/^> an old entry/m);
});
