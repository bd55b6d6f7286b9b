// The plain subset of shell syntax: what is in it, what is not, and that both readings must agree.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxPlainCommands, maxPlainLength, maxPlainWords } from './plain-line.ts';
import { provePlainLine } from './plain-tree.ts';

test('a plain line is read as commands, words, operators and redirections', async () => {
  const reading = await provePlainLine(`git log -5 "a b"'c' 2>&1 | head >out.txt && ls src/*.ts\ncat ~/x; test a = b`);
  assert.ok('line' in reading, JSON.stringify(reading));
  assert.deepEqual(
    reading.line.commands.map(({ words }) => words.map(({ text }) => text)),
    [['git', 'log', '-5', 'a bc'], ['head'], ['ls', 'src/*.ts'], ['cat', '~/x'], ['test', 'a', '=', 'b']],
  );
  assert.deepEqual(reading.line.operators, ['|', '&&', ';', ';']);
  assert.deepEqual(
    reading.line.commands.flatMap(({ redirections }) => redirections),
    [
      { descriptor: 2, operator: '>&', target: '1' },
      { descriptor: undefined, operator: '>', target: 'out.txt' },
    ],
  );
});

const notPlain: Readonly<Record<string, readonly string[]>> = {
  expansions: [
    'echo $x',
    'echo ${x}',
    'echo $(x)',
    'echo `x`',
    'echo $((1))',
    'echo $[1]',
    `echo $'a'`,
    'echo $"a"',
    'echo "$x"',
    'echo "`x`"',
    'echo "\\a"',
    'echo "a!b"',
  ],
  'braces and patterns': [
    'echo {a,b}',
    'echo *',
    'echo -*',
    'echo [a]',
    'echo ?a',
    'echo a"b"*',
    'echo @(a)',
    'echo =ls',
  ],
  tildes: ['cat ~root', 'cat ~root/x', 'cat ~+', 'cat ~-/x', 'cat a=~/x', 'cat a:~/x', 'cat x > ~/f'],
  assignments: ['x=1', 'x=1 ls', 'x+=1', 'a[0]=1', 'a=(1)', 'export x=1', 'ls; x=1'],
  keywords: [
    'if true; then ls; fi',
    'for x in a; do ls; done',
    'while true; do ls; done',
    'case a in esac',
    'select x in a; do ls; done',
    'time ls',
    '! ls',
    'coproc ls',
    'function f { ls; }',
    '[[ a ]]',
    '((1))',
    '{ ls; }',
    '(ls)',
    'ls() { ls; }',
  ],
  operators: ['ls &', 'ls & ls', 'ls |& ls', 'ls ;; ls', 'ls ; ; ls', 'ls &&', 'ls |', '&& ls', '; ls', '| ls'],
  redirections: [
    'ls &>f',
    'ls >|f',
    'cat <>f',
    'cat <<E\nE',
    'cat <<<a',
    'ls >&f',
    'ls >&-',
    'ls <&0',
    'ls {x}>f',
    'ls 12>f',
    'ls > *',
    'ls > $f',
    'ls >',
    'cat < /dev/tcp/h/1',
    'cat <(ls)',
    'ls > >(ls)',
    '> f',
  ],
  'quotes and characters': [
    'echo "a',
    `echo 'a`,
    'echo a\\b',
    'echo \\',
    'ls # a',
    'ls #',
    'echo a#b',
    'ls\r',
    'ls \u000b',
    'ls\u00a0a',
    'ls \u00e9',
    `echo 'a\u0001'`,
    '"ls"',
    `l's'`,
    '-x',
    '%1',
    '',
    ' ',
    '\n',
  ],
};

for (const [what, lines] of Object.entries(notPlain))
  test(`not plain: ${what}`, async () => {
    for (const line of lines) assert.ok('notPlain' in (await provePlainLine(line)), JSON.stringify(line));
  });

test('a plain line is bounded', async () => {
  for (const line of [
    'ls;'.repeat(maxPlainCommands + 1),
    `ls ${'a '.repeat(maxPlainWords)}`,
    `ls ${'a'.repeat(maxPlainLength)}`,
  ])
    assert.ok('notPlain' in (await provePlainLine(line)));
  assert.ok('line' in (await provePlainLine('ls;'.repeat(maxPlainCommands))));
});
