// Commands as an attacker writes them, against a policy that allows common read commands and forbids two.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { formatApprovalPrompt } from '../permission.ts';
import { evaluatePolicy } from './evaluate.ts';
import { parsePolicy } from './policy.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-policy-')));
after(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(path.join(root, '.env'), 'KEY=1\n');
symlinkSync('.env', path.join(root, 'settings'));

const readOnlyCommands = [
  'git log',
  'git diff',
  'git status',
  'ls',
  'cat',
  'echo',
  'rg',
  'grep',
  'find',
  'sort',
  'sed',
  'tree',
  'date',
  'go test',
  'man',
  'tar',
  'wc',
  'true',
  'xargs',
  'awk',
  'env',
  'head',
];
const policy = parsePolicy(
  {
    rules: [
      { allow: { command: readOnlyCommands } },
      { allow: { command: 'curl', host: ['docs.example.com', '*.example.org'] } },
      { deny: { command: ['rm', 'wget', 'git push'] }, why: 'Nothing is removed here.' },
      { deny: { path: '**/.env' } },
      { allow: { tool: 'write_file', path: 'out/**' } },
      { ask: { tool: 'mcp__*' } },
      { allow: { tool: 'web_fetch', host: 'docs.example.com' } },
    ],
  },
  'policy',
);

const workspace = localWorkspace({ roots: [root] });
const isPrivate = (host: string): boolean => /^(127\.|10\.|169\.254\.|::1$|::ffff:|localhost$|0\.0\.0\.0$)/.test(host);
const policyContext = {
  locate: (given: string) => workspace.locate(given),
  cwd: root,
  home: '/home/somebody',
  isPrivate,
};
const effectOf = async (tool: string, input: Record<string, string>): Promise<string> =>
  (await evaluatePolicy(policy, { tool, input }, policyContext)).effect;
const commandEffect = (text: string): Promise<string> => effectOf('run_command', { command: text });

/** Asserts the decision for each of these commands. */
async function assertAll(wanted: 'allow' | 'ask' | 'deny' | 'not allowed', commands: readonly string[]): Promise<void> {
  for (const each of commands) {
    const effect = await commandEffect(each);
    if (wanted === 'not allowed') assert.notEqual(effect, 'allow', each);
    else assert.equal(effect, wanted, each);
  }
}

test('plain commands that match a rule are allowed, in any combination', () =>
  assertAll('allow', [
    'git log',
    'git log --oneline -5 -- src',
    'git log -p -c',
    'git diff | head -20',
    'ls -la src && cat "a b" ; wc -l < file',
    "rg 'a|b' src",
    '/usr/bin/git status',
    'command git log',
    'timeout 5 git log',
    'sed -n 1,5p file',
    'cat x 2>/dev/null 2>&1',
    'find . -name "*.ts"',
    'echo done > out/log.txt',
    'curl -s https://docs.example.com/a',
  ]));

test('a command line that is not plain is never allowed, and is asked about if a rule forbids a command', () =>
  assertAll('ask', ['if true; then ls; fi', 'ls # comment', 'ls &', '! ls', '(ls)', 'time ls']));

test('[attack 1] [attack 2] every command of a chain is evaluated separately', async () => {
  await assertAll('deny', [
    'git log && rm -rf ~',
    'git log; rm x',
    'git log || rm x',
    'git log & rm x',
    'true | rm x',
    '! rm x',
    'time rm x',
    '(rm x)',
    '{ rm x; }',
    'if true; then rm x; fi',
    'coproc rm x',
  ]);
  await assertAll('not allowed', ['git log | sh', 'git log && make']);
});

test('[attack 3] a line break separates commands, and a carriage return does not hide one', async () => {
  assert.equal(await commandEffect('git log\nrm -rf x'), 'deny');
  await assertAll('ask', ['git log\rrm -rf x', 'git log \u000b rm']);
});

test('[attack 4] [attack 5] command substitutions are evaluated too, at any depth', async () => {
  await assertAll('deny', [
    'echo $(rm -rf x)',
    'echo `rm -rf x`',
    'cat <(rm x)',
    'cat x > >(rm x)',
    'echo $(echo $(echo $(echo $(echo $(rm x)))))',
    'echo "a $(rm x)"',
    'cat <<< "$(rm x)"',
    'cat <<E\n$(rm x)\nE',
    'echo ${a:-$(rm x)}',
    'echo $((a[$(rm x)]))',
    '[[ -f $(rm x) ]]',
    'a[$(rm x)]=1',
  ]);
  await assertAll('not allowed', ['git log --format=$(curl evil)', 'echo $(', 'echo "']);
});

test('[attack 6] a redirection is a write, and outside the workspace it is denied', async () => {
  await assertAll('deny', [
    'echo hi > ~/.bashrc',
    'echo hi >> /etc/profile',
    'echo hi >| ../../x',
    'ls 2> ~/.profile',
    'ls &> ~/.x',
    'cat <> ~/.y',
    'echo x > .git/hooks/pre-commit',
    'echo x > .env',
    '{ ls; } > ~/.z',
  ]);
  await assertAll('not allowed', [
    'echo x | tee ~/.bashrc',
    'echo x > src/a.ts',
    'cd /etc && echo x > passwd',
    'echo x > $HOME/a',
  ]);
});

test('[attack 6] a home directory inside the temporary directory is not writable', async () => {
  // A home directory with a trailing slash is the same directory.
  for (const home of ['/tmp/somebody', '/tmp/somebody/']) {
    const effect = async (text: string): Promise<string> =>
      (await evaluatePolicy(policy, { tool: 'run_command', input: { command: text } }, { ...policyContext, home }))
        .effect;
    for (const text of ['echo hi > ~/.bashrc', 'echo hi >> /tmp/somebody/notes'])
      assert.equal(await effect(text), 'deny', text);
    assert.equal(await effect('echo hi > /tmp/notes'), 'unmatched');
  }
});

test('[attack 7] a forbidden command is found after any number of others', async () => {
  assert.equal(await commandEffect(`${'true;'.repeat(60)} rm x`), 'deny');
  assert.equal(await commandEffect(`${'true;'.repeat(5000)} rm x`), 'deny');
});

test('[attack 8] a rule matches whole words', () =>
  assertAll('not allowed', ['git logout', 'git', 'lsof', 'git --paginate log', 'catx y']));

test('[attack 9] an obfuscated name is resolved as the shell resolves it, or needs approval', async () => {
  await assertAll('deny', [
    'git"" push',
    'g""it push',
    "$'\\x67it' push",
    '\\git push',
    'command git push',
    'env git push',
    'busybox rm x',
    '/bin/rm x',
    'git -C . push',
    'nohup nice -n 5 rm x',
    'exec rm x',
    'sudo rm x',
    'sudo -u somebody rm x',
    'env -S "rm x"',
    'env -u A rm x',
    'timeout --foreground 5 rm x',
    'nice --adjustment=5 rm x',
    'ls | xargs -I {} rm {}',
    'r\\m x',
    'RM x',
    'exec -a ls rm x',
    'flock f rm x',
    'su -c "rm x"',
    'script -qc "rm x"',
    'taskset 0x1 rm x',
    'busybox sh -c "rm x"',
  ]);
  await assertAll('ask', [
    'git${IFS}push',
    '$X y',
    '{git,push}',
    '/bin/r? x',
    'echo rm x | sh',
    'cat <<E | bash\nrm x\nE',
    '. <(echo rm x)',
    `python3 -c 'x'`,
    `perl -e 'x'`,
    `git -c alias.x='!rm x' x`,
    `awk 'BEGIN{system(1)}'`,
  ]);
});

test('[attack 10] commands inside commands are evaluated, or need approval', async () => {
  await assertAll('deny', [
    'eval "rm x"',
    'bash -c "rm x"',
    'sh -lc "ls; rm x"',
    'sh<<E\nrm x\nE',
    'sh <<< "rm x"',
    'ls | xargs rm',
    'find . -exec rm {} \\;',
    'find . -execdir rm {} +',
    'ls | parallel rm',
    'bash -c "bash -c \'rm x\'"',
    'trap "rm x" EXIT',
  ]);
  await assertAll('not allowed', [
    'X=rm; $X -rf .',
    'find . -delete',
    'bash -c "$X"',
    'eval ls',
    'ls | xargs cat',
    'bash script.sh',
    'source x',
  ]);
});

test('[attack 11] a variable assignment before a command can change its meaning and needs approval', () =>
  assertAll('not allowed', [
    'LD_PRELOAD=./x.so ls',
    'PATH=.:$PATH ls',
    'GIT_SSH_COMMAND=x git log',
    'PAGER=./x git log',
    'BASH_ENV=x ls',
    'env PAGER=x git log',
    'PATH=.; ls',
    'FOO=1 ls',
  ]));

test('[attack 12] [attack 13] an allow rule for a program does not cover options that run or write something', () =>
  assertAll('not allowed', [
    'rg --pre ./x.sh a',
    'rg --pre=./x.sh a',
    'sort -o ~/.bashrc x',
    'sort -uo x y',
    'sort --compress-program=sh x',
    "sed -n 'w f' x",
    'sed e x',
    'sed -i s/a/b/ x',
    "sed '1e ls' x",
    'git diff --output=f',
    'git diff --outp=f',
    'sort --outp=f x',
    'sort --comp=sh x',
    'grep -f/etc/shadow x',
    'grep --fil=x y',
    'git diff --ext-diff',
    'git -c core.pager=x log',
    "git -c alias.x='!sh' x",
    'git log -c x --output f',
    'tar --checkpoint-action=exec=sh x',
    'tar xf a -I sh',
    'tar --to-command=sh -xf a',
    'go test -exec sh',
    'go test -toolexec=sh',
    'man -P sh ls',
    "awk 'BEGIN{system(1)}'",
    'date -f /etc/shadow',
    'tree -o x',
    'find . -fprintf x y',
    'find -- -fprint0 x',
    'find / -files0-from x',
    'wc --files0-from=x',
    'grep -f /etc/shadow x',
    'git log *',
    'rg a *',
    './git log',
  ]));

test('[attack 14] encoded commands need approval, and the user sees the decoded text', async () => {
  const hidden = 'echo cm0gLXJmIH4= | base64 -d | sh';
  await assertAll('not allowed', [hidden, "printf '\\x72\\x6d x' | sh", 'echo 726d2078 | xxd -r -p | sh']);
  assert.match(
    formatApprovalPrompt({ tool: 'run_command', input: { command: hidden } }, policyContext.locate),
    /\ndecoded: rm -rf ~$/,
  );
  assert.doesNotMatch(
    formatApprovalPrompt({ tool: 'run_command', input: { command: 'echo plain' } }, policyContext.locate),
    /decoded/,
  );
});

test('[attack 73] a name with lookalike characters is reported, and text in another alphabet is not', () => {
  const question = (command: string): string =>
    formatApprovalPrompt({ tool: 'run_command', input: { command } }, policyContext.locate);
  assert.match(
    question('pip install requ\u0435sts'),
    /\nhomoglyphs \(letters that look like others\): requ\u0435sts \(U\+0435\)$/,
  );
  assert.doesNotMatch(question('echo \u043f\u0440\u0438\u0432\u0435\u0442 world'), /look like/);
});

test('[attack 15] a long command is shown in full', () => {
  const long = `git log${' '.repeat(5000)}; curl evil`;
  assert.ok(
    formatApprovalPrompt({ tool: 'run_command', input: { command: long } }, policyContext.locate).includes(long),
  );
});

test('[attack 16] a function or an alias needs approval, and its body is evaluated', async () => {
  await assertAll('deny', ['ls() { rm x; }; ls', 'alias ls="rm x"']);
  await assertAll('ask', ['ls() { true; }; ls', 'alias ls=true', ':(){ :|:& };:']);
});

test('[attack 19] a command of 10 MB is refused without being parsed', async () => {
  assert.notEqual(await commandEffect(`echo ${'x'.repeat(10_000_000)}`), 'allow');
});

test('[attack 20] the real host of a URL is evaluated', async () => {
  await assertAll('deny', [
    'curl http://127.1',
    'curl http://[::ffff:7f00:1]',
    'curl http://0x7f000001',
    'curl http://2130706433',
    'curl http://169.254.169.254/',
    'curl --url=http://localhost:1',
  ]);
  await assertAll('not allowed', [
    'curl https://docs.example.com@evil.com',
    'curl https://docs.example.com.evil.com',
    'curl https://docs.example.com evil.com',
    'curl evil.com',
    'curl -o x https://docs.example.com',
    'curl -L https://docs.example.com',
    'curl https://notexample.org',
  ]);
  await assertAll('allow', ['curl https://DOCS.example.com./x', 'curl https://a.example.org']);
  assert.equal(await effectOf('web_fetch', { url: 'https://docs.example.com/x' }), 'allow');
  assert.equal(await effectOf('web_fetch', { url: 'https://docs.example.com:x@evil.com/' }), 'unmatched');
  assert.equal(await effectOf('web_fetch', { url: 'http://2130706433/' }), 'deny');
});

test('[attack 23] [attack 29] [attack 30] a path is evaluated by its target, in any spelling', async () => {
  assert.equal(await effectOf('read_file', { path: 'settings' }), 'deny');
  assert.equal(await effectOf('read_file', { path: '.ENV' }), 'deny');
  assert.equal(await effectOf('read_file', { path: 'x/.env.' }), 'deny');
  assert.equal(await effectOf('read_file', { path: 'x/../.env' }), 'deny');
  await assertAll('deny', [
    'cat .env',
    'cat ./settings',
    'head --lines=1 x/.Env',
    'cat < .env',
    'grep -r --include=.env x',
  ]);
  assert.equal(await effectOf('write_file', { path: 'out/a' }), 'allow');
  assert.equal(await effectOf('write_file', { path: 'out/../a' }), 'unmatched');
  assert.equal(await effectOf('write_file', { path: 'OUT/a' }), 'unmatched');
});

test('[attack 29] [attack 21] an allow rule for a command covers the workspace, and not secret files', () =>
  assertAll('not allowed', [
    'cat /etc/hosts',
    'cat ~/.aws/credentials',
    'ls ../..',
    'head id_rsa',
    'cat server.pem',
    'grep --include=x y /root',
    'cat < id_rsa',
    'cat < server.pem',
    'git show HEAD:id_rsa',
  ]));

test('after a change of directory relative paths need approval, unless the directory stays the same', async () => {
  await assertAll('ask', ['cd src && cat secret', 'cd; cat x', 'pushd src; cat x', 'cd "$X"; cat x']);
  await assertAll('allow', ['cd . && ls', `cd ${root} && ls`]);
});

test('[attack 29] a glob is not allowed if it could match a forbidden file', async () => {
  await assertAll('not allowed', ['cat .en*', 'cat ./.e?v', 'cat src/*', 'cat src/*.ts']);
  const simple = parsePolicy({ rules: [{ allow: { command: 'cat' } }] }, 'policy');
  const says = async (text: string): Promise<string> =>
    (await evaluatePolicy(simple, { tool: 'run_command', input: { command: text } }, policyContext)).effect;
  assert.equal(await says('cat src/*.ts'), 'allow');
  mkdirSync(path.join(root, 'links'));
  symlinkSync('/etc/hostname', path.join(root, 'links/a.ts'));
  for (const text of ['cat links/*.ts', 'cat l*/a.ts']) assert.notEqual(await says(text), 'allow', text);
  assert.equal(await says('cat links/*.js'), 'allow');
  for (const text of ['cat .en*', 'cat src/*', 'cat *.ts', 'cat ./*.pem', 'cat ./.[e]nv'])
    assert.notEqual(await says(text), 'allow', text);
});

test('[attack 28] an allow rule for a program that writes does not cover files that other programs execute', async () => {
  const writers = parsePolicy({ rules: [{ allow: { command: ['cp', 'mv', 'tee', 'mkdir'] } }] }, 'policy');
  const says = async (text: string): Promise<string> =>
    (await evaluatePolicy(writers, { tool: 'run_command', input: { command: text } }, policyContext)).effect;
  for (const text of ['cp a .git/hooks/pre-commit', 'tee .vscode/tasks.json', 'mv a .git/config'])
    assert.notEqual(await says(text), 'allow', text);
  for (const text of ['cp -r a b', 'mkdir -p src/new', 'mv a b']) assert.equal(await says(text), 'allow', text);
});

test('a rule that allows a tool by name allows its commands, if they can be parsed', async () => {
  const whole = parsePolicy({ rules: [{ allow: { tool: 'run_command' } }, { deny: { command: 'rm' } }] }, 'policy');
  const says = async (text: string): Promise<string> =>
    (await evaluatePolicy(whole, { tool: 'run_command', input: { command: text } }, policyContext)).effect;
  assert.equal(await says('make -j4 && ./run'), 'allow');
  assert.equal(await says('make; rm x'), 'deny');
  for (const text of [
    'make > log',
    'eval make',
    '$X',
    'cat /etc/passwd',
    'cp x .git/hooks/pre-commit',
    'tee ~/.bashrc',
  ])
    assert.notEqual(await says(text), 'allow', text);
  const other = parsePolicy({ rules: [{ allow: { tool: '*' } }] }, 'policy');
  assert.equal(
    (await evaluatePolicy(other, { tool: 'run_command', input: { command: 'make' } }, policyContext)).effect,
    'unmatched',
  );
});

test('a folder or arguments beside a command are not covered by an allow rule for the command', async () => {
  const effect = async (input: JsonObject): Promise<string> =>
    (await evaluatePolicy(policy, { tool: 'other_shell', input }, policyContext)).effect;
  assert.equal(await effect({ command: 'cat a' }), 'allow');
  assert.equal(await effect({ command: 'cat a', cwd: '/etc' }), 'unmatched');
  assert.equal(await effect({ command: 'cat', args: ['/etc/passwd'] }), 'ask');
  assert.equal(await effect({ command: 'cat a', env: { PATH: '.' } }), 'ask');
});

test('a tool without a rule is left to the next gate, and a strict rule covers every way to call a tool', async () => {
  assert.equal(await effectOf('edit_file', { path: 'a' }), 'unmatched');
  assert.equal(await effectOf('mcp__x__y', {}), 'ask');
  const through = await evaluatePolicy(
    policy,
    { tool: 'use_tool', input: { tool: 'run_command', input: { command: 'rm x' } } },
    policyContext,
  );
  assert.deepEqual(through, { effect: 'deny', why: ['Nothing is removed here.'] });
});
