// User commands: names, fields and arguments.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { expandCommand, findUserCommands, type UserCommand } from '../index.ts';

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const top = mkdtempSync(path.join(tmpdir(), 'fairlead-commands-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ 'repo/.git/HEAD': '', ...files })) {
    mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    writeFileSync(path.join(top, name), text);
  }
  return top;
}

const find = (top: string): ReturnType<typeof findUserCommands> =>
  findUserCommands({ cwd: path.join(top, 'repo'), home: path.join(top, 'home'), configDir: path.join(top, 'config') });
const command = (body: string): UserCommand => ({ name: 'x', description: '', body, file: '/x.md', scope: 'project' });
const expand = (body: string, args: string): string => expandCommand(command(body), args).text;

test('[P3] commands are found in the project and in the user’s directories, named by directory and file', async (t) => {
  const top = folder(t, {
    'repo/.fairlead/commands/fix.md':
      '---\ndescription: Fix it\nargument-hint: [issue] [priority]\nmodel: m\nallowed-tools: Bash(git:*)\n---\nFix $1.',
    'repo/.claude/commands/git/log.md': '# Show the log\n\nmore',
    'config/commands/mine.md': 'Mine.',
    'home/.claude/commands/theirs.md': 'Theirs.',
    'config/commands/notes.txt': 'not a command',
  });
  const { commands, problems } = await find(top);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    commands.map(({ name, description, scope }) => [name, description, scope]),
    [
      ['fix', 'Fix it', 'project'],
      ['git:log', 'Show the log', 'project'],
      ['mine', 'Mine.', 'personal'],
      ['theirs', 'Theirs.', 'personal'],
    ],
  );
  const { argumentHint, model, allowedTools, body } = commands[0] as UserCommand;
  assert.deepEqual([argumentHint, model, allowedTools, body], ['[issue] [priority]', 'm', 'Bash(git:*)', 'Fix $1.']);
});

test('the user’s command takes precedence over a project’s, and invalid files are reported', async (t) => {
  const top = folder(t, {
    'secret.txt': 'the secret',
    'repo/.fairlead/commands/deploy.md': 'hostile',
    'repo/.fairlead/commands/empty.md': '---\ndescription: d\n---\n \n',
    'repo/.fairlead/commands/two words.md': 'x',
    'repo/.fairlead/commands/huge.md': 'x'.repeat(262_145),
    'config/commands/deploy.md': 'mine',
  });
  symlinkSync(path.join(top, 'secret.txt'), path.join(top, 'repo/.fairlead/commands/leak.md'));
  const { commands, problems } = await find(top);
  assert.deepEqual(
    commands.map(({ name, body }) => [name, body]),
    [['deploy', 'mine']],
  );
  const why = Object.fromEntries(problems.map((each) => [path.basename(each.path), each.why]));
  assert.match(why['deploy.md'] ?? '', /hidden by the command of the same name/);
  assert.match(why['empty.md'] ?? '', /is empty/);
  assert.match(why['two words.md'] ?? '', /cannot be typed/);
  assert.match(why['huge.md'] ?? '', /longer than 262144 bytes/);
  assert.match(why['leak.md'] ?? '', /leads out of/);
});

test('arguments are inserted once, as typed', () => {
  assert.equal(expand('Look at $ARGUMENTS!', ' a  b '), 'Look at a  b!');
  assert.equal(expand('$1-$2-$3', 'a "b c"'), 'a-b c-');
  assert.equal(expand('$2 $1', `'x y' "a \\"q\\""`), 'a "q" x y');
  assert.equal(expand('$1', "it's"), "it's");
  assert.equal(expand('$$1 and $$ARGUMENTS cost $10 in $PATH', 'x'), '$1 and $ARGUMENTS cost $10 in $PATH\n\nx');
  assert.equal(expand('$1', '$2 $ARGUMENTS'), '$2', 'an argument is not expanded again');
  assert.equal(expand('Say hello.', ''), 'Say hello.');
  assert.equal(expand('Say hello.', 'to Ada'), 'Say hello.\n\nto Ada', 'arguments are not lost without a placeholder');
  assert.equal(expand('Read @src/a.ts', ''), 'Read @src/a.ts');
});

test('a shell command in a file never runs: it stays text, and the user sees a notice', () => {
  const { text, notices } = expandCommand(command('State: !`git status` and !`rm -rf /`'), '');
  assert.equal(text, 'State: !`git status` and !`rm -rf /`');
  assert.deepEqual(notices, [
    '/x asks for commands to be run (git status; rm -rf /). They were not run: the model sees them as text.',
  ]);
  assert.deepEqual(expandCommand(command('$1'), '!`id`').notices, [], 'text typed by the user is not checked');
});
