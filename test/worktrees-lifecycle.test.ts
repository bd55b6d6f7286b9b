// Worktrees on real repositories: rules for ignored files, what is refused, and what remains of them.
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openWorktrees } from '../src/coding-agent/worktrees/index.ts';
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

test('a discarded worktree leaves nothing, and its content can be restored from a commit', { skip }, async (t) => {
  const fixture = createWorktreeFixture(t);
  const { root, folder, worktrees, git } = fixture;
  const before = captureRepository(fixture) as { left: readonly string[] };
  const { record } = await worktrees.create({ cwd: root, name: 'work' });
  writeFiles(record.path, { 'b.txt': 'b\n' });
  commitAll(record.path, 'b');
  writeFiles(record.path, { 'c.txt': 'c\n' });
  mkdirSync(path.join(record.path, 'shut/inner'), { recursive: true });
  symlinkSync(root, path.join(record.path, 'out'));
  const { commit = '' } = await worktrees.discard('work', { cwd: root });
  assert.equal(git('show', `${commit}:c.txt`), 'c');
  assert.equal(git('show', `${commit}:b.txt`), 'b');
  assert.deepEqual(captureRepository(fixture), { ...before, left: [] });
  assert.deepEqual(readdirSync(folder), []);
});

test(
  'a worktree without changes is removed at the end of its use; one with changes is kept and listed',
  { skip },
  async (t) => {
    const { root, worktrees, folder } = createWorktreeFixture(t, { '.gitignore': 'cache/\n' });
    const unused = await worktrees.create({ cwd: root, purpose: 'Agent: look!' });
    assert.match(unused.record.name, /^agent-look-[0-9a-f]{6}$/);
    writeFiles(unused.record.path, { 'cache/x': 'ignored by git\n' });
    assert.equal(await worktrees.finish(unused.record.id), undefined);
    assert.deepEqual(readdirSync(folder), []);
    const used = await worktrees.create({ cwd: root });
    writeFiles(used.record.path, { 'b.txt': 'b\n' });
    const content = await worktrees.finish(used.record.id);
    assert.deepEqual(
      content?.changes.map((each) => each.path),
      ['b.txt'],
    );
    assert.deepEqual(await worktrees.cleanUp(), { removed: [], problems: [] });
    assert.deepEqual(
      (await worktrees.list(root)).map((each) => [each.record.id, each.isInUse]),
      [[used.record.id, false]],
    );
    assert.match(await worktrees.diff(used.record.name), /^\+b$/m);
  },
);

test('ignored files are linked or copied by rule, and are no part of the changes', { skip }, async (t) => {
  const { root, worktrees, git } = createWorktreeFixture(t, { '.gitignore': 'node_modules/\n.env\n' });
  writeFiles(root, { 'node_modules/p/index.js': '1\n', '.env': 'KEY=1\n' });
  const { record } = await worktrees.create({
    cwd: root,
    name: 'work',
    ignored: { link: ['node_modules', 'absent'], copy: ['.env'] },
  });
  assert.equal(readlinkSync(path.join(record.path, 'node_modules')), path.join(root, 'node_modules'));
  writeFiles(record.path, { '.env': 'KEY=2\n', 'b.txt': 'b\n' });
  assert.equal(readText(root, '.env'), 'KEY=1\n', 'a copy is not the file of the user');
  const { changes } = await worktrees.inspect('work');
  assert.deepEqual(
    changes.map((each) => each.path),
    ['b.txt'],
    'a link is not matched by "node_modules/", and is left out all the same',
  );
  runGit(record.path, 'add', '-A');
  runGit(record.path, 'commit', '-qm', 'with the link');
  await assert.rejects(worktrees.merge('work', { as: 'commits' }), isWorktreeError('ignored-file'));
  assert.equal((await worktrees.merge('work', { as: 'changes' })).status, 'merged');
  assert.equal(git('status', '--porcelain'), '?? b.txt');
  assert.equal(lstatSync(path.join(root, 'node_modules')).isDirectory(), true);
  assert.equal(readText(root, 'node_modules/p/index.js'), '1\n', 'the target of a link is not removed');
});

test(
  'a rule that leads out of the repository, into the git directory or to a committed file is refused',
  { skip },
  async (t) => {
    const fixture = createWorktreeFixture(t, { 'docs/d.txt': 'd\n' });
    const { root, worktrees, place } = fixture;
    writeFiles(place, { 'secret/key': 'key\n' });
    symlinkSync(path.join(place, 'secret'), path.join(root, 'out'));
    symlinkSync('.git', path.join(root, 'dotgit'));
    const before = captureRepository(fixture);
    for (const rule of [
      '../secret',
      path.join(place, 'secret'),
      'out',
      'out/key',
      '.git',
      '.git/config',
      '.GIT',
      'dotgit',
      '.',
      '',
      'docs/../../secret',
    ])
      for (const how of ['link', 'copy'])
        await assert.rejects(
          worktrees.create({ cwd: root, ignored: { [how]: [rule] } }),
          isWorktreeError('outside'),
          rule,
        );
    await assert.rejects(worktrees.create({ cwd: root, ignored: { link: ['docs'] } }), isWorktreeError('tracked'));
    assert.deepEqual(captureRepository(fixture), before);
  },
);

test(
  'a repository that cannot have a worktree is refused with one sentence, and nothing is left',
  { skip },
  async (t) => {
    const fixture = createWorktreeFixture(t);
    const { place, root, worktrees, git, folder } = fixture;
    const at = (name: string): string => path.join(place, name);
    const create = (cwd: string): Promise<unknown> => worktrees.create({ cwd });
    await assert.rejects(create(at('absent')), isWorktreeError('no-folder'));
    mkdirSync(at('plain'));
    await assert.rejects(create(at('plain')), isWorktreeError('no-repository'));
    runGit(place, 'init', '-q', 'empty');
    await assert.rejects(create(at('empty')), isWorktreeError('no-commit'));
    runGit(place, 'clone', '-q', '--bare', root, 'bare.git');
    await assert.rejects(create(at('bare.git')), isWorktreeError('bare'));
    createRepository(at('lfs'));
    writeFiles(at('lfs'), { 'big/.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
    commitAll(at('lfs'), 'lfs');
    await assert.rejects(create(at('lfs')), isWorktreeError('lfs'));
    createRepository(at('sparse'));
    runGit(at('sparse'), 'sparse-checkout', 'set', 'src');
    await assert.rejects(create(at('sparse')), isWorktreeError('sparse'));
    createRepository(at('outer'));
    runGit(at('outer'), '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', root, 'sub');
    commitAll(at('outer'), 'submodule');
    await assert.rejects(create(at('outer')), isWorktreeError('submodules'));
    const inside = openWorktrees({ stateFolder: path.join(root, '.state') });
    await assert.rejects(inside.create({ cwd: root }), isWorktreeError('inside'));
    rmSync(path.join(root, '.state'), { recursive: true });
    git('config', 'core.fsmonitor', 'touch ran');
    git('config', 'filter.x.smudge', 'touch ran');
    await assert.rejects(create(root), /filter\.x\.smudge/);
    assert.equal(existsSync(path.join(root, 'ran')), false);
    assert.equal(existsSync(folder) && readdirSync(folder).length > 0, false);
  },
);

test('names: a branch or worktree of the same name, and names that are no names, are refused', { skip }, async (t) => {
  const { root, worktrees, git } = createWorktreeFixture(t);
  git('branch', 'fairlead/taken');
  const create = (name: string): Promise<unknown> => worktrees.create({ cwd: root, name });
  await assert.rejects(create('taken'), isWorktreeError('branch-exists'));
  assert.match(git('branch'), /fairlead\/taken/, 'the branch of the user is still there');
  await create('mine');
  await assert.rejects(create('mine'), isWorktreeError('exists'));
  for (const name of ['', '..', 'a/b', '-x', 'x-', 'A', 'a.lock', 'x'.repeat(49)])
    await assert.rejects(create(name), isWorktreeError('name'), name);
  git('branch', '-D', 'fairlead/taken');
  await worktrees.discard('mine');
  git('branch', 'fairlead');
  await assert.rejects(create('other'), isWorktreeError('branch-exists'));
});

test(
  'a worktree works from a detached head, from a linked worktree of the user, and from a worktree',
  { skip },
  async (t) => {
    const { root, worktrees, git, place } = createWorktreeFixture(t);
    git('checkout', '-q', '--detach');
    const first = await worktrees.create({ cwd: root, name: 'first' });
    assert.equal(first.record.from, undefined);
    writeFiles(first.record.path, { 'b.txt': 'b\n' });
    commitAll(first.record.path, 'b');
    await assert.rejects(worktrees.merge('first', { as: 'commits' }), isWorktreeError('detached'));
    const inner = await worktrees.create({ cwd: first.cwd, name: 'inner' });
    assert.equal(readText(inner.record.path, 'b.txt'), 'b\n');
    writeFiles(inner.record.path, { 'c.txt': 'c\n' });
    assert.equal((await worktrees.merge('inner')).status, 'merged');
    assert.equal(readText(first.record.path, 'c.txt'), 'c\n');
    assert.equal(existsSync(path.join(root, 'c.txt')), false);
    assert.equal((await worktrees.merge('first', { as: 'changes' })).status, 'merged');
    assert.equal(readText(root, 'c.txt'), 'c\n');
    const linked = path.join(place, 'linked');
    git('worktree', 'add', '-q', '-b', 'side', linked);
    const other = await worktrees.create({ cwd: linked, name: 'other' });
    writeFiles(other.record.path, { 'd.txt': 'd\n' });
    commitAll(other.record.path, 'd');
    assert.equal((await worktrees.merge('other')).plan.into, 'side');
    assert.equal(readText(linked, 'd.txt'), 'd\n');
  },
);

test(
  'a worktree whose folder is gone, or that leads to another git directory, does no harm and can be discarded',
  { skip },
  async (t) => {
    const { root, worktrees, place, folder } = createWorktreeFixture(t);
    const gone = await worktrees.create({ cwd: root, name: 'gone' });
    writeFiles(gone.record.path, { 'b.txt': 'b\n' });
    commitAll(gone.record.path, 'b');
    rmSync(gone.record.path, { recursive: true });
    assert.equal((await worktrees.inspect('gone')).isMissing, true);
    assert.equal((await worktrees.merge('gone')).status, 'merged', 'its commits still exist');
    assert.equal(readText(root, 'b.txt'), 'b\n');
    const led = await worktrees.create({ cwd: root, name: 'led' });
    createRepository(path.join(place, 'evil'));
    rmSync(path.join(led.record.path, '.git'));
    writeFileSync(path.join(led.record.path, '.git'), `gitdir: ${place}/evil/.git\n`);
    await assert.rejects(worktrees.inspect('led'), isWorktreeError('pointer'));
    await assert.rejects(worktrees.merge('led'), isWorktreeError('pointer'));
    const [listed] = await worktrees.list(root);
    assert.match(listed?.error ?? '', /does not lead to the git directory/);
    await worktrees.discard('led');
    assert.deepEqual(readdirSync(folder), []);
  },
);

test('a repository inside a worktree is not merged, and a link that leads out is named', { skip }, async (t) => {
  const { root, worktrees } = createWorktreeFixture(t);
  const { record } = await worktrees.create({ cwd: root, name: 'work' });
  symlinkSync('../../outside', path.join(record.path, 'out'));
  assert.deepEqual((await worktrees.inspect('work')).problems, [
    'out is a link that leads out of the repository, to ../../outside.',
  ]);
  createRepository(path.join(record.path, 'nested'));
  await assert.rejects(worktrees.merge('work'), isWorktreeError('nested'));
  assert.equal(existsSync(path.join(root, 'nested')), false);
});
