// Attacks through git and through files that are created around a command: host programs must not run what a sandbox could write.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunState } from '../src/core/index.ts';
import { findProtectedFiles, withSandbox } from '../src/guards/index.ts';
import { autoExecutedPaths } from '../src/guards/sandbox/auto-executed-paths.ts';
import { unavailableSandbox } from '../src/guards/sandbox/sandbox.ts';
import { removeIdlePlaceholders } from '../src/guards/sandbox/placeholders.ts';
import { gitTools } from '../src/tools/git/index.ts';
import { findRipgrepFolders } from '../src/tools/index.ts';
import { calls } from '../src/testing/index.ts';
import { localWorkspace } from '../src/workspace/index.ts';
import { createAttackFixture, type AttackFixture } from './support/attack-fixture.ts';
import { assertAttack } from './support/attack-report.ts';
import { createProgram } from './support/cli-harness.ts';
import { createRepository, git } from './support/git-repository.ts';
import { noSandbox } from './support/sandbox.ts';
import { callTool } from './support/tool-call.ts';

const noGit = spawnSync('git', ['--version']).status === 0 ? false : 'no git here';
const skip = (await noSandbox()) || noGit;

/** Runs git as the prompt of a user's shell does, whatever it answers. */
const lookAsUser = (cwd: string): void => void spawnSync('git', ['status', '--short', '--branch'], { cwd });

/** A file outside the working folder that only a program on the host can create. */
const markOf = ({ siblingDir }: Pick<AttackFixture, 'siblingDir'>): string => path.join(siblingDir, 'mark');

/** Waits until a background command created a file; a bounded number of times. */
async function waitForFile(file: string): Promise<void> {
  for (let tries = 0; tries < 1500 && !existsSync(file); tries++) await wait(20);
  assert.ok(existsSync(file), `${file} was not created`);
}

type Result = { readonly text: string; readonly outcome: string };

/** Runs a command that every gate allowed. */
const run = (fixture: AttackFixture, command: string): Promise<Result> =>
  callTool(fixture.codingAgent.tools, 'run_command', { command, write_git: true });

/** Reads the repository with the git tool, which needs no approval. */
const look = (fixture: AttackFixture, operation: string): Promise<Result> =>
  callTool(fixture.codingAgent.tools, 'git', { operation });

test('[attack 88] no filter of a repository runs on the host, whatever its name is', { skip }, async (t) => {
  for (const name of ['', '\xff', 'plain', 'a.b']) {
    const fixture = await createAttackFixture(t, (root) => {
      createRepository(root);
      const config = path.join(root, '.git/config');
      const mark = markOf({ siblingDir: path.join(root, '../app-beside') });
      const filter = `[filter "${name}"]\n\tclean = touch ${mark} ${root}/mark; cat\n\tsmudge = touch ${mark}; cat\n`;
      writeFileSync(config, Buffer.concat([readFileSync(config), Buffer.from(filter, 'latin1')]));
      writeFileSync(path.join(root, '.gitattributes'), Buffer.from(`a.txt filter=${name}\n`, 'latin1'));
      writeFileSync(path.join(root, 'a.txt'), 'two\n');
    });
    const told = [];
    for (const operation of ['status', 'diff', 'show']) told.push(await look(fixture, operation));
    const ran = existsSync(markOf(fixture)) || existsSync(path.join(fixture.root, 'mark'));
    assertAttack(t, 88, [ran ? 'done' : 'blocked'], name);
    if (name === 'plain') assert.match(told.map(({ text }) => text).join('\n'), /\+two/);
  }
});

test(
  '[attack 89] a background command cannot redirect the git directory, neither for the git tool nor for the user',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, createRepository);
    const { root } = fixture;
    const evil = [
      'cp -r .git .other',
      `printf '[core]\\n\\tfsmonitor = touch ${markOf(fixture)}\\n[filter ""]\\n\\tclean = touch ${markOf(fixture)}; cat\\n' >> .other/config`,
      "printf 'a.txt filter=\\n' > .gitattributes; echo two > a.txt",
      'echo ../.other > .git/commondir; rm -rf .git/hooks; ln -s ../.other/hooks .git/hooks; mv .git .away; cp -r .other .git',
      'touch ready; sleep 60',
    ].join('; ');
    const ending = new AbortController();
    const background = withSandbox(localWorkspace({ roots: [root] }), fixture.codingAgent.sandbox).exec(evil, {
      signal: ending.signal,
    });
    await waitForFile(path.join(root, 'ready'));
    const told = [];
    for (const operation of ['status', 'diff']) told.push((await look(fixture, operation)).text);
    lookAsUser(root);
    assertAttack(t, 89, [existsSync(markOf(fixture)) ? 'done' : 'blocked']);
    assert.match(told.join('\n'), /\+two/);
    ending.abort();
    await background;
    removeIdlePlaceholders();
    assert.ok(!existsSync(path.join(root, '.git/commondir')), 'no placeholder is left behind');
    assert.match(git(root, 'status', '--short'), / M a\.txt/);
  },
);

test('[attack 90] a read-only git directory does not keep a redirection in place', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, createRepository);
  const { root } = fixture;
  await run(
    fixture,
    `cp -r .git other; printf '[core]\\n\\tfsmonitor = touch ${markOf(fixture)}\\n[filter ""]\\n\\tclean = touch ${markOf(fixture)}; cat\\n' >> other/config; printf 'a.txt filter=\\n' > .gitattributes; echo two > a.txt; echo ../other > .git/commondir; chmod a-w .git`,
  );
  const { text } = await look(fixture, 'diff');
  spawnSync('chmod', ['-R', 'u+rwX', root]);
  lookAsUser(root);
  lookAsUser(path.join(root, 'other'));
  removeIdlePlaceholders();
  assertAttack(t, 90, [
    existsSync(markOf(fixture)) || existsSync(path.join(root, '.git/commondir')) ? 'done' : 'blocked',
  ]);
  assert.match(text, /\+two/);
});

const created = ['.git', '.envrc', '.vscode', '.claude', 'AGENTS.md', '.github/workflows', '.cargo/config.toml'];

test(
  '[attack 94] a folder without write or search permission does not keep created startup files in place',
  { skip },
  async (t) => {
    for (const mode of ['a-w', '000', 'u=x']) {
      const fixture = await createAttackFixture(t, (root) => rmSync(path.join(root, '.git'), { recursive: true }));
      const { root } = fixture;
      const { text } = await run(
        fixture,
        `git init -q .; echo x > .envrc; mkdir .vscode .claude; echo x > .vscode/tasks.json; echo x > AGENTS.md; mkdir -p .github/workflows .cargo; echo x > .cargo/config.toml; chmod ${mode} .vscode .github .cargo .`,
      );
      spawnSync('chmod', ['-R', 'u+rwX', root]);
      const left = created.filter((name) => existsSync(path.join(root, name)));
      assertAttack(t, 94, [left.length > 0 ? 'done' : 'blocked'], left.join(' '));
      assert.match(text, /AGENTS\.md was created by this command and was moved away/);
      assert.match((await run(fixture, 'echo works')).text, /works/);
    }
  },
);

test('[attack 94] a link above a protected path does not lead the sweep out of the folder', { skip }, async (t) => {
  const fixture = await createAttackFixture(t);
  const { root, siblingDir } = fixture;
  mkdirSync(path.join(siblingDir, 'workflows'));
  const { text } = await run(fixture, `ln -s ${siblingDir} .github`);
  assertAttack(t, 94, [existsSync(path.join(siblingDir, 'workflows')) ? 'blocked' : 'done']);
  assert.match(text, /\.github was created by this command and was moved away/);
  assert.ok(!readdirSync(root).includes('.github'));
});

test('[attack 95] a command leaves no bare repository that runs programs', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, (root) => rmSync(path.join(root, '.git'), { recursive: true }));
  const { root } = fixture;
  const settings = `printf '[core]\\n\\tworktree = .\\n\\tbare = false\\n\\tfsmonitor = touch ${markOf(fixture)}\\n'`;
  await run(fixture, `git init -q --bare below; cp -r below/. .; ${settings} >> config; ${settings} >> below/config`);
  lookAsUser(root);
  lookAsUser(path.join(root, 'below'));
  assertAttack(t, 95, [existsSync(markOf(fixture)) ? 'done' : 'blocked']);
  assert.match((await run(fixture, 'git init -q --bare remote.git && ls remote.git')).text, /HEAD/);
  assert.ok(existsSync(path.join(root, 'remote.git/HEAD')), 'a plain bare repository stays');
  await run(fixture, `${settings} >> remote.git/config`);
  lookAsUser(path.join(root, 'remote.git'));
  assertAttack(t, 95, [existsSync(markOf(fixture)) ? 'done' : 'blocked']);
});

test(
  '[attack 88] configuration that a command can write runs programs inside only, and no connection is made',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, (root) => {
      createRepository(root);
      git(root, 'config', 'include.path', '../shared.gitconfig');
      writeFileSync(path.join(root, 'shared.gitconfig'), '');
      git(root, 'remote', 'add', 'origin', 'https://example.test/x.git');
    });
    await run(
      fixture,
      `printf '[core]\\n\\tsshCommand = touch ${markOf(fixture)}\\n[filter "x"]\\n\\tclean = touch ${markOf(fixture)}; cat\\n' > shared.gitconfig; echo 'a.txt filter=x' > .gitattributes; echo two > a.txt`,
    );
    const { tools } = fixture.codingAgent;
    const committed = await callTool(tools, 'git_change', { operation: 'commit', message: 'm' });
    const pulled = await callTool(tools, 'git_remote', { operation: 'pull' });
    assertAttack(t, 88, [existsSync(markOf(fixture)) ? 'done' : 'blocked']);
    assert.equal(committed.outcome, 'ok', committed.text);
    assert.match(pulled.text, /configuration sets include\.path, .*nothing was done/);
    assert.match((await look(fixture, 'show')).text, /\+two/, 'reading inside the sandbox still works');
  },
);

test(
  '[attack 88] a remote inside the folder runs no program on the host, and commits are transferred',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, (root) => {
      createRepository(root);
      git(root, 'remote', 'add', 'origin', './below/remote.git');
      git(root, 'config', 'branch.main.remote', 'origin');
    });
    const { root } = fixture;
    const mark = markOf(fixture);
    const programs = [
      'core.alternateRefsCommand',
      'uploadpack.packObjectsHook',
      'gc.recentObjectsHook',
      'core.fsmonitor',
    ];
    await run(
      fixture,
      `mkdir below; git init -q --bare below/remote.git; cd below/remote.git; git config gc.auto 1; ${programs.map((key) => `git config ${key} 'touch ${mark}'`).join('; ')}; for h in pre-receive update post-receive; do printf '#!/bin/sh\\ntouch ${mark}\\n' > hooks/$h; chmod +x hooks/$h; done`,
    );
    const { tools } = fixture.codingAgent;
    const branch = git(root, 'symbolic-ref', '--short', 'HEAD').trim();
    const pushed = await callTool(tools, 'git_remote', { operation: 'push', branch });
    const pulled = await callTool(tools, 'git_remote', { operation: 'pull', branch });
    const cloned = await callTool(tools, 'git_remote', {
      operation: 'clone',
      url: 'below/remote.git',
      path: 'copy',
      branch,
    });
    assertAttack(t, 88, [existsSync(mark) ? 'done' : 'blocked']);
    for (const { outcome, text } of [pushed, pulled, cloned]) assert.equal(outcome, 'ok', text);
    assert.equal(readFileSync(path.join(root, 'copy/a.txt'), 'utf8'), 'one\n');
  },
);

test('git reads the repository of a folder above and of a linked worktree, and changes it', { skip }, async (t) => {
  const above = await createAttackFixture(t, (root) => {
    rmSync(path.join(root, '.git'), { recursive: true });
    const top = path.dirname(root);
    createRepository(top);
    writeFileSync(path.join(top, '.gitignore'), 'ignored\nhome\napp-beside\n');
    git(top, 'add', '-A');
    git(top, 'commit', '-qm', 'ignored files');
    for (const name of ['new.txt', 'ignored']) writeFileSync(path.join(root, name), 'x\n');
  });
  assert.equal((await look(above, 'status')).text.split('\n').slice(1).join(), '?? ./');
  assert.match((await look(above, 'log')).text, /first/);
  const linked = await createAttackFixture(t, (root) => {
    rmSync(path.join(root, '.git'), { recursive: true });
    const main = path.join(root, '../main');
    mkdirSync(main);
    createRepository(main);
    git(main, 'worktree', 'add', '-q', '-b', 'topic', root);
    writeFileSync(path.join(root, 'a.txt'), 'two\n');
  });
  assert.match((await look(linked, 'diff')).text, /\+two/);
  const { tools } = linked.codingAgent;
  const committed = await callTool(tools, 'git_change', { operation: 'commit', message: 'second' });
  assert.match(committed.text, /second/);
});

test('[attack 88] a folder that names the repository of another folder shows nothing of it', { skip }, async (t) => {
  const fixture = await createAttackFixture(t, (root) => {
    rmSync(path.join(root, '.git'), { recursive: true });
    const other = path.join(root, '../other');
    mkdirSync(other);
    createRepository(other);
    writeFileSync(path.join(root, '.git'), `gitdir: ${other}/.git\n`);
  });
  const { text, outcome } = await look(fixture, 'log');
  assertAttack(t, 88, [outcome === 'ok' || text.includes('first') ? 'done' : 'blocked']);
});

test(
  '[attack 82] [attack 88] without a sandbox no git runs, with the sentence that refuses commands',
  { skip: noGit },
  async (t) => {
    const { root, siblingDir } = await createAttackFixture(t, createRepository);
    const mark = path.join(siblingDir, 'mark');
    git(root, 'config', 'core.fsmonitor', `touch ${mark}`);
    const workspace = localWorkspace({ roots: [root] });
    const read = withSandbox(workspace, unavailableSandbox('No command runs: install one.'), { access: 'read' });
    const tools = gitTools({ read, change: workspace, isConfined: true });
    for (const [name, input] of [
      ['git', { operation: 'status' }],
      ['git_change', { operation: 'commit', message: 'm' }],
      ['git_remote', { operation: 'pull' }],
    ] as const) {
      const { outcome, text } = await callTool(tools, name, input);
      assert.deepEqual([outcome, text], ['failed', 'No command runs: install one.'], name);
    }
    assertAttack(t, 88, [existsSync(mark) ? 'done' : 'blocked']);
  },
);

test('ripgrep runs inside the sandbox, where it finds files and its folder is readable', { skip }, async (t) => {
  const { root, codingAgent } = await createAttackFixture(t, (folder) =>
    writeFileSync(path.join(folder, 'a'), 'needle'),
  );
  const [folder] = await findRipgrepFolders();
  if (folder === undefined) return t.skip('no packaged ripgrep here');
  const runner = withSandbox(localWorkspace({ roots: [root] }), codingAgent.sandbox, {
    access: 'read',
    findReadable: findRipgrepFolders,
  });
  const found = await runner.exec([path.join(folder, 'rg'), '--no-config', '--files-with-matches', 'needle', './']);
  assert.deepEqual([found.code, found.text], [0, './a\n']);
  const written = await runner.exec('echo x > made; ls');
  assert.match(written.text, /Read-only file system[^]*\na\n/);
});

test(
  '[attack 107] files that other programs obey are neither created nor changed by a command, and a file tool asks',
  { skip },
  async (t) => {
    const names = autoExecutedPaths;
    const existing = names.filter((_, at) => at % 2 === 0);
    const fixture = await createAttackFixture(t, (root) => {
      for (const name of existing) {
        mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
        writeFileSync(path.join(root, name), 'own\n');
      }
    });
    const { root } = fixture;
    const list = names.join(' ');
    const { text } = await run(
      fixture,
      `mv .github moved; mv .cargo moved; mv .yarn moved; for f in ${list}; do mkdir -p "$(dirname $f)"; rm -rf $f; echo evil > $f; done; echo ordinary > package.json`,
    );
    const content = (name: string): string | undefined =>
      existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), 'utf8') : undefined;
    const changed = names.filter((name) => content(name) !== (existing.includes(name) ? 'own\n' : undefined));
    assertAttack(t, 107, [changed.length > 0 ? 'done' : 'blocked'], changed.join(' '));
    assert.equal(content('package.json'), 'ordinary\n', text);
    const absent = names.filter((name) => !existing.includes(name));
    for (const name of absent) assert.ok(text.includes(`${path.join(root, name)} was created by this command`), name);
    for (const name of absent.slice(0, 5)) {
      const { how } = await fixture.attempt('write_file', { path: name, content: 'x' }, true);
      assertAttack(t, 107, [how], name);
    }
  },
);

/** Creates a branch with files that other programs obey, without a checkout: no command may write them in the folder. */
const makeBranch = `export GIT_INDEX_FILE=/tmp/index GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
git read-tree HEAD; blob=$(echo evil | git hash-object -w --stdin)
for f in AGENTS.md .vscode/tasks.json .github/workflows/x.yml b.txt; do git update-index --add --cacheinfo 100644,$blob,$f; done
git update-ref refs/heads/evil $(git commit-tree -p HEAD -m evil $(git write-tree))`;

const obeyed = ['AGENTS.md', '.vscode/tasks.json', '.github/workflows/x.yml'];

for (const flags of [[], ['--no-sandbox']])
  test(
    `[attack 133] switching a branch does not write files that other programs obey without a question ${flags.join(' ')}`,
    { skip },
    async (t) => {
      const steps = [
        calls('load_tools', { names: ['git_change'] }),
        calls('use_tool', { tool: 'git_change', input: { operation: 'switch', name: 'evil' } }),
      ];
      const program = await createProgram(t, () => steps.shift() ?? 'Done.');
      await program.seedModels('qwen3');
      createRepository(program.cwd);
      writeFileSync(path.join(program.cwd, 'AGENTS.md'), 'own\n');
      git(program.cwd, 'add', '-A');
      git(program.cwd, 'commit', '-qm', 'instructions');
      execFileSync('/bin/sh', ['-c', makeBranch.replace('/tmp/index', '.git/made')], { cwd: program.cwd });
      const { err } = await program.run(['go on', '--auto-approve', ...flags]);
      const written = obeyed.filter((name) => existsSync(path.join(program.cwd, name)));
      const isChanged = written.length > 1 || readFileSync(path.join(program.cwd, 'AGENTS.md'), 'utf8') !== 'own\n';
      const isAsked = obeyed.every((name) => err.includes(name)) && /Approval required for/.test(err);
      assertAttack(t, 133, [isChanged ? 'done' : isAsked ? 'asked' : 'blocked'], flags.join(' '));
      assert.ok(isAsked, err);
    },
  );

test(
  '[attack 133] an approval covers the changes that the user saw, and not a branch that a command moved since',
  { skip },
  async (t) => {
    const fixture = await createAttackFixture(t, createRepository);
    const { root, codingAgent } = fixture;
    await run(fixture, makeBranch);
    const input = { operation: 'switch', name: 'evil' };
    const tool = codingAgent.tools.find(({ name }) => name === 'git_change');
    const state = {} as RunState;
    const question = String(await tool?.needsApproval?.(input, state));
    for (const name of [...obeyed, '| +evil']) assert.ok(question.includes(name), question);
    assert.ok(!question.includes('b.txt'), question);
    assert.equal(await tool?.needsApproval?.({ operation: 'switch', name: 'absent' }, state), false);
    const approved = { call: { id: 'c1', tool: 'git_change', input, granted: [`Run it?\n${question}`] } };
    await run(fixture, makeBranch.replace('echo evil', 'echo worse'));
    const moved = await callTool(codingAgent.tools, 'git_change', input, approved);
    const unasked = await callTool(codingAgent.tools, 'git_change', input);
    const isWritten = obeyed.some((name) => existsSync(path.join(root, name)));
    assertAttack(t, 133, [isWritten ? 'done' : 'blocked']);
    for (const { text } of [moved, unasked]) assert.match(text, /changes \.github.*Make the call again/);
    const again = String(await tool?.needsApproval?.(input, state));
    const done = await callTool(codingAgent.tools, 'git_change', input, {
      call: { ...approved.call, granted: [again] },
    });
    assert.equal(done.outcome, 'ok', done.text);
    assert.deepEqual(
      [...obeyed, 'b.txt'].map((name) => readFileSync(path.join(root, name), 'utf8')),
      ['worse\n', 'worse\n', 'worse\n', 'worse\n'],
    );
    assert.equal(git(root, 'symbolic-ref', '--short', 'HEAD').trim(), 'evil');
    assert.equal(git(root, 'status', '--short'), '');
  },
);

test(
  '[attack 133] a pull fetches, and merges files that other programs obey after a question only',
  { skip },
  async (t) => {
    for (const isConfined of [true, false]) {
      const fixture = await createAttackFixture(t, createRepository);
      const { root, siblingDir, codingAgent } = fixture;
      git(siblingDir, 'clone', '-q', root, 'other');
      const other = path.join(siblingDir, 'other');
      git(root, 'clone', '-q', '--bare', other, 'below.git');
      git(root, 'remote', 'add', 'origin', './below.git');
      git(other, 'config', 'user.name', 'Bob');
      git(other, 'config', 'user.email', 'bob@example.test');
      writeFileSync(path.join(other, 'AGENTS.md'), 'obey\n');
      git(other, 'add', '-A');
      git(other, 'commit', '-qm', 'second');
      git(other, 'push', '-q', path.join(root, 'below.git'), 'main');
      const workspace = localWorkspace({ roots: [root] });
      const findProtected = (files: readonly string[]): readonly string[] =>
        findProtectedFiles(files, { root, home: fixture.home });
      const tools = isConfined
        ? codingAgent.tools
        : gitTools({ read: workspace, change: workspace, isConfined: false, findProtected });
      const input = { operation: 'pull' };
      const tool = tools.find(({ name }) => name === 'git_remote');
      assert.equal(await tool?.needsApproval?.(input, {} as RunState), false, 'nothing is fetched yet');
      const first = await callTool(tools, 'git_remote', input);
      assertAttack(t, 133, [existsSync(path.join(root, 'AGENTS.md')) ? 'done' : 'blocked']);
      assert.match(first.text, /fetched and not merged: it changes AGENTS\.md/);
      const question = String(await tool?.needsApproval?.(input, {} as RunState));
      assert.match(question, /AGENTS\.md[^]*\+obey/);
      const call = { id: 'c1', tool: 'git_remote', input, granted: [question] };
      const second = await callTool(tools, 'git_remote', input, { call });
      assert.equal(second.outcome, 'ok', second.text);
      assert.equal(readFileSync(path.join(root, 'AGENTS.md'), 'utf8'), 'obey\n');
      assert.equal(await tool?.needsApproval?.(input, {} as RunState), false);
    }
  },
);

test(
  '[attack 88] [attack 89] [attack 90] [attack 94] [attack 95] the same holds for an ordinary user, restricted by file modes',
  { skip: skip || (process.getuid?.() === 0 ? false : 'the tests above ran as an ordinary user') },
  (t) => {
    const ids = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    const { HOME: _home, NODE_TEST_CONTEXT: _context, ...env } = process.env;
    const probe = spawnSync('setpriv', [
      ...ids,
      process.execPath,
      '-e',
      `fs.readFileSync(${JSON.stringify(import.meta.filename)})`,
    ]);
    if (probe.status !== 0) return t.skip('no setpriv here, or another user cannot read this checkout');
    const { status, stdout } = spawnSync(
      'setpriv',
      [
        ...ids,
        process.execPath,
        '--test',
        // One process loads the agent once for both files.
        '--test-isolation=none',
        '--test-name-pattern=attack (88|89|90|94|95)\\]',
        '--test-reporter=tap',
        import.meta.filename,
        path.join(import.meta.dirname, 'attacks-git-change.test.ts'),
      ],
      { encoding: 'utf8', env: { ...env, HOME: '/nonexistent' }, timeout: 300_000 },
    );
    assert.equal(status, 0, stdout);
  },
);
