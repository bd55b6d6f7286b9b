// Attacks on git that changes a repository or connects to a server: it runs inside the sandbox, and outside only in a private repository.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createCodingAgent } from '../src/coding-agent/create-agent.ts';
import { readSettings } from '../src/coding-agent/settings/index.ts';
import type { JsonObject, RunState } from '../src/core/index.ts';
import { withSandbox } from '../src/guards/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { createAttackFixture, type AttackFixture } from './support/attack-fixture.ts';
import { assertAttack } from './support/attack-report.ts';
import { createRepository, git } from './support/git-repository.ts';
import { noSandbox } from './support/sandbox.ts';
import { callTool } from './support/tool-call.ts';

const noGit = spawnSync('git', ['--version']).status === 0 ? false : 'no git here';
const skip = (await noSandbox()) || noGit;

function commitFiles(root: string, files: Readonly<Record<string, string>>, message: string): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', message);
}

const markOf = ({ siblingDir }: Pick<AttackFixture, 'siblingDir'>): string => path.join(siblingDir, 'mark');

type Result = { readonly text: string; readonly outcome: string };

const call = (fixture: AttackFixture, tool: string, input: Readonly<Record<string, unknown>>): Promise<Result> =>
  callTool(fixture.codingAgent.tools, tool, input as never);

/** Makes a call whose protected files the user approved. */
async function callApproved(fixture: AttackFixture, tool: string, input: JsonObject): Promise<Result> {
  const { tools } = fixture.codingAgent;
  const question = await tools.find(({ name }) => name === tool)?.needsApproval?.(input, {} as RunState);
  assert.equal(typeof question, 'string', 'the user is asked about the protected files');
  return callTool(tools, tool, input, { call: { id: 'c1', tool, input, granted: [String(question)] } });
}

const run = (fixture: AttackFixture, command: string): Promise<Result> => call(fixture, 'run_command', { command });

/** Runs a command in the sandbox until the end of the test; returns when it is ready. */
async function startBackground(fixture: AttackFixture, command: string): Promise<void> {
  const { root } = fixture;
  const ending = new AbortController();
  const ended = withSandbox(localWorkspace({ roots: [root] }), fixture.codingAgent.sandbox).exec(command, {
    signal: ending.signal,
  });
  fixture.beforeRemoval(() => {
    ending.abort();
    return ended;
  });
  const ready = path.join(root, 'ready');
  for (let tries = 0; tries < 1500 && !existsSync(ready); tries++) await wait(20);
  assert.ok(existsSync(ready), 'the command did not start');
}

test('[attack 89] a link in the git directory does not lead a commit to a file outside', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, createRepository);
  const { root, siblingDir } = fixture;
  const victims = ['message', 'log', 'heads/topic'].map((name) => path.join(siblingDir, name));
  mkdirSync(path.join(siblingDir, 'heads'));
  for (const file of victims) writeFileSync(file, 'own\n');
  await run(
    fixture,
    `rm -f .git/COMMIT_EDITMSG .git/logs/HEAD; ln -s ${victims[0]} .git/COMMIT_EDITMSG; ln -s ${victims[1]} .git/logs/HEAD; echo two > a.txt`,
  );
  await call(fixture, 'git_change', { operation: 'commit', message: 'touch /tmp/x' });
  await run(
    fixture,
    `rm -f .git/logs/HEAD; cp -r .git/refs/heads .git/old; rm -rf .git/refs/heads; ln -s ${siblingDir}/heads .git/refs/heads`,
  );
  await call(fixture, 'git_change', {
    operation: 'branch',
    name: 'topic',
    from: git(root, 'hash-object', '-t', 'tree', '/dev/null').trim(),
  });
  await call(fixture, 'git_change', { operation: 'branch', name: 'other' });
  const changed = victims.filter((file) => readFileSync(file, 'utf8') !== 'own\n');
  assertAttack(t, 89, [changed.length > 0 ? 'done' : 'blocked'], changed.join(' '));
});

test(
  '[attack 88] [attack 89] a command that rewrites the configuration all the time runs no program outside while git changes the repository',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, (root) => {
      createRepository(root);
      git(root, 'config', 'include.path', '../shared.gitconfig');
      writeFileSync(path.join(root, 'shared.gitconfig'), '');
      git(root, 'branch', 'other');
    });
    const { root } = fixture;
    const mark = markOf(fixture);
    const programs = `[core]\\n\\tfsmonitor = touch ${mark}\\n\\tsshCommand = touch ${mark}\\n[filter "x"]\\n\\tclean = touch ${mark} ${root}/inside; cat\\n\\tsmudge = touch ${mark}; cat\\n[merge "x"]\\n\\tdriver = touch ${mark}\\n`;
    await startBackground(
      fixture,
      `cp .git/config plain; printf '* filter=x merge=x\\n' > .gitattributes; touch ready; while :; do printf '${programs}' > shared.gitconfig; for f in config commondir hooks/post-commit hooks/post-checkout config.worktree info/attributes; do printf '${programs}' > .git/$f; done; mv .git .away && cp -r .away .git; : > shared.gitconfig; done 2>/dev/null`,
    );
    const told: string[] = [];
    for (let round = 0; round < 4; round++) {
      writeFileSync(path.join(root, 'a.txt'), `${round}\n`);
      told.push((await call(fixture, 'git_change', { operation: 'commit', message: `round ${round}` })).text);
      await call(fixture, 'git_change', { operation: 'switch', name: round % 2 ? 'main' : 'other' });
      await call(fixture, 'git_change', { operation: 'branch', name: `b${round}` });
    }
    assertAttack(t, 88, [existsSync(mark) ? 'done' : 'blocked']);
    assertAttack(t, 89, [existsSync(mark) ? 'done' : 'blocked']);
    assert.match(told.join('\n'), /^\w+ round \d\n\n a\.txt \| 2 \+-/m);
  },
);

test(
  '[attack 88] git changes files in the sandbox: protected files only where the commits differ',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, (root) => {
      createRepository(root);
      commitFiles(root, { 'AGENTS.md': 'main\n', '.vscode/tasks.json': '{}\n' }, 'instructions');
      git(root, 'checkout', '-qb', 'other');
      commitFiles(root, { 'AGENTS.md': 'other\n', '.envrc': 'other\n', 'b.txt': 'b\n' }, 'other');
      git(root, 'checkout', '-q', 'main');
      git(root, 'config', 'include.path', '../shared.gitconfig');
      writeFileSync(path.join(root, 'shared.gitconfig'), '');
    });
    const { root } = fixture;
    const content = (name: string): string => readFileSync(path.join(root, name), 'utf8');
    const config = content('.git/config');
    const evil =
      'for f in .git/config .git/hooks/post-checkout .vscode/tasks.json .claude .mcp.json; do echo evil > $f; done; cat';
    await run(
      fixture,
      `git config --file shared.gitconfig filter.x.smudge '${evil}'; mkdir -p info; echo 'b.txt filter=x' > .gitattributes`,
    );
    const { text, outcome } = await callApproved(fixture, 'git_change', { operation: 'switch', name: 'other' });
    assert.equal(outcome, 'ok', text);
    const left = ['.git/hooks/post-checkout', '.claude', '.mcp.json'].filter((name) =>
      existsSync(path.join(root, name)),
    );
    const isChanged = left.length > 0 || content('.git/config') !== config || content('.vscode/tasks.json') !== '{}\n';
    assertAttack(t, 88, [isChanged ? 'done' : 'blocked'], left.join(' '));
    assert.deepEqual(['AGENTS.md', '.envrc', 'b.txt'].map(content), ['other\n', 'other\n', 'b\n'], text);
    assert.equal((await callApproved(fixture, 'git_change', { operation: 'switch', name: 'main' })).outcome, 'ok');
    assert.equal(content('AGENTS.md'), 'main\n');
    assert.ok(!existsSync(path.join(root, '.envrc')));
  },
);

/** Replaces ssh by a program that runs the other end here, and git by one that records its calls. Neither is visible in the sandbox. */
function createServer(
  t: TestContext,
  root: string,
): { readonly url: string; readonly folder: string; readonly calls: () => readonly string[] } {
  const place = path.join(root, '../server');
  mkdirSync(place);
  const record = path.join(place, 'calls');
  writeFileSync(record, '');
  writeFileSync(
    path.join(place, 'ssh'),
    '#!/bin/sh\nfor last; do :; done\nFROM_SERVER=1; export FROM_SERVER; eval "$last"\n',
    { mode: 0o755 },
  );
  const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const shim = `#!/bin/sh\n[ -n "$FROM_SERVER" ] || echo "$*" >> '${record}'\nexec ${real} "$@"\n`;
  writeFileSync(path.join(place, 'git'), shim, { mode: 0o755 });
  const before = process.env['PATH'];
  process.env['PATH'] = `${place}:${before ?? ''}`;
  t.after(() => (process.env['PATH'] = before));
  const folder = path.join(place, 'there.git');
  git(root, 'clone', '-q', '--bare', '.', folder);
  writeFileSync(record, '');
  return {
    folder,
    url: `ssh://host${folder}`,
    calls: () => readFileSync(record, 'utf8').match(/^.*--no-pager.*$/gm) ?? [],
  };
}

test(
  '[attack 88] [attack 89] clone, pull and push transfer commits, and git outside sees a private repository only',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, createRepository);
    const { root } = fixture;
    const mark = markOf(fixture);
    const server = createServer(t, root);
    git(root, 'remote', 'add', 'origin', server.url);
    const other = path.join(root, '../other');
    git(root, 'clone', '-q', server.folder, other);
    git(other, 'config', 'user.name', 'Bob');
    git(other, 'config', 'user.email', 'bob@example.test');
    commitFiles(other, { 'AGENTS.md': 'from the server\n', 'b.txt': 'b\n' }, 'second');
    git(other, 'tag', 'v1');
    git(other, 'push', '-q', 'origin', 'main', 'v1');
    writeFileSync(path.join(server.folder, '../calls'), '');
    await run(
      fixture,
      `printf '[core]\\n\\tsshCommand = touch ${mark}\\n' > .git/config.worktree; ln -s ${mark} .git/FETCH_HEAD; mkdir -p .git/objects/info; for h in pre-push post-merge reference-transaction; do printf '#!/bin/sh\\ntouch ${mark}\\n' > .git/$h; done`,
    );
    const unasked = await call(fixture, 'git_remote', { operation: 'pull' });
    assert.match(unasked.text, /fetched and not merged: it changes AGENTS\.md/);
    const pulled = await callApproved(fixture, 'git_remote', { operation: 'pull' });
    assert.equal(pulled.outcome, 'ok', pulled.text);
    assert.equal(readFileSync(path.join(root, 'AGENTS.md'), 'utf8'), 'from the server\n');
    assert.match(git(root, 'tag'), /v1/);
    assert.equal(git(root, 'rev-parse', 'refs/remotes/origin/main'), git(other, 'rev-parse', 'HEAD'));
    for (const [message, branch] of [
      ['third', 'main'],
      ['fourth', 'topic'],
    ] as const) {
      if (branch === 'topic') await call(fixture, 'git_change', { operation: 'branch', name: 'topic' });
      await call(fixture, 'git_change', { operation: 'switch', name: branch });
      writeFileSync(path.join(root, 'a.txt'), `${message}\n`);
      const committed = await call(fixture, 'git_change', { operation: 'commit', message });
      assert.equal(committed.outcome, 'ok', committed.text);
      const pushed = await call(fixture, 'git_remote', { operation: 'push' });
      assert.equal(pushed.outcome, 'ok', pushed.text);
      assert.match(git(server.folder, 'log', '-1', '--format=%s', branch), new RegExp(message));
    }
    await call(fixture, 'git_change', { operation: 'branch', name: 'same' });
    const same = await call(fixture, 'git_remote', { operation: 'push', branch: 'same' });
    assert.equal(same.outcome, 'ok', same.text);
    assert.equal(git(server.folder, 'rev-parse', 'same'), git(server.folder, 'rev-parse', 'topic'));
    for (const depth of [undefined, 2]) {
      const copy = `copy${depth ?? ''}`;
      const input = { operation: 'clone', url: server.url, path: copy, ...(depth ? { depth } : {}) };
      const cloned = await call(fixture, 'git_remote', input);
      assert.equal(cloned.outcome, 'ok', cloned.text);
      assert.equal(git(path.join(root, copy), 'remote', 'get-url', 'origin').trim(), server.url);
      assert.equal(git(path.join(root, copy), 'log', '--format=%s').trim().split('\n').length, depth ?? 3);
      assert.equal(readFileSync(path.join(root, copy, 'b.txt'), 'utf8'), 'b\n');
    }
    await pushFromShallow(t, path.join(root, 'copy2'), server.folder);
    const seen = server.calls();
    const elsewhere = seen.filter((line) => !/ -C \S+\/git\/transfer-\w+\/repository\.git --git-dir=\. /.test(line));
    assertAttack(t, 88, [existsSync(mark) || elsewhere.length > 0 ? 'done' : 'blocked'], elsewhere.join('\n'));
    assertAttack(t, 89, [existsSync(mark) ? 'done' : 'blocked']);
    assert.ok(
      seen.some((line) => / push /.test(line)),
      'the calls outside are recorded',
    );
    git(server.folder, 'fsck', '--strict');
    git(root, 'fsck', '--strict');
  },
);

/** Works in a clone without history: commits, pushes and pulls there. */
async function pushFromShallow(t: TestContext, root: string, server: string): Promise<void> {
  const settings = readSettings({ env: { HOME: path.join(root, '../../home'), PATH: process.env['PATH'] }, cwd: root });
  const agent = await createCodingAgent({ settings, cwd: root, autoApprove: () => true });
  t.after(() => agent.close());
  git(root, 'config', 'user.name', 'Ada');
  git(root, 'config', 'user.email', 'ada@example.test');
  writeFileSync(path.join(root, 'a.txt'), 'shallow\n');
  for (const [tool, input] of [
    ['git_change', { operation: 'commit', message: 'shallow' }],
    ['git_remote', { operation: 'push' }],
    ['git_change', { operation: 'branch', name: 'new' }],
    ['git_remote', { operation: 'push', branch: 'new' }],
    ['git_remote', { operation: 'pull' }],
  ] as const) {
    const { outcome, text } = await callTool(agent.tools, tool, input);
    assert.equal(outcome, 'ok', `${tool} ${JSON.stringify(input)}: ${text}`);
  }
  assert.equal(git(server, 'log', '-1', '--format=%s', 'new'), 'shallow\n');
}

test('a push that is not a fast-forward is refused, and a pull with own commits is not merged', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, createRepository);
  const { root } = fixture;
  const server = createServer(t, root);
  git(root, 'remote', 'add', 'origin', server.url);
  assert.match((await call(fixture, 'git_remote', { operation: 'push' })).text, /up-to-date/);
  git(root, 'commit', '-q', '--amend', '-m', 'rewritten');
  assert.match((await call(fixture, 'git_remote', { operation: 'push' })).text, /nothing was pushed; pull first/);
  const pulled = await call(fixture, 'git_remote', { operation: 'pull' });
  assert.equal(pulled.outcome, 'failed');
  assert.equal(git(root, 'log', '--format=%s'), 'rewritten\n');
  const missing = await call(fixture, 'git_remote', { operation: 'pull', branch: 'absent' });
  assert.equal(missing.outcome, 'failed', missing.text);
});

test('[attack 88] a command cannot choose the server of a remote', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, (root) => {
    createRepository(root);
    git(root, 'config', 'include.path', '../shared.gitconfig');
    writeFileSync(path.join(root, 'shared.gitconfig'), '');
  });
  const { root } = fixture;
  const server = createServer(t, root);
  await run(
    fixture,
    `mkdir -p .git/remotes .git/branches; printf 'URL: ${server.url}\\nPush: main:stolen\\n' > .git/remotes/evil; echo ${server.url} > .git/branches/bad; git config --file shared.gitconfig remote.origin.url ${server.url}`,
  );
  const told = [];
  for (const remote of ['evil', 'bad', 'origin'])
    told.push(await call(fixture, 'git_remote', { operation: 'push', remote }));
  git(root, 'config', '--unset', 'include.path');
  for (const remote of ['evil', 'bad', 'origin'])
    told.push(await call(fixture, 'git_remote', { operation: 'push', remote }));
  const isSent = server.calls().some((line) => /ls-remote|push/.test(line));
  assertAttack(t, 88, [isSent ? 'done' : 'blocked']);
  assert.match(told.map(({ text }) => text).join('\n'), /sets include\.path[^]*There is no remote named evil/);
  assert.ok(told.every(({ outcome }) => outcome === 'failed'));
});

test(
  'a commit in a part of a repository keeps the files above; the identity comes from the configuration of the user',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, (root) => {
      rmSync(path.join(root, '.git'), { recursive: true });
      const top = path.dirname(root);
      createRepository(top);
      commitFiles(top, { '.gitignore': 'home\napp-beside\n', 'app/a.txt': 'one\n' }, 'a part');
      git(top, 'config', '--unset', 'user.name');
      git(top, 'config', '--unset', 'user.email');
      writeFileSync(path.join(root, 'a.txt'), 'two\n');
      writeFileSync(path.join(top, 'a.txt'), 'changed above\n');
    });
    const { root, home } = fixture;
    const top = path.dirname(root);
    writeFileSync(path.join(home, 'work'), '[user]\n\tname = Eve\n\temail = eve@example.test\n');
    writeFileSync(
      path.join(home, 'global'),
      `[user]\n\tname = Nobody\n\temail = n@example.test\n[includeIf "gitdir:${top}/"]\n\tpath = work\n`,
    );
    const before = process.env['GIT_CONFIG_GLOBAL'];
    process.env['GIT_CONFIG_GLOBAL'] = path.join(home, 'global');
    t.after(() => {
      if (before === undefined) delete process.env['GIT_CONFIG_GLOBAL'];
      else process.env['GIT_CONFIG_GLOBAL'] = before;
    });
    const committed = await call(fixture, 'git_change', { operation: 'commit', message: 'part' });
    assert.equal(committed.outcome, 'ok', committed.text);
    assert.equal(git(top, 'log', '-1', '--format=%an %s', '--name-status').trim(), 'Eve part\n\nM\tapp/a.txt');
    assert.match(git(top, 'status', '--short'), /^ M a\.txt$/m);
    const switched = await call(fixture, 'git_change', { operation: 'switch', name: 'main' });
    assert.match(switched.text, /outside the working folder/);
  },
);

test('what the private repository cannot do is refused with a sentence', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, createRepository);
  const { root } = fixture;
  const server = createServer(t, root);
  git(root, 'remote', 'add', 'origin', server.url);
  commitFiles(root, { '.gitattributes': '*.bin filter=lfs -text\n' }, 'large files');
  assert.match((await call(fixture, 'git_remote', { operation: 'push' })).text, /uses Git LFS, .*nothing was pushed/);
  git(root, 'config', 'core.sshCommand', 'ssh -i key');
  assert.match((await call(fixture, 'git_remote', { operation: 'pull' })).text, /sets core\.sshcommand, .*nothing was/);
  rmSync(path.join(root, '.git'), { recursive: true });
  for (const name of ['a.txt', '.gitattributes']) rmSync(path.join(root, name));
  const cloned = await call(fixture, 'git_remote', { operation: 'clone', url: server.url, path: '.' });
  assert.match(cloned.text, /Nothing is cloned into the working folder itself/);
  assert.ok(!server.calls().some((line) => / (push|fetch|ls-remote) /.test(line)), 'no connection was made');
});
