// An agent in a worktree of its own: it works there with its files, commands and git tools, and cannot change the checkout of the user.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createIsolatedAgent, type IsolatedAgent } from '../src/coding-agent/isolated-agent.ts';
import { readSettings } from '../src/coding-agent/settings/index.ts';
import { openUserWorktrees } from '../src/coding-agent/worktrees/index.ts';
import type { Json, JsonObject, RunState } from '../src/core/index.ts';
import { scriptedProvider } from '../src/testing/index.ts';
import { git as runGit } from './support/git-repository.ts';
import { noSandbox } from './support/sandbox.ts';
import { callTool } from './support/tool-call.ts';
import {
  captureRepository,
  commitAll,
  createWorktreeFixture,
  noGit,
  writeFiles,
  type WorktreeFixture,
} from './support/worktree-fixture.ts';

const skip = noGit || (await noSandbox());

type AgentFixture = WorktreeFixture &
  IsolatedAgent & {
    readonly told: string[];
    /** Creates another agent for the same worktree. */
    readonly open: () => Promise<IsolatedAgent>;
    readonly call: (tool: string, input: JsonObject) => ReturnType<typeof callTool>;
  };

async function createFixture(
  t: TestContext,
  config: JsonObject = {},
  prepare: (root: string) => void = () => {},
): Promise<AgentFixture> {
  const fixture = createWorktreeFixture(t, { '.gitignore': 'node_modules/\n', 'AGENTS.md': 'Of the commit.\n' });
  const home = path.join(fixture.place, 'home');
  writeFiles(home, { '.config/fairlead/config.json': JSON.stringify(config) });
  prepare(fixture.root);
  const settings = readSettings({ env: { HOME: home, PATH: process.env['PATH'] }, cwd: fixture.root });
  const told: string[] = [];
  const open = async (): Promise<IsolatedAgent> => {
    const opened = await createIsolatedAgent(
      { settings, cwd: fixture.root, autoApprove: () => true },
      { purpose: 'a test', name: 'test', notify: (text) => void told.push(text) },
    );
    t.after(() => opened.agent.close());
    return opened;
  };
  const isolated = await open();
  return {
    ...fixture,
    ...isolated,
    told,
    open,
    worktrees: openUserWorktrees(settings),
    folder: path.join(settings.dirs.state, 'worktrees'),
    call: (tool, input) => callTool(isolated.agent.tools, tool, input),
  };
}

test('the files, commands and git tools of an isolated agent are rooted in its worktree', { skip }, async (t) => {
  const fixture = await createFixture(t, {}, (root) =>
    writeFiles(root, { 'AGENTS.md': 'Of the checkout.\n', 'late.txt': 'late\n' }),
  );
  const { call, isolation, root, agent, told, git, worktrees } = fixture;
  const { path: worktree } = isolation.record;
  assert.match(
    told.join(),
    /worktree test .*Uncommitted changes of your checkout are not in it: AGENTS\.md, late\.txt\.$/,
  );
  assert.match(
    agent.instructions.text,
    /Of the checkout\./,
    'the instructions that the user sees count, not those that the agent can write',
  );
  assert.equal((await call('write_file', { path: 'b.txt', content: 'b\n' })).outcome, 'ok');
  assert.equal(
    (await call('run_command', { command: 'pwd; echo c > c.txt; cat a.txt' })).text.includes(`${worktree}\none`),
    true,
  );
  assert.match((await call('git', { operation: 'status' })).text, /## fairlead\/test[^]*\?\? b\.txt\n\?\? c\.txt/);
  const committed = await call('git_change', { operation: 'commit', message: 'work', paths: ['b.txt', 'c.txt'] });
  assert.match(committed.text, /work[^]*b\.txt/);
  assert.equal(git('log', '-1', '--format=%s', 'fairlead/test'), 'work');
  assert.equal(git('log', '-1', '--format=%s', 'main'), 'files');
  assert.deepEqual([existsSync(path.join(root, 'b.txt')), existsSync(path.join(root, 'c.txt'))], [false, false]);
  await agent.close();
  assert.match(told.at(-1) ?? '', /The worktree test has 2 changed files\./);
  assert.equal((await worktrees.merge('test', { cwd: root })).status, 'merged');
  assert.equal(readFileSync(path.join(root, 'c.txt'), 'utf8'), 'c\n');
  assert.equal(
    readFileSync(path.join(root, 'AGENTS.md'), 'utf8'),
    'Of the checkout.\n',
    'uncommitted changes of other files stay',
  );
});

test(
  '[attack] a hostile agent in a worktree changes neither the checkout nor hooks and configuration of its git directory',
  { skip },
  async (t) => {
    const mark = (root: string): string => path.join(root, '../mark');
    const fixture = await createFixture(t, {}, (root) => {
      symlinkSync('..', path.join(root, 'up'));
      symlinkSync(root, path.join(root, 'home'));
      commitAll(root, 'links that lead out');
    });
    const { call, root, isolation, worktrees, agent } = fixture;
    const { path: worktree } = isolation.record;
    const admin = runGit(worktree, 'rev-parse', '--absolute-git-dir').trim();
    const before = captureRepository(fixture);
    const adminFiles = ['gitdir', 'commondir', 'HEAD'].map((name) => readFileSync(path.join(admin, name), 'utf8'));
    const pointer = readFileSync(path.join(worktree, '.git'), 'utf8');
    const state = path.dirname(fixture.folder);
    const targets = [
      path.join(root, 'a.txt'),
      path.join(root, 'evil.txt'),
      'home/evil.txt',
      'up/evil.txt',
      path.join(root, '.git/hooks/pre-commit'),
      path.join(root, '.git/config'),
      path.join(admin, 'config.worktree'),
      path.join(admin, 'gitdir'),
      path.join(fixture.folder, `${isolation.record.id}.json`),
      path.join(state, 'approved.json'),
      '.git',
      '.git/hooks/pre-commit',
    ];
    for (const target of targets) {
      const written = await call('write_file', {
        path: target,
        content: `[core]\n\tfsmonitor = touch ${mark(root)}\n`,
      });
      assert.notEqual(written.outcome, 'ok', target);
      for (const access of [{}, { write_git: true }])
        await call('run_command', {
          command: `mkdir -p "$(dirname '${target}')"; printf '[core]\\n\\tfsmonitor = touch ${mark(root)}\\n' > '${target}'; chmod +x '${target}'; ln -sf /bin/true '${target}'; rm -rf '${target}'`,
          ...access,
        });
    }
    // Commands of git with the directory of the user, and a git directory of the agent instead of its own.
    await call('run_command', {
      command: [
        `git --git-dir='${root}/.git' config core.fsmonitor 'touch ${mark(root)}'`,
        `git --git-dir='${admin}' config --worktree core.hooksPath /tmp`,
        `mv .git .moved; mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch ${mark(root)}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`,
        `git -C '${root}' commit --allow-empty -m evil`,
      ].join('; '),
      write_git: true,
    });
    assert.deepEqual(captureRepository(fixture), before);
    assert.deepEqual(
      ['gitdir', 'commondir', 'HEAD'].map((name) => readFileSync(path.join(admin, name), 'utf8')),
      adminFiles,
    );
    assert.equal(readFileSync(path.join(worktree, '.git'), 'utf8'), pointer);
    assert.deepEqual(
      readdirSync(admin).filter((name) => name === 'config.worktree' || name === 'hooks'),
      [],
    );
    // What the user does next runs nothing of the agent.
    await agent.close();
    await worktrees.list(root);
    runGit(root, 'status');
    assert.equal(existsSync(mark(root)), false);
  },
);

test(
  'the policy and the permissions of the checkout hold in a worktree, also those that are not committed',
  { skip },
  async (t) => {
    const rules = { permissions: { deny: ['Bash(touch:*)'] } };
    const first = await createFixture(t, { flow: 'off' }, (root) => {
      writeFiles(root, { '.claude/settings.local.json': JSON.stringify(rules) });
      writeFiles(root, { '.fairlead/policy.yaml': 'rules:\n  - deny: { path: b.txt }\n    why: It is generated.\n' });
    });
    // What an agent wrote in an earlier run does not count.
    writeFiles(first.isolation.cwd, { '.claude/settings.json': '{', '.fairlead/policy.yaml': 'rules: []\n' });
    await first.agent.close();
    const { agent, isolation } = await first.open();
    assert.equal(isolation.cwd, first.isolation.cwd);
    const { gates } = agent.forModel(scriptedProvider([]), true);
    const decide = async (tool: string, input: Json): Promise<string> => {
      const decisions = await Promise.all(gates.map(async (gate) => gate({ id: 'c', tool, input }, {} as RunState)));
      return decisions.find(({ type }) => type === 'deny')?.type ?? 'allow';
    };
    assert.equal(await decide('run_command', { command: 'touch x' }), 'deny');
    assert.equal(await decide('write_file', { path: 'b.txt', content: 'b' }), 'deny');
    assert.equal(await decide('write_file', { path: 'c.txt', content: 'c' }), 'allow');
  },
);

test(
  'linked files are readable for commands and cannot be changed; without a rule they are not there',
  { skip },
  async (t) => {
    const prepare = (root: string): void => {
      mkdirSync(path.join(root, 'node_modules'));
      writeFileSync(path.join(root, 'node_modules/p.txt'), 'package\n');
    };
    const without = await createFixture(t, {}, prepare);
    assert.match((await without.call('run_command', { command: 'ls' })).text, /^(?![^]*node_modules)/);
    const { call, root, worktrees } = await createFixture(t, { worktrees: { link: ['node_modules'] } }, prepare);
    assert.match((await call('run_command', { command: 'cat node_modules/p.txt' })).text, /^package/);
    await call('run_command', { command: 'echo evil > node_modules/p.txt; echo evil > node_modules/new.txt' });
    assert.notEqual((await call('write_file', { path: 'node_modules/new.txt', content: 'evil\n' })).outcome, 'ok');
    assert.deepEqual(readdirSync(path.join(root, 'node_modules')), ['p.txt']);
    assert.equal(readFileSync(path.join(root, 'node_modules/p.txt'), 'utf8'), 'package\n');
    // The agent leads its link elsewhere: the record decides what commands may read.
    await call('run_command', { command: `rm node_modules; ln -s '${path.dirname(root)}/home' node_modules` });
    assert.doesNotMatch((await call('run_command', { command: 'ls -a node_modules/' })).text, /\.config/);
    assert.deepEqual((await worktrees.inspect('test')).changes, [], 'a link is no change');
  },
);
