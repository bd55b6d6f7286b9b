// Attacks on worktrees by their content and by other processes: names, links, nested repositories, hooks, and two creations of one name.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createWorktree } from '../src/coding-agent/worktrees/create.ts';
import { findWorktreeAccess, formatMergePlan } from '../src/coding-agent/worktrees/index.ts';
import { withFileLock } from '../src/stores/index.ts';
import { createRepository, git as runGit } from './support/git-repository.ts';
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
  'two creations of one name at the same time: one fails, and it removes nothing of the other',
  { skip },
  async (t) => {
    const { root, worktrees, folder, git } = createWorktreeFixture(t);
    const create = (): ReturnType<typeof worktrees.create> => worktrees.create({ cwd: root, name: 'mine' });
    const settled = await Promise.allSettled([create(), create(), create()]);
    const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    assert.equal(errors.length, 2);
    errors.forEach(isWorktreeError('exists'));
    const [created] = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.equal(readText(created?.cwd ?? '', 'a.txt'), 'one\n');
    assert.deepEqual(readdirSync(folder).length, 2, 'one record and one folder');
    assert.match(git('branch'), /fairlead\/mine/);
  },
);

test('a worktree that is continued at the same time as a cleanup is not removed', { skip }, async (t) => {
  const { root, folder, worktrees } = createWorktreeFixture(t, { '.gitignore': 'cache/\n' });
  for (const name of ['one', 'two', 'three']) {
    const { record } = await worktrees.create({ cwd: root, name });
    writeFiles(record.path, { 'b.txt': 'b\n' });
    await worktrees.finish(record.id);
    // Now it has no changes: a cleanup removes it unless a process uses it.
    runGit(record.path, 'clean', '-qfd');
    // Without the cleanup that openWorktrees does first.
    const [continued] = await Promise.allSettled([
      createWorktree(folder, { cwd: root, name, continues: true }, (work) =>
        withFileLock(path.join(folder, 'changes'), work),
      ),
      worktrees.cleanUp(),
    ]);
    assert.equal(continued.status, 'fulfilled');
    assert.equal(readText(record.path, 'a.txt'), 'one\n', name);
  }
});

test('a repository inside a worktree is not merged, whatever its name says', { skip }, async (t) => {
  for (const isCommitted of [false, true]) {
    const fixture = createWorktreeFixture(t);
    const { root, worktrees } = fixture;
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    createRepository(path.join(record.path, 'this is a link'));
    if (isCommitted) {
      runGit(record.path, '-c', 'advice.addEmbeddedRepo=false', 'add', '-A');
      runGit(record.path, 'commit', '-qm', 'nested');
    }
    const before = captureRepository(fixture);
    assert.deepEqual((await worktrees.inspect('work')).nested, ['this is a link']);
    await assert.rejects(worktrees.merge('work'), isWorktreeError('nested'));
    assert.deepEqual(captureRepository(fixture), before);
  }
});

test('a link that leads out by way of another link, or into the git directory, is named', { skip }, async (t) => {
  const { root, worktrees } = createWorktreeFixture(t);
  const { record } = await worktrees.create({ cwd: root, name: 'work' });
  mkdirSync(path.join(record.path, 'd/e'), { recursive: true });
  const links = {
    'd/e/up': '../..',
    out: 'd/e/up/../secret',
    hooks: '.git/hooks',
    fine: 'd/e',
    'd/e/near': '../../a.txt',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(record.path, name));
  assert.deepEqual((await worktrees.inspect('work')).problems, [
    'hooks is a link that leads into the git directory, to .git/hooks.',
    'out is a link that leads out of the repository, to d/e/up/../secret.',
  ]);
});

test(
  'names that look like options, patterns or escape sequences are merged as names, and shown in one line',
  { skip },
  async (t) => {
    const { root, worktrees, git } = createWorktreeFixture(t, { 'b.txt': 'b\n' });
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    const names = ['--help', '-rf', '*', ':(top)x', 'a\u001b]0;title\u0007b', 'two\nlines', '\u202egnp.txt'];
    writeFiles(record.path, Object.fromEntries(names.map((name) => [name, 'x\n'])));
    commitAll(record.path, 'subject \u001b[31m');
    writeFiles(root, { 'staged.txt': 'of the user\n' });
    git('add', 'staged.txt');
    git('checkout', '-qb', 'ma\u202ein');
    const { status, plan, content } = await worktrees.merge('work', { dryRun: true });
    assert.equal(status, 'planned');
    const shown = formatMergePlan(plan, content);
    assert.equal(shown.split('\n').length, names.length + 1);
    assert.doesNotMatch(`${shown}${content.commits[0]?.subject}`, /[^\n\P{Cc}]|\p{Cf}/u);
    assert.equal((await worktrees.merge('work')).status, 'merged');
    for (const name of names) assert.equal(readText(root, name), 'x\n');
    assert.equal(git('status', '--porcelain'), 'A  staged.txt');
  },
);

test('hooks of the repository do not run when a worktree is created, merged or discarded', { skip }, async (t) => {
  const { root, worktrees, place } = createWorktreeFixture(t);
  const mark = path.join(place, 'ran');
  for (const name of [
    'post-checkout',
    'reference-transaction',
    'post-merge',
    'post-index-change',
    'pre-commit',
    'commit-msg',
  ])
    writeFileSync(path.join(root, '.git/hooks', name), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
  runGit(root, 'checkout', '-q', '-b', 'side');
  assert.equal(existsSync(mark), true, 'git runs them for the user');
  rmSync(mark);
  const { record } = await worktrees.create({ cwd: root, name: 'work' });
  writeFiles(record.path, { 'b.txt': 'b\n' });
  assert.equal((await worktrees.merge('work', { as: 'commits' })).status, 'merged');
  await worktrees.create({ cwd: root, name: 'work' });
  await worktrees.discard('work');
  assert.equal(existsSync(mark), false);
});

test('a folder that is a link in the commit is not the folder of an agent', { skip }, async (t) => {
  const { root, worktrees, place } = createWorktreeFixture(t);
  mkdirSync(path.join(place, 'outside'));
  symlinkSync(path.join(place, 'outside'), path.join(root, 'src'));
  commitAll(root, 'a link');
  rmSync(path.join(root, 'src'));
  mkdirSync(path.join(root, 'src'));
  const { cwd, record } = await worktrees.create({ cwd: path.join(root, 'src') });
  assert.equal(cwd, record.path);
});

test('changes of a checkout with an unfinished merge are not taken along', { skip }, async (t) => {
  const fixture = createWorktreeFixture(t);
  const { root, worktrees, git, folder } = fixture;
  git('checkout', '-qb', 'side');
  writeFiles(root, { 'a.txt': 'side\n' });
  commitAll(root, 'side');
  git('checkout', '-q', 'main');
  writeFiles(root, { 'a.txt': 'main\n' });
  commitAll(root, 'main');
  assert.throws(() => git('merge', 'side'));
  await assert.rejects(worktrees.create({ cwd: root, uncommitted: 'take' }), isWorktreeError('unmerged'));
  assert.deepEqual(readdirSync(folder), []);
});

test('with changes taken along, a file that the user changed since then is not replaced', { skip }, async (t) => {
  const lines = (first: string, last: string): string => `${first}\n2\n3\n4\n5\n${last}\n`;
  const fixture = createWorktreeFixture(t, { 'b.txt': lines('1', '6') });
  const { root, worktrees } = fixture;
  writeFiles(root, { 'b.txt': lines('user', '6') });
  const { record } = await worktrees.create({ cwd: root, name: 'work', uncommitted: 'take' });
  writeFiles(record.path, { 'b.txt': lines('user', 'agent') });
  writeFiles(root, { 'b.txt': lines('user again', '6') });
  const { status, plan } = await worktrees.merge('work');
  assert.deepEqual([status, plan.blocked], ['blocked', ['b.txt']]);
  assert.equal(readText(root, 'b.txt'), lines('user again', '6'));
});

test('a checkout that belongs to another repository now gets no changes', { skip }, async (t) => {
  const { worktrees, place, git } = createWorktreeFixture(t);
  const linked = path.join(place, 'linked');
  git('worktree', 'add', '-q', '-b', 'side', linked);
  const { record } = await worktrees.create({ cwd: linked, name: 'work' });
  writeFiles(record.path, { 'b.txt': 'b\n' });
  git('worktree', 'remove', '--force', linked);
  createRepository(path.join(place, 'other'));
  runGit(path.join(place, 'other'), 'worktree', 'add', '-q', '-b', 'side', linked);
  await assert.rejects(worktrees.merge('work'), isWorktreeError('moved'));
  assert.equal(existsSync(path.join(linked, 'b.txt')), false);
});

test('a damaged record that names another folder or another worktree removes nothing', { skip }, async (t) => {
  const { root, worktrees, place, folder } = createWorktreeFixture(t);
  const { record } = await worktrees.create({ cwd: root, name: 'work' });
  writeFiles(place, { 'precious/x.txt': 'x\n' });
  const file = path.join(folder, `${record.id}.json`);
  const text = readText(file);
  for (const changed of [
    { path: path.join(place, 'precious') },
    { path: folder },
    { id: 'other' },
    { ignoredFiles: {} },
  ]) {
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(text) as object), ...changed }));
    await assert.rejects(worktrees.finish(record.id), isWorktreeError('damaged'));
    await assert.rejects(worktrees.discard('work'), isWorktreeError('damaged'));
    await assert.rejects(worktrees.cleanUp(), isWorktreeError('damaged'));
  }
  assert.equal(readText(place, 'precious/x.txt'), 'x\n');
  assert.equal(readText(record.path, 'a.txt'), 'one\n');
});

test(
  'a branch that was moved to other commits stays when its worktree without changes is removed',
  { skip },
  async (t) => {
    const { root, worktrees, git, folder } = createWorktreeFixture(t);
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    runGit(record.path, 'checkout', '-q', '--detach');
    writeFiles(root, { 'b.txt': 'b\n' });
    const commit = commitAll(root, 'b');
    git('branch', '-f', 'fairlead/work', commit);
    assert.equal(await worktrees.finish(record.id), undefined);
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(git('rev-parse', 'fairlead/work'), commit);
  },
);

test('a rule for ignored files makes no folder behind a link of the repository', { skip }, async (t) => {
  const { root, worktrees, place, git } = createWorktreeFixture(t);
  mkdirSync(path.join(place, 'outside'));
  symlinkSync(path.join(place, 'outside'), path.join(root, 'cache'));
  commitAll(root, 'a link');
  // The checkout has a folder there, which is not committed.
  rmSync(path.join(root, 'cache'));
  writeFiles(root, { 'cache/sub/x.txt': 'x\n' });
  await assert.rejects(
    worktrees.create({ cwd: root, ignored: { copy: ['cache/sub/x.txt'] } }),
    isWorktreeError('occupied'),
  );
  assert.deepEqual(readdirSync(path.join(place, 'outside')), []);
  assert.equal(git('branch', '--format=%(refname:short)'), 'main');
});

test('what commands may read is decided by the rule, not by a link that was changed since', { skip }, async (t) => {
  const { root, worktrees, state, place } = createWorktreeFixture(t, { '.gitignore': 'node_modules\n' });
  writeFiles(root, { 'node_modules/p.txt': 'package\n' });
  writeFiles(place, { 'secret/key': 'key\n' });
  const { record } = await worktrees.create({ cwd: root, ignored: { link: ['node_modules'] } });
  const linked = path.join(root, 'node_modules');
  assert.deepEqual(findWorktreeAccess(state, record.path)?.readable, [linked]);
  // The agent leads its link elsewhere: the record decides.
  rmSync(path.join(record.path, 'node_modules'));
  symlinkSync(path.join(root, '.git'), path.join(record.path, 'node_modules'));
  assert.deepEqual(findWorktreeAccess(state, record.path)?.readable, [linked]);
  renameSync(linked, path.join(place, 'moved'));
  symlinkSync(path.join(place, 'secret'), linked);
  assert.deepEqual(findWorktreeAccess(state, record.path)?.readable, []);
});
