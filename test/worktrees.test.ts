// Worktrees of agents and runs on real repositories: what they contain, and how their changes reach the checkout of the user.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { git as runGit } from './support/git-repository.ts';
import {
  captureRepository,
  commitAll,
  createWorktreeFixture,
  isWorktreeError,
  noGit,
  readText,
  writeFiles,
} from './support/worktree-fixture.ts';

const skip = noGit;

test(
  'a worktree has the files of the current commit on a branch of its own, outside the checkout',
  { skip },
  async (t) => {
    const { root, folder, worktrees, git } = createWorktreeFixture(t, { 'src/b.txt': 'b\n' });
    writeFiles(root, { 'a.txt': 'changed by the user\n', 'new.txt': 'new\n' });
    const { record, cwd, left } = await worktrees.create({
      cwd: path.join(root, 'src'),
      name: 'fix',
      purpose: 'a fix',
    });
    assert.equal(record.path.startsWith(`${folder}${path.sep}`), true);
    assert.deepEqual([record.branch, record.from, record.hasTaken], ['fairlead/fix', 'main', false]);
    assert.equal(cwd, path.join(record.path, 'src'));
    assert.deepEqual(left, ['a.txt', 'new.txt'], 'the user can be told which changes are not in it');
    assert.equal(readText(record.path, 'a.txt'), 'one\n');
    assert.equal(existsSync(path.join(record.path, 'new.txt')), false);
    assert.equal(runGit(record.path, 'branch', '--show-current').trim(), 'fairlead/fix');
    assert.equal(git('branch', '--show-current'), 'main');
    const [listed] = await worktrees.list(root);
    assert.equal(listed?.record.name, 'fix');
    assert.equal(listed?.isInUse, true);
    assert.deepEqual(await worktrees.list(path.join(folder, '..')), [], 'other folders have none');
  },
);

test(
  'uncommitted changes are taken along if the user says so, and only the changes of the agent come back',
  { skip },
  async (t) => {
    const { root, worktrees, git } = createWorktreeFixture(t, { 'b.txt': 'b\n' });
    writeFiles(root, { 'a.txt': 'one\nof the user\n', 'new.txt': 'new\n' });
    const { record, left } = await worktrees.create({ cwd: root, uncommitted: 'take' });
    assert.deepEqual([left, record.hasTaken], [[], true]);
    assert.equal(readText(record.path, 'new.txt'), 'new\n');
    writeFiles(record.path, { 'a.txt': 'zero\none\nof the user\n', 'c.txt': 'c\n' });
    const content = await worktrees.inspect(record.id);
    assert.deepEqual(
      content.changes.map((each) => [each.path, each.how, each.lines?.added]),
      [
        ['a.txt', 'changed', 1],
        ['c.txt', 'added', 1],
      ],
    );
    await assert.rejects(worktrees.merge(record.id, { as: 'commits' }), isWorktreeError('taken'));
    const { status } = await worktrees.merge(record.id);
    assert.equal(status, 'merged');
    assert.equal(readText(root, 'a.txt'), 'zero\none\nof the user\n');
    assert.equal(git('log', '--format=%s'), 'files\nfirst', 'no commit was made');
    assert.deepEqual(await worktrees.list(root), []);
  },
);

test(
  'commits are merged: by moving the branch if it did not move, with a merge commit if it did',
  { skip },
  async (t) => {
    for (const isMoved of [false, true]) {
      const fixture = createWorktreeFixture(t);
      const { root, worktrees, git } = fixture;
      const { record } = await worktrees.create({ cwd: root, name: 'work' });
      writeFiles(record.path, { 'b.txt': 'b\n' });
      const commit = commitAll(record.path, 'b');
      writeFiles(record.path, { 'c.txt': 'not committed\n' });
      if (isMoved) {
        writeFiles(root, { 'd.txt': 'd\n' });
        commitAll(root, 'd');
      }
      writeFiles(root, { 'e.txt': 'of the user, and not committed\n' });
      const { status, plan } = await worktrees.merge('work', { cwd: root });
      assert.deepEqual([status, plan.mode], ['merged', 'commits']);
      assert.equal(git('log', '-1', '--format=%P', 'HEAD').split(' ').length, isMoved ? 2 : 1);
      assert.equal(git('merge-base', '--is-ancestor', commit, 'HEAD'), '');
      assert.equal(readText(root, 'c.txt'), 'not committed\n');
      assert.equal(git('status', '--porcelain'), '?? e.txt');
      assert.equal(git('branch', '--format=%(refname:short)'), 'main', 'its branch is removed');
      assert.deepEqual(readdirSync(fixture.folder), []);
      assert.equal(
        existsSync(path.join(root, '.git/worktrees')) && readdirSync(path.join(root, '.git/worktrees')).length > 0,
        false,
      );
    }
  },
);

test(
  'uncommitted changes become uncommitted changes: text, links, modes, binary files, removed files and folders',
  { skip },
  async (t) => {
    const { root, worktrees, git } = createWorktreeFixture(t, {
      'gone/x.txt': 'x\n',
      'mode.sh': 'echo\n',
      kind: 'file\n',
    });
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    rmSync(path.join(record.path, 'gone'), { recursive: true });
    rmSync(path.join(record.path, 'kind'));
    writeFiles(record.path, { 'deep/er/y.txt': 'y', 'kind/inner.txt': 'a folder now\n', 'ünï "q"\n.txt': 'named\n' });
    writeFileSync(path.join(record.path, 'image.bin'), Buffer.from([0, 1, 2, 255, 0]));
    chmodSync(path.join(record.path, 'mode.sh'), 0o755);
    symlinkSync('a.txt', path.join(record.path, 'link'));
    const expected = (await worktrees.inspect('work')).tree;
    assert.equal((await worktrees.merge('work', { cwd: root })).status, 'merged');
    assert.equal(git('log', '--format=%s'), 'files\nfirst');
    assert.deepEqual([...readFileSync(path.join(root, 'image.bin'))], [0, 1, 2, 255, 0]);
    assert.equal(readlinkSync(path.join(root, 'link')), 'a.txt');
    assert.equal(existsSync(path.join(root, 'gone')), false);
    git('add', '-A');
    assert.equal(git('write-tree'), expected, 'the checkout is exactly the worktree');
  },
);

for (const as of ['commits', 'changes'] as const)
  test(`a conflict is shown per file and changes nothing (${as})`, { skip }, async (t) => {
    const fixture = createWorktreeFixture(t, { 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const { root, worktrees } = fixture;
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    writeFiles(record.path, { 'a.txt': 'of the agent\n', 'c.txt': 'clean\n' });
    rmSync(path.join(record.path, 'b.txt'));
    if (as === 'commits') commitAll(record.path, 'agent');
    writeFiles(root, { 'a.txt': 'of the user\n', 'b.txt': 'kept\n' });
    commitAll(root, 'user');
    const before = captureRepository(fixture);
    const { status, plan } = await worktrees.merge('work', { cwd: root });
    assert.deepEqual([status, plan.mode], ['conflicts', as]);
    assert.deepEqual(
      plan.conflicts.map((each) => each.path),
      ['a.txt', 'b.txt'],
    );
    assert.match(plan.conflicts[0]?.excerpt ?? '', /<<<<<<<[^]*of the user\n=======\nof the agent\n>>>>>>>/);
    assert.match(plan.conflicts[1]?.reason ?? '', /modify\/delete/);
    assert.deepEqual(captureRepository(fixture), before);
    // The user chooses the markers.
    const kept = await worktrees.merge('work', { cwd: root, keepConflicts: true });
    assert.equal(kept.status, 'conflicts-kept');
    assert.match(readText(root, 'a.txt'), /<<<<<<<[^]*>>>>>>>/);
    assert.equal(readText(root, 'c.txt'), 'clean\n');
    assert.equal(
      worktrees.find('work').state,
      'ready',
      'the worktree is kept until the user has resolved the conflicts',
    );
    assert.equal(existsSync(path.join(root, '.git/MERGE_HEAD')), as === 'commits');
    if (as === 'commits') {
      runGit(root, 'merge', '--abort');
      assert.deepEqual(captureRepository(fixture), before);
    }
  });

test(
  'a file of the user is never overwritten: changed, staged, new, ignored, removed, or in the way of a folder',
  { skip },
  async (t) => {
    const files = { '.gitignore': '*.log\n', 'staged.txt': 's\n', 'removed.txt': 'r\n' };
    for (const as of ['commits', 'changes'] as const) {
      const fixture = createWorktreeFixture(t, files);
      const { root, worktrees, git } = fixture;
      const { record } = await worktrees.create({ cwd: root, name: 'work' });
      const blocked = ['a.txt', 'file/f.txt', 'i.log', 'link/f.txt', 'n.txt', 'removed.txt', 'staged.txt'];
      writeFiles(record.path, Object.fromEntries([...blocked, 'free.txt'].map((name) => [name, 'agent\n'])));
      runGit(record.path, 'add', '-Af', '.');
      runGit(record.path, 'commit', '-qm', 'agent');
      writeFiles(root, {
        'a.txt': 'u\n',
        file: 'u\n',
        'i.log': 'u\n',
        'n.txt': 'u\n',
        'staged.txt': 'u\n',
        'other.txt': 'u\n',
      });
      git('add', 'staged.txt');
      rmSync(path.join(root, 'removed.txt'));
      symlinkSync('..', path.join(root, 'link'));
      const before = captureRepository(fixture);
      const { status, plan } = await worktrees.merge('work', { cwd: root, as });
      assert.deepEqual([status, plan.blocked], ['blocked', blocked], as);
      assert.deepEqual(captureRepository(fixture), before, as);
      // Uncommitted changes of other files do not matter.
      git('reset', '-q', '--hard');
      for (const name of ['file', 'i.log', 'n.txt', 'link']) rmSync(path.join(root, name));
      assert.equal((await worktrees.merge('work', { cwd: root, as })).status, 'merged', as);
      assert.deepEqual([readText(root, 'other.txt'), readText(root, 'file/f.txt')], ['u\n', 'agent\n']);
    }
  },
);

test('a merge that fails in the middle puts back every file', { skip }, async (t) => {
  for (const as of ['commits', 'changes'] as const) {
    const fixture = createWorktreeFixture(t, { 'closed/z.txt': 'z\n', 'b.txt': 'b\n' });
    const { root, worktrees } = fixture;
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    writeFiles(record.path, {
      'a.txt': 'agent\n',
      'added.txt': 'agent\n',
      'closed/z.txt': 'agent\n',
      'made/new.txt': 'agent\n',
    });
    rmSync(path.join(record.path, 'b.txt'));
    if (as === 'commits') commitAll(record.path, 'agent');
    const before = captureRepository(fixture);
    // Git writes most files before it fails at this folder.
    chmodSync(path.join(root, 'closed'), 0o555);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) execFileSync('chattr', ['+i', path.join(root, 'closed/z.txt')], { stdio: 'ignore' });
    try {
      await assert.rejects(worktrees.merge('work', { cwd: root }), isWorktreeError('not-applied'));
    } finally {
      if (isRoot) execFileSync('chattr', ['-i', path.join(root, 'closed/z.txt')], { stdio: 'ignore' });
      chmodSync(path.join(root, 'closed'), 0o755);
    }
    assert.deepEqual(captureRepository(fixture), before, as);
    assert.equal((await worktrees.merge('work', { cwd: root })).status, 'merged');
    assert.equal(readText(root, 'made/new.txt'), 'agent\n');
  }
});
