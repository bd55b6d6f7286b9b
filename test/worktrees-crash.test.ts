// Creating worktrees with kill -9 between the steps, a full disk, and without git: nothing is half made or left behind.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { openWorktrees } from '../src/coding-agent/worktrees/index.ts';
import { runWithGitFailure, worktreeProgram, type GitFailure } from './support/worktree-failures.ts';
import { captureRepository, commitAll, createWorktreeFixture, noGit } from './support/worktree-fixture.ts';

const skip = noGit;

const addSteps: readonly GitFailure[] = [
  { at: 'worktree add', script: 'end' },
  { at: 'worktree add', script: 'real "$@"; end' },
  // Git was killed too, in the middle of the checkout.
  {
    at: 'worktree add',
    script: `real "$@"; for d in .git/worktrees/*; do rm -f "$d/HEAD" "$d/index"; echo initializing > "$d/locked"; done; end`,
  },
  { at: 'status --porcelain=v1', script: 'real "$@"; end' },
];

test(
  'a process that was killed while it created a worktree leaves nothing after the next start',
  { skip },
  async (t) => {
    for (const failure of addSteps) {
      const fixture = createWorktreeFixture(t);
      const before = captureRepository(fixture);
      const { signal } = runWithGitFailure(fixture, 'create', failure);
      assert.equal(signal, 'SIGKILL', failure.script);
      await fixture.worktrees.cleanUp();
      assert.deepEqual(captureRepository(fixture), before, failure.script);
      // The same name works again.
      const { record } = await fixture.worktrees.create({ cwd: fixture.root, name: 'work' });
      assert.equal(readFileSync(path.join(record.path, 'a.txt'), 'utf8'), 'one\n');
    }
  },
);

test(
  'a branch that the user creates in the same moment is not removed with the failed worktree',
  { skip },
  async (t) => {
    const fixture = createWorktreeFixture(t);
    const script = 'real branch fairlead/work HEAD; real "$@"';
    const { stdout } = runWithGitFailure(fixture, 'create', { at: 'worktree add', script });
    assert.match(stdout, /already exists[^]*"left":\[\]/);
    assert.match(fixture.git('branch'), /^ *fairlead.work$/m);
  },
);

test('git that fails in the middle of a checkout, as on a full disk, leaves nothing', { skip }, async (t) => {
  const fixture = createWorktreeFixture(t, { 'b.txt': 'b\n' });
  const before = captureRepository(fixture);
  const script = `real "$@"; rm -f .git/worktrees/*/index; echo "error: unable to write file b.txt: No space left on device"; exit 128`;
  const { stdout } = runWithGitFailure(fixture, 'create', { at: 'worktree add', script });
  const { failure, left } = JSON.parse(stdout) as {
    readonly failure: string;
    readonly left: readonly string[];
  };
  assert.match(failure, /No space left on device/);
  assert.deepEqual(left, []);
  assert.deepEqual(captureRepository(fixture), before);
});

const noFullDisk =
  spawnSync('bwrap', ['--dev-bind', '/', '/', '--size', '500000', '--tmpfs', '/tmp', 'true']).status === 0
    ? false
    : 'no bubblewrap with --size here, which makes a small disk';

test(
  'a full disk in the middle of a checkout: everything that was made is removed',
  { skip: skip || noFullDisk },
  async (t) => {
    const fixture = createWorktreeFixture(t);
    const { root, state } = fixture;
    for (const name of ['x.bin', 'y.bin', 'z.bin']) writeFileSync(path.join(root, name), randomBytes(300_000));
    commitAll(root, 'larger than the disk');
    mkdirSync(state);
    const before = captureRepository(fixture);
    const small = ['--dev-bind', '/', '/', '--size', '500000', '--tmpfs', state];
    const { stdout } = spawnSync('bwrap', [...small, process.execPath, worktreeProgram, 'create', root, state], {
      encoding: 'utf8',
    });
    const { failure, left } = JSON.parse(stdout) as { readonly failure: string; readonly left: readonly string[] };
    assert.match(failure, /unable to write file|No space left on device/);
    assert.deepEqual(left, []);
    assert.deepEqual(captureRepository(fixture), before);
  },
);

test('a worktree that another process uses is neither merged nor discarded nor cleaned up', { skip }, async (t) => {
  const { root, worktrees, folder } = createWorktreeFixture(t);
  const { record } = await worktrees.create({ cwd: root, name: 'work' });
  const file = path.join(folder, `${record.id}.json`);
  const text = readFileSync(file, 'utf8');
  // The first process of the machine runs as long as this test.
  const { pid: _pid, ...owner } = JSON.parse(String(record.user)) as Record<string, unknown>;
  writeFileSync(
    file,
    text.replace(
      JSON.stringify(record.user),
      JSON.stringify(JSON.stringify({ ...owner, pid: process.ppid, start: '' })),
    ),
  );
  await assert.rejects(worktrees.merge('work'), /is in use/);
  await assert.rejects(worktrees.discard('work'), /is in use/);
  assert.deepEqual(await worktrees.cleanUp(), { removed: [], problems: [] });
  assert.equal((await worktrees.list(root))[0]?.isInUse, true);
});

test('without git a worktree is refused with one sentence', async (t) => {
  const empty = mkdtempSync(path.join(tmpdir(), 'fairlead-no-git-'));
  const earlier = process.env['PATH'];
  t.after(() => {
    process.env['PATH'] = earlier;
    rmSync(empty, { recursive: true, force: true });
  });
  for (const name of ['app', 'bin']) mkdirSync(path.join(empty, name));
  process.env['PATH'] = path.join(empty, 'bin');
  const creating = openWorktrees({ stateFolder: path.join(empty, 'state') }).create({ cwd: path.join(empty, 'app') });
  await assert.rejects(creating, /Git is not installed, and worktrees need it\./);
});
