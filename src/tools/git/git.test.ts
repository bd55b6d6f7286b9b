// The git tools on real repositories and a real bare remote: what they do, and that no program of a repository runs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { noGit } from '../../../test/support/programs.ts';
import { callTool } from '../../../test/support/tool-call.ts';
import type { Json } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { gitTools } from './index.ts';

type GitFixture = {
  readonly root: string;
  /** Runs git as a user does. */
  readonly sh: (args: string, cwd?: string) => string;
  readonly call: (
    tool: string,
    input: Json,
    folder?: string,
    isConfined?: boolean,
  ) => Promise<{ readonly text: string; readonly failed: boolean }>;
  readonly put: (name: string, content: string) => void;
};

/** A workspace with a repository of one commit, and its own home directory. */
function setup(t: TestContext): GitFixture {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-git-')));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const root = path.join(top, 'root');
  mkdirSync(root);
  writeFileSync(
    path.join(top, 'gitconfig'),
    '[user]\n\tname = Ada\n\temail = ada@example.test\n[init]\n\tdefaultBranch = main\n',
  );
  const before = { ...process.env };
  process.env['GIT_CONFIG_GLOBAL'] = path.join(top, 'gitconfig');
  t.after(() => (process.env = before));
  const sh = (args: string, cwd = root): string =>
    execFileSync('bash', ['-c', `git ${args}`], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const put = (name: string, content: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  };
  sh('init -q .');
  put('a.txt', 'one\n');
  sh('add -A && git commit -qm first');
  return {
    root,
    sh,
    put,
    async call(name, input, folder = '.', isConfined = false) {
      const workspace = localWorkspace({ roots: [path.join(root, folder)] });
      const { text, outcome } = await callTool(
        gitTools({ read: workspace, change: workspace, isConfined }),
        name,
        input,
      );
      return { text, failed: outcome === 'failed' };
    },
  };
}

test('[P18] status, diff, log, show and branches show the content of a repository', { skip: noGit }, async (t) => {
  const { call, put, sh } = setup(t);
  put('a.txt', 'two\n');
  put('new.txt', 'x\n');
  assert.equal((await call('git', { operation: 'status' })).text, '## main\n M a.txt\n?? new.txt');
  assert.match((await call('git', { operation: 'diff' })).text, /^diff --git a\/a\.txt b\/a\.txt\n[^]*-one\n\+two$/);
  assert.equal((await call('git', { operation: 'diff', staged: true })).text, '(no output)');
  assert.equal((await call('git', { operation: 'diff', path: 'new.txt' })).text, '(no output)');
  sh('commit -qam second && git branch topic HEAD~1');
  assert.match((await call('git', { operation: 'log' })).text, /^\w{7} \S+ Ada\n {4}second\n\w{7} \S+ Ada\n {4}first$/);
  assert.doesNotMatch((await call('git', { operation: 'log', limit: 1 })).text, /first/);
  assert.match((await call('git', { operation: 'diff', revision: 'topic..main' })).text, /\+two$/);
  assert.match((await call('git', { operation: 'show', revision: 'HEAD~1' })).text, /first[^]*\+one$/);
  assert.match((await call('git', { operation: 'branches' })).text, /^\* main \w{7} second\n {2}topic \w{7} first$/);
});

test(
  '[P18] commit includes the given files and no more; branches are created and switched',
  { skip: noGit },
  async (t) => {
    const { call, put, sh } = setup(t);
    put('a.txt', 'two\n');
    put('b.txt', 'new\n');
    put('-c.txt', 'odd\n');
    assert.match(
      (await call('git_change', { operation: 'commit', message: 'b only', paths: ['b.txt'] })).text,
      /^\w+ b only\n\n b\.txt \| 1 \+/,
    );
    assert.equal(sh('status --short'), ' M a.txt\n?? -c.txt\n');
    await call('git_change', { operation: 'commit', message: '--amend', paths: ['-c.txt'] });
    assert.equal(sh('log -1 --format=%s --name-only'), '--amend\n\n-c.txt\n');
    await call('git_change', { operation: 'commit', message: 'rest' });
    assert.equal(sh('log --format=%s'), 'rest\n--amend\nb only\nfirst\n');
    const nothing = await call('git_change', { operation: 'commit', message: 'nothing' });
    assert.ok(nothing.failed, nothing.text);
    await call('git_change', { operation: 'branch', name: 'topic', from: 'HEAD~3' });
    await call('git_change', { operation: 'switch', name: 'topic' });
    assert.equal(sh('log --format=%s'), 'first\n');
    assert.equal(sh('branch --show-current'), 'topic\n');
    assert.match((await call('git_change', { operation: 'commit' })).text, /needs a message/);
  },
);

test(
  '[P18] clone, pull and push transfer commits between a bare remote and the workspace',
  { skip: noGit },
  async (t) => {
    const { call, put, root, sh } = setup(t);
    sh('clone -q --bare . remote.git');
    const cloned = await call('git_remote', { operation: 'clone', url: 'remote.git', path: 'copy', depth: 1 });
    assert.equal(cloned.failed, false, cloned.text);
    assert.equal(readFileSync(path.join(root, 'copy/a.txt'), 'utf8'), 'one\n');
    assert.match(
      (await call('git_remote', { operation: 'clone', url: 'remote.git', path: 'copy' })).text,
      /is not empty/,
    );
    sh('remote add origin remote.git');
    put('a.txt', 'two\n');
    sh('commit -qam second');
    const pushed = await call('git_remote', { operation: 'push' });
    assert.equal(pushed.failed, false, pushed.text);
    assert.equal(sh('--git-dir=remote.git log --format=%s'), 'second\nfirst\n');
    sh('commit -q --amend -m rewritten');
    assert.equal((await call('git_remote', { operation: 'push' })).failed, true, 'never by force');
    sh('reset -q --hard HEAD~1');
    const pulled = await call('git_remote', { operation: 'pull' });
    assert.equal(pulled.failed, false, pulled.text);
    assert.equal(sh('log --format=%s'), 'second\nfirst\n');
  },
);

/** Configures every hook and setting of a repository to run a program that leaves a marker file. */
function plantHooks({ root, sh }: GitFixture): () => boolean {
  const mark = path.join(root, '..', 'mark');
  const trap = path.join(root, '..', 'trap');
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${mark}\ncat\n`);
  chmodSync(trap, 0o755);
  for (const hook of [
    'pre-commit',
    'post-commit',
    'commit-msg',
    'post-checkout',
    'pre-push',
    'post-merge',
    'post-index-change',
  ]) {
    mkdirSync(path.join(root, '.git/hooks'), { recursive: true });
    writeFileSync(path.join(root, '.git/hooks', hook), readFileSync(trap), { mode: 0o755 });
  }
  const keys =
    'core.fsmonitor core.pager core.editor core.askPass diff.external gpg.program pager.log pager.status alias.status';
  for (const key of keys.split(' ')) sh(`config ${key} ${key.startsWith('alias') ? `'!${trap}'` : trap}`);
  sh('config commit.gpgSign true && git config log.showSignature true');
  return () => existsSync(mark);
}

test(
  'attacks 12, 28, 38: no program that a repository configures runs on reading, committing or switching',
  { skip: noGit },
  async (t) => {
    const set = setup(t);
    const { call, put, sh } = set;
    sh('branch other');
    put('a.txt', 'two\n');
    const sprung = plantHooks(set);
    for (const operation of ['status', 'diff', 'log', 'show', 'branches']) {
      const told = await call('git', { operation });
      assert.equal(told.failed, false, told.text);
    }
    for (const input of [
      { operation: 'commit', message: 'm' },
      { operation: 'switch', name: 'other' },
      { operation: 'branch', name: 'b' },
    ]) {
      const told = await call('git_change', input);
      assert.equal(told.failed, false, told.text);
    }
    put('.gitattributes', '* diff=x\n');
    for (const key of ['diff.x.textconv', 'diff.x.command', 'unknown.key']) {
      sh(`config ${key} ${path.join(set.root, '..', 'trap')}`);
      const told = await call('git', { operation: 'diff' });
      assert.ok(told.failed && told.text.includes(`sets ${key}, which may run programs`), told.text);
      assert.equal((await call('git', { operation: 'diff' }, '.', true)).failed, false);
      sh(`config --unset ${key}`);
    }
    assert.equal(sprung(), false);
    assert.throws(() => sh('status --short && git commit --allow-empty -m x'), 'the marker programs are configured');
    assert.equal(sprung(), true);
  },
);

test(
  'attacks 12, 28: filters of a repository do not run on reading in a sandbox; outside, and where they are needed, git is refused',
  { skip: noGit },
  async (t) => {
    const set = setup(t);
    const { call, put, root, sh } = set;
    const mark = path.join(root, '..', 'mark');
    put('.gitattributes', '* filter=x\n');
    sh(`config filter.x.clean 'touch ${mark}; cat' && git config filter.x.required true`);
    put('a.txt', 'two\n');
    assert.match((await call('git', { operation: 'diff' }, '.', true)).text, /\+two/);
    assert.match((await call('git', { operation: 'status' }, '.', true)).text, /a\.txt/);
    assert.match((await call('git', { operation: 'status' })).text, /sets filter\.x\.clean, .*nothing was done/);
    for (const input of [
      { operation: 'commit', message: 'm' },
      { operation: 'switch', name: 'main' },
    ])
      assert.match((await call('git_change', input)).text, /sets filter\.x\.clean, .*nothing was done/);
    sh(`config --unset filter.x.clean && git config 'filter.a=b.smudge' 'touch ${mark}'`);
    assert.match((await call('git', { operation: 'status' }, '.', true)).text, /sets filter\.a=b\.smudge/);
    assert.equal(existsSync(mark), false);
  },
);

test(
  'attacks 12, 60: settings that redirect a connection are refused, and so are remote helper programs',
  { skip: noGit },
  async (t) => {
    const { call, root, sh } = setup(t);
    const mark = path.join(root, '..', 'mark');
    sh('clone -q --bare . remote.git && git remote add origin remote.git && git commit -q --allow-empty -m more');
    writeFileSync(path.join(root, 'remote.git/hooks/pre-receive'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    sh(
      `config remote.origin.receivepack 'touch ${mark};git-receive-pack' && git config remote.origin.uploadpack 'touch ${mark};git-upload-pack'`,
    );
    assert.equal((await call('git_remote', { operation: 'push' })).failed, false);
    assert.equal((await call('git_remote', { operation: 'pull' })).failed, false);
    for (const [key, value] of [
      ['core.sshCommand', `touch ${mark}`],
      ['url.https://evil.test/.insteadOf', 'https://good.test/'],
      ['credential.helper', `!touch ${mark}`],
      ['http.https://good.test.proxy', 'http://evil.test'],
      ['remote.origin.vcs', 'ext'],
    ]) {
      sh(`config '${key}' '${value}'`);
      assert.match(
        (await call('git_remote', { operation: 'push' })).text,
        /configuration sets .*nothing was done/,
        key,
      );
      sh(`config --unset-all '${key}'`);
    }
    for (const url of [
      `ext::sh -c touch% ${mark}`,
      'foo::bar',
      `--upload-pack=touch ${mark}`,
      'https://a:b@evil.test/x',
      '-oProxyCommand=x:y',
      '/etc',
      '../..',
      'file:///etc',
    ])
      assert.match(
        (await call('git_remote', { operation: 'clone', url, path: 'new' })).text,
        /is not a valid URL|is outside the workspace|name or password/,
        url,
      );
    sh(`remote set-url origin 'ext::sh -c touch% ${mark}'`);
    assert.match((await call('git_remote', { operation: 'pull' })).text, /is not a valid URL/);
    sh('config protocol.ext.allow always');
    assert.match((await call('git_remote', { operation: 'pull' })).text, /sets protocol\.ext\.allow/);
    assert.equal(existsSync(mark), false);
    assert.equal(existsSync(path.join(root, 'new')), false);
  },
);

test('attack 12: no argument of a call can act as an option or as a path outside', { skip: noGit }, async (t) => {
  const { call, root } = setup(t);
  for (const revision of [
    '--output=x',
    '-O/etc/passwd',
    '--no-index',
    'HEAD:a.txt',
    ':/first',
    'a....b',
    'a..b..c',
    '',
  ])
    assert.equal((await call('git', { operation: 'diff', revision })).failed, true, revision);
  for (const name of ['--orphan', '-f', 'a..b', 'a b', 'a~1', 'x.lock', ''])
    assert.match((await call('git_change', { operation: 'switch', name })).text, /is not the name of a branch/, name);
  for (const path of ['../..', '/etc'])
    assert.equal((await call('git', { operation: 'diff', path })).failed, true, path);
  assert.equal((await call('git_remote', { operation: 'push', remote: '--receive-pack=x' })).failed, true);
  assert.match((await call('git_remote', { operation: 'clone', url: '.', path: '../away' })).text, /outside/);
  assert.match((await call('git_remote', { operation: 'clone', url: '.', path: '.git/hooks/x' })).text, /\.git folder/);
  assert.equal(existsSync(path.join(root, 'x')), false);
});

test('attack 29: a diff omits files that usually contain secrets', { skip: noGit }, async (t) => {
  const { call, put, sh } = setup(t);
  put('.env', 'KEY=hunter2\n');
  put('sub dir/id_rsa', 'hunter2\n');
  put('z.txt', 'fine\n');
  sh('add -A && git commit -qm secrets');
  for (const input of [{ operation: 'show' }, { operation: 'diff', revision: 'HEAD~1..HEAD' }]) {
    const { text } = await call('git', input);
    assert.doesNotMatch(text, /hunter2/);
    assert.match(text, /b\/\.env\n\(omitted: [^]*\+fine$/);
  }
  const blob = sh('rev-parse HEAD:.env').trim();
  assert.equal((await call('git', { operation: 'show', revision: blob })).failed, true);
  put('.env', `${'x\n'.repeat(400_000)}hunter2\n`);
  assert.doesNotMatch((await call('git', { operation: 'diff' })).text, /hunter2|^\+x/m);
});

test(
  'attack 28: a directory that points to a repository elsewhere is refused; a worktree and a subdirectory are not',
  { skip: noGit },
  async (t) => {
    const { call, put, root, sh } = setup(t);
    put('sub/b.txt', 'b\n');
    put('c.txt', 'c\n');
    assert.equal((await call('git', { operation: 'status' }, 'sub')).text, '## main\n?? ./');
    assert.equal((await call('git', { operation: 'status', path: ':(top)c.txt' }, 'sub')).text, '## main');
    sh('worktree add -q ../linked && git init -q ../other');
    assert.match((await call('git', { operation: 'status' }, '../linked')).text, /^## linked$/);
    for (const file of ['.git', '../linked/.git']) {
      rmSync(path.join(root, file), { recursive: true });
      writeFileSync(path.join(root, file), `gitdir: ${path.join(root, '../other/.git')}\n`);
      assert.match((await call('git', { operation: 'log' }, path.dirname(file))).text, /is elsewhere/, file);
    }
    rmSync(path.join(root, '.git'));
    assert.match((await call('git', { operation: 'log' })).text, /not a git repository/);
  },
);

test(
  'attacks 12, 38: if the search path leads into the directory, no git of the directory runs, nor its helpers',
  { skip: noGit },
  async (t) => {
    const { call, root, put } = setup(t);
    const record = path.join(root, '..', 'record');
    for (const name of ['git', 'env', 'ssh', 'git-remote-https']) {
      put(`.venv/bin/${name}`, `#!/bin/sh\necho ${name} >> '${record}'\n`);
      chmodSync(path.join(root, '.venv/bin', name), 0o755);
    }
    symlinkSync(path.join(root, '.venv/bin'), path.join(root, '..', 'bin'));
    process.env['PATH'] = [`${root}/.venv/bin`, path.join(root, '..', 'bin'), process.env['PATH']].join(path.delimiter);
    const { text, failed } = await call('git', { operation: 'status' });
    assert.ok(!failed && text.includes('.venv'), text);
    for (const url of ['ssh://127.0.0.1:1/x', 'https://127.0.0.1:1/x'])
      assert.equal((await call('git_remote', { operation: 'clone', url, path: 'copy' })).failed, true);
    assert.equal(existsSync(record), false);
  },
);

test(
  '[P37] attack 84: over SSH the user’s agent is available to the call that connects, and to no other',
  { skip: noGit },
  async (t) => {
    const { call, root, sh } = setup(t);
    const place = path.join(root, '..', 'ssh');
    mkdirSync(place);
    const record = path.join(place, 'record');
    // Replaces ssh: records the agent socket it got and runs the requested command locally.
    const ssh = `#!/bin/sh\necho "$SSH_AUTH_SOCK" >> '${record}'\nfor last; do :; done\neval "$last"\n`;
    writeFileSync(path.join(place, 'ssh'), ssh, { mode: 0o755 });
    const calls = path.join(place, 'calls');
    const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    writeFileSync(path.join(place, 'git'), `#!/bin/sh\necho "$SSH_AUTH_SOCK|$*" >> '${calls}'\nexec ${real} "$@"\n`, {
      mode: 0o755,
    });
    process.env['PATH'] = `${place}:${process.env['PATH'] ?? ''}`;
    process.env['SSH_AUTH_SOCK'] = '/agent/of/the/person';
    sh('clone -q --bare . ../there.git');
    const url = `ssh://host${path.resolve(root, '../there.git')}`;
    sh(`remote add origin '${url}' && git commit -q --allow-empty -m more`);
    assert.equal((await call('git_remote', { operation: 'push' })).failed, false);
    assert.equal((await call('git_remote', { operation: 'clone', url, path: 'copy' })).failed, false);
    assert.deepEqual(readFileSync(record, 'utf8').trim().split('\n'), ['/agent/of/the/person', '/agent/of/the/person']);
    const agents = readFileSync(calls, 'utf8').match(/^\/agent.*--no-pager.*$/gm) ?? [];
    const looks = readFileSync(calls, 'utf8').match(/^\|.*(rev-parse|config|symbolic-ref).*$/gm) ?? [];
    assert.ok(
      looks.length > 0 && agents.every((each) => / (push|clone|pack-objects|index-pack) ?/.test(each)),
      agents.join('\n'),
    );
  },
);
