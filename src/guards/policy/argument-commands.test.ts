// Ways to bypass a policy: commands inside arguments, subscripts, options and variables of other commands.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { localWorkspace } from '../../workspace/index.ts';
import { evaluatePolicy } from './evaluate.ts';
import { parsePolicy } from './policy.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-runners-')));
after(() => rmSync(root, { recursive: true, force: true }));
const workspace = localWorkspace({ roots: [root] });
const policyContext = { locate: (given: string) => workspace.locate(given), cwd: root, home: '/home/somebody' };
const programs =
  'test printf sed git rg sort tar go man less split shuf bat xxd eslint prettier pytest cargo make jq python3 node ssh-keygen date hostname npm vendor';
const policy = parsePolicy({ rules: [{ allow: { command: programs.split(' ') } }, { deny: { command: 'rm' } }] }, 'p');
const commandEffect = async (command: string): Promise<string> =>
  (await evaluatePolicy(policy, { tool: 'run_command', input: { command } }, policyContext)).effect;

test('[attack 10] a forbidden command is found in a subscript that the shell evaluates', async () => {
  for (const command of [
    "test -v 'a[$(rm x)]'",
    "[ -v 'a[$(rm x)]' ]",
    "printf -v 'a[$(rm x)]' y",
    "read 'a[$(rm x)]'",
    "unset 'a[`rm x`]'",
    "declare 'a[$(rm x)]=1'",
    "let 'a[$(rm x)]=1'",
    "wait -p 'a[$(rm x)]'",
  ])
    assert.equal(await commandEffect(command), 'deny', command);
  assert.equal(await commandEffect("test 'a[1]' = b"), 'allow');
});

test('[attack 12] a forbidden command is found in an option that runs a command', async () => {
  for (const command of [
    "rg --pre 'rm x' a",
    'rg --pre=rm a',
    'sort --compress-program=rm y',
    'tar --to-command=rm -xf a',
    "tar -I 'rm x' -xf a",
    'tar --checkpoint-action=exec=rm -cf a .',
    'go test -exec rm',
    "man -P 'rm x' ls",
    "less '+!rm x' f",
    "split --filter='rm x' f",
    "bat --pager 'rm x' f",
    "git grep -O'rm x' a",
    "git submodule foreach 'rm x'",
    'git bisect run rm x',
    "git rebase -x 'rm x' main",
    "git difftool --extcmd='rm x'",
    "mapfile -C 'rm x' a",
    "readarray -C 'rm x' a",
    "compgen -C 'rm x'",
    'bind -x \'"a":rm x\'',
    "zip a.zip f -TT 'rm x'",
    "rsync -e 'rm x' a h:b",
    "vi -c '!rm x'",
    "gdb -ex '!rm x'",
    "socat - EXEC:'rm x'",
    'ssh host rm x',
    "ssh -o ProxyCommand='rm x' h",
  ])
    assert.equal(await commandEffect(command), 'deny', command);
});

test('[attack 9] a forbidden command is found after every program that starts another', async () => {
  for (const starter of [
    'ltrace',
    'systemd-run --user',
    'pkexec',
    '/lib64/ld-linux-x86-64.so.2',
    'ld.so',
    'setpriv --reuid 1',
    'prlimit --cpu=1',
    'fakeroot',
    'hyperfine',
    'docker run --rm image',
    'kubectl exec pod --',
    'uv run',
    'poetry run',
    'tmux new -d',
    'entr',
  ])
    assert.equal(await commandEffect(`${starter} rm x`), 'deny', starter);
});

test('[attack 11] a variable that sets options or the search path of a program needs approval', async () => {
  for (const setting of [
    "LESSOPEN='|rm x'",
    "LESS='+!rm x'",
    'RIPGREP_CONFIG_PATH=x',
    'TAR_OPTIONS=--to-command=rm',
    'npm_config_script_shell=./x',
    'MAKEFLAGS=--eval=x',
    'GOFLAGS=-toolexec=./x',
    'RUSTC_WRAPPER=./x',
    'CARGO_BUILD_RUSTC=./x',
    'HOME=/tmp/x',
    'XDG_CONFIG_HOME=.',
    'GCONV_PATH=.',
    'SSH_ASKPASS=./x',
  ])
    assert.equal(await commandEffect(`${setting} git log`), 'ask', setting);
});

test('[attack 12] an allow rule does not cover options that make a program write, load or run something', async () => {
  for (const command of [
    'sed -n 1p -i f',
    'sed 1p --in-place=x f',
    'git archive -o x HEAD',
    'git archive --remote=ssh://h/x HEAD',
    "git fetch 'ext::sh -c x'",
    'git ls-remote fd::3',
    'git clone ssh://-oProxyCommand=x/y z',
    'shuf -o x f',
    'xxd a b',
    'eslint --fix',
    'eslint -c evil.js',
    'eslint --rulesdir=.',
    'prettier --plugin=./x.js f',
    'prettier --write f',
    'pytest -p evil',
    'pytest -o addopts=x',
    'cargo test --config \'build.rustc-wrapper="./x"\'',
    "make CC='x'",
    'jq -L . x',
    'ssh-keygen -l -D ./x.so',
    'date 0101',
    'hostname evil',
    'go test -cpuprofile x',
    'vendor --plugin x',
    'vendor --exec=x',
    'python3 <<E\nx\nE',
    'node < f',
  ])
    assert.notEqual(await commandEffect(command), 'allow', command);
  for (const command of [
    'sed -n 1,5p f',
    'git log --oneline',
    'date +%s',
    'jq . f',
    'eslint src',
    'xxd a',
    'go test ./...',
  ])
    assert.equal(await commandEffect(command), 'allow', command);
});

test('[attack 6] a redirection into the home directory is denied in any spelling of that directory', async () => {
  for (const target of ['$HOME/.bashrc', '"$HOME/.bashrc"', '${HOME}/.bashrc', '"${HOME}"/.profile'])
    assert.equal(await commandEffect(`printf x > ${target}`), 'deny', target);
});
