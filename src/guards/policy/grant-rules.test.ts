// Tests of grant rules: which rules are offered for a call, and that a hostile command is never covered by the prefix of a harmless one.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import type { Json } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { findGrantRules, formatGrantRule, grantCovers, sessionGrants, type GrantRule } from '../index.ts';
import type { PolicyContext } from './evaluate.ts';

function createContext(t: test.TestContext): PolicyContext {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-grant-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(path.join(root, 'src'));
  writeFileSync(path.join(root, '.env'), 'KEY=1');
  const workspace = localWorkspace({ roots: [root] });
  return { cwd: root, home: '/home/somebody', locate: (file) => workspace.locate(file), isPrivate: () => false };
}

const run = (command: string, more: Record<string, Json> = {}): { tool: string; input: Json } => ({
  tool: 'run_command',
  input: { command, ...more },
});

const prefixOf = async (command: string, context: PolicyContext): Promise<string | undefined> => {
  const [rule] = await findGrantRules(run(command), context);
  return rule?.type === 'command' ? rule.words.join(' ') : undefined;
};

test('[A75] the prefix that is offered names the program and its subcommand, script or target', async (t) => {
  const context = createContext(t);
  for (const [command, prefix] of [
    ['npm test', 'npm test'],
    ['npm test --silent', 'npm test'],
    ['npm run build', 'npm run build'],
    ['cargo test --release', 'cargo test'],
    ['go test -v ./...', 'go test'],
    ['git status --short', 'git status'],
    ['ls -la src', 'ls'],
    ['pytest -q', 'pytest'],
    ['make check', 'make check'],
    ['ruff check', 'ruff check'],
    ['npm test 2>&1', 'npm test'],
  ])
    assert.equal(await prefixOf(command ?? '', context), prefix, command);
});

test('[A75] no prefix is offered where it would say nothing about what runs', async (t) => {
  const context = createContext(t);
  for (const command of [
    'sh -c ls',
    'bash x.sh',
    'sudo ls',
    'env ls',
    'xargs ls',
    'nohup ls',
    'timeout 5 ls',
    'python3 x.py',
    'node x.js',
    'npx vitest',
    'perl -e 1',
    'awk 1',
    'docker run x',
    'ssh host ls',
    'eval ls',
    'source x',
    '. x',
    'find . -exec rm {} +',
    'git push',
    'git commit -m x',
    'git -c core.pager=x log',
    'git reset --hard',
    'git checkout x',
    'git config x y',
    'npm run',
    'npm install x',
    'npm exec x',
    'make',
    'rm -rf src',
    'mv a b',
    'cp a b',
    'tee x',
    'curl https://example.com',
    'wget x',
    './test.sh all',
    '/opt/x test',
    'tool',
    'tool -x',
    'tool /etc',
    'npm test > out.txt',
    'npm test | tee x',
    'npm test; ls',
    'npm test && ls',
    'X=1 npm test',
    'npm test $(ls)',
    'npm test `ls`',
    'npm test *',
    'npm test &',
    '(npm test)',
    '{ npm test; }',
    'npm test <<< x',
    '! npm test',
    'npm te\\st',
    'ls ../..',
    'cat .env',
    'git diff --ext-diff',
    'git log --output=x',
    'pytest -p evil',
    'make -f evil.mk check',
    'cargo test --config x',
  ])
    assert.equal(await prefixOf(command, context), undefined, command);
});

const granted: Readonly<Record<string, GrantRule>> = Object.fromEntries(
  [
    'npm test',
    'git diff',
    'git log',
    'ls',
    'cat',
    'grep',
    'cargo test',
    'make check',
    'pytest',
    'ruff check',
    'find',
  ].map((words) => [words, { type: 'command', tool: 'run_command', words: words.split(' ') }]),
);

test('[A75, attack 114] a grant of a prefix covers no hostile command that begins with it', async (t) => {
  const context = createContext(t);
  const hostile: Readonly<Record<string, readonly string[]>> = {
    'npm test': [
      'npm test; rm -rf /',
      'npm test && rm -rf /',
      'npm test || rm x',
      'npm test | sh',
      'npm test & rm x',
      'npm test\nrm -rf /',
      'npm test > /etc/passwd',
      'npm test >> x',
      'npm test < .env',
      'npm test $(rm x)',
      'npm test `rm x`',
      'npm test ${IFS}x',
      'npm test "$(rm x)"',
      'npm test <(rm x)',
      'PATH=. npm test',
      'npm_config_script_shell=./x npm test',
      'npm test --script-shell=./x',
      'npm test --prefix /other',
      'npm test -- --reporter ./evil.js',
      'npm test --userconfig x',
      'npm  tests',
      'npm testx',
      'npm test:evil',
      'npm run test',
      'npm --prefix / test',
      'xnpm test',
      './npm test',
      'npm -- test',
      'npm test #\nrm x',
      'npm test\r\nrm x',
      'npm test \\\n; rm x',
      'npm tes""t; rm x',
      "npm 'test; rm x'",
      'npm test *',
      'npm test {a,b}',
      'npm test ~root',
      'npm test 1>x',
      'npm test &>x',
      'npm test 2>x',
      'exec npm test',
      'time npm test',
      'npm test !!',
      'npm test ; :',
      'npm test --silent; x',
    ],
    'git diff': [
      'git diff --ext-diff',
      'git diff --output=x',
      'git diff --no-index / x',
      'git -c x=y diff',
      'git diff -O/etc/x',
      'git difftool',
      'git diff; x',
      'git diff ../..',
      'git diff HEAD:.env',
    ],
    'git log': ['git log --output=x', 'git log -p --ext-diff', 'git log | sh'],
    ls: ['ls; rm x', 'ls ../..', 'ls /etc', 'ls ~', 'ls -la $(x)', 'ls > x', 'lsof'],
    cat: [
      'cat .env',
      'cat ../secret',
      'cat /etc/passwd',
      'cat ~/.ssh/id_rsa',
      'cat src/../.env',
      'cat id_rsa',
      'cat .e*',
      'cat a > b',
    ],
    grep: ['grep -f /etc/passwd x', 'grep KEY .env', 'grep -r x /', 'grep x --include=a ../..'],
    'cargo test': [
      'cargo test --config x',
      'cargo test --manifest-path /x',
      'cargo test -- --nocapture; x',
      'cargo +nightly test',
      'cargo test -Zx',
    ],
    'make check': [
      'make check -f x',
      'make check SHELL=./x',
      'make check CC=x',
      'make check evil=$(x)',
      'make check -C /',
      'make check --eval=x',
      'make -C / check',
    ],
    pytest: [
      'pytest -p evil',
      'pytest -c x',
      'pytest --rootdir=/',
      'pytest -o x=y',
      'pytest /etc',
      'pytest --pdbcls=x:y',
    ],
    'ruff check': ['ruff check --fix', 'ruff check --config x', 'ruff check /etc', 'ruff check; x'],
    find: [
      'find . -delete',
      'find . -exec rm {} +',
      'find . -execdir x {} +',
      'find . -fprint x',
      'find . -ok x',
      'find / -name x',
      'find . -- -delete',
    ],
  };
  for (const [words, commands] of Object.entries(hostile))
    for (const command of commands) {
      const rule = granted[words];
      assert.ok(rule);
      assert.equal(await grantCovers(rule, run(command), context), false, JSON.stringify(command));
    }
});

test('[A75] a grant of a prefix covers the same program with harmless arguments, and neither the background nor another tool', async (t) => {
  const context = createContext(t);
  const covers = (words: string, call: { tool: string; input: Json }): Promise<boolean> =>
    grantCovers(granted[words] as GrantRule, call, context);
  for (const [words, command] of [
    ['npm test', 'npm test'],
    ['npm test', 'npm test --silent'],
    ['npm test', 'npm test 2>&1'],
    ['git diff', 'git diff --stat HEAD~1'],
    ['ls', 'ls -la src'],
    ['cargo test', 'cargo test --release'],
    ['pytest', 'pytest -q src'],
  ] as const)
    assert.equal(await covers(words, run(command)), true, command);
  assert.equal(await covers('npm test', run('npm test', { timeout_s: 60 })), true);
  assert.equal(await covers('npm test', run('npm test', { background: true })), false);
  assert.equal(await covers('npm test', { tool: 'execute_sandboxed_command', input: { command: 'npm test' } }), false);
});

test('[A75] edits are covered in the folder only, and a tool only if it is of an MCP server', async (t) => {
  const context = createContext(t);
  const edits: GrantRule = { type: 'edits' };
  const edit = (file: string): { tool: string; input: Json } => ({
    tool: 'edit_file',
    input: { path: file, old_string: 'a', new_string: 'b' },
  });
  assert.deepEqual(await findGrantRules(edit('src/a.ts'), context), [edits]);
  assert.equal(await grantCovers(edits, edit('src/a.ts'), context), true);
  assert.equal(
    await grantCovers(edits, { tool: 'apply_patch', input: { paths: ['a', '../b'], patch: 'x' } }, context),
    false,
  );
  for (const file of ['../x', '/etc/passwd', '.env', 'sub/id_rsa'])
    assert.equal(await grantCovers(edits, edit(file), context), false, file);
  assert.equal(await grantCovers(edits, { tool: 'delete_file', input: { path: 'a' } }, context), false);
  assert.equal(await grantCovers(edits, run('touch a'), context), false);
  const [tool] = await findGrantRules({ tool: 'mcp__hub__greet', input: {} }, context);
  assert.ok(tool && formatGrantRule(tool) === 'every call of mcp__hub__greet');
  assert.equal(
    await grantCovers(tool, { tool: 'use_tool', input: { tool: 'mcp__hub__greet', input: { x: 1 } } }, context),
    true,
  );
  assert.equal(await grantCovers(tool, { tool: 'mcp__hub__delete', input: {} }, context), false);
  assert.equal(await grantCovers({ type: 'tool', tool: 'run_command' }, run('ls'), context), false);
});

test('grants of a session are listed, revoked and forgotten with it', async () => {
  const grants = sessionGrants();
  await grants.grant('a key');
  await grants.grant({ type: 'edits' });
  await grants.grant({ type: 'edits' });
  assert.deepEqual(
    grants.list().map(({ rule }) => formatGrantRule(rule)),
    ['a key', 'edits and new files in this folder'],
  );
  assert.equal(await grants.revoke('a key'), true);
  assert.equal(await grants.revoke('a key'), false);
  grants.clearSession();
  assert.deepEqual(grants.list(), []);
});
