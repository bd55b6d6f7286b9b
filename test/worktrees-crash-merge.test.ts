// Merging and discarding worktrees with kill -9 between the steps: nothing is half merged or left behind.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { runWithGitFailure } from './support/worktree-failures.ts';
import { captureRepository, commitAll, createWorktreeFixture, noGit, writeFiles } from './support/worktree-fixture.ts';

const skip = noGit;

for (const as of ['commits', 'changes'] as const) {
  const at = as === 'commits' ? 'merge --ff-only' : 'apply --whitespace=nowarn';
  const half = "printf 'ag' > a.txt; rm -f b.txt; mkdir -p made; printf 'agent\\n' > made/new.txt";
  const steps = [
    { at, script: 'end', isDone: false },
    { at, script: `${half}; end`, isDone: false },
    { at, script: 'real "$@"; end', isDone: as === 'commits' },
    // The index was written, and the branch did not move.
    ...(as === 'commits'
      ? [{ at, script: 'head=$(real rev-parse HEAD); real "$@"; real update-ref HEAD $head; end', isDone: false }]
      : []),
  ];
  test(
    `a process that was killed while it merged ${as}: the next start returns the checkout to what it was, or the merge is whole`,
    { skip },
    async (t) => {
      for (const { isDone, ...failure } of steps) {
        const fixture = createWorktreeFixture(t, { 'b.txt': 'b\n' });
        const { root, worktrees, folder } = fixture;
        const { record } = await worktrees.create({ cwd: root, name: 'work' });
        writeFiles(record.path, { 'a.txt': 'agent\n', 'b.txt': 'agent\n', 'made/new.txt': 'agent\n' });
        if (as === 'commits') commitAll(record.path, 'agent');
        await worktrees.finish(record.id);
        writeFiles(root, { 'mine.txt': 'not committed\n' });
        const before = captureRepository(fixture) as Record<string, unknown>;
        assert.equal(runWithGitFailure(fixture, 'merge', failure).signal, 'SIGKILL', failure.script);
        assert.deepEqual((await worktrees.cleanUp()).problems, [], failure.script);
        const after = captureRepository(fixture) as Record<string, unknown>;
        if (!isDone) assert.deepEqual({ ...after, left: before['left'] }, before, failure.script);
        assert.equal(existsSync(path.join(root, 'made')), isDone, 'no empty folder is left');
        const { status } = await worktrees.merge('work');
        assert.equal(status, isDone ? 'nothing' : 'merged', failure.script);
        assert.equal(readFileSync(path.join(root, 'made/new.txt'), 'utf8'), 'agent\n');
        assert.equal(readFileSync(path.join(root, 'mine.txt'), 'utf8'), 'not committed\n');
        assert.deepEqual(readdirSync(folder), [], failure.script);
      }
    },
  );
}

test(
  'a file that the user changed after an interrupted merge is left alone and named; the others are put back',
  { skip },
  async (t) => {
    const fixture = createWorktreeFixture(t, { 'b.txt': 'b\n' });
    const { root, worktrees } = fixture;
    const { record } = await worktrees.create({ cwd: root, name: 'work' });
    writeFiles(record.path, { 'a.txt': 'agent\n', 'b.txt': 'agent\n' });
    await worktrees.finish(record.id);
    runWithGitFailure(fixture, 'merge', { at: 'apply --whitespace=nowarn', script: 'real "$@"; end' });
    writeFiles(root, { 'a.txt': 'of the user since\n' });
    const { problems } = await worktrees.cleanUp();
    assert.match(problems.join(), /work: .*these files were changed since, so they were left alone: a\.txt\./);
    assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'of the user since\n');
    assert.equal(readFileSync(path.join(root, 'b.txt'), 'utf8'), 'b\n');
  },
);

test('a process that was killed while it discarded a worktree: the next start completes it', { skip }, async (t) => {
  const fixture = createWorktreeFixture(t);
  const before = captureRepository(fixture) as Record<string, unknown>;
  const { record } = await fixture.worktrees.create({ cwd: fixture.root, name: 'work' });
  writeFiles(record.path, { 'b.txt': 'b\n' });
  await fixture.worktrees.finish(record.id);
  assert.equal(runWithGitFailure(fixture, 'discard', { at: 'update-ref -d', script: 'end' }).signal, 'SIGKILL');
  assert.deepEqual(
    (await fixture.worktrees.cleanUp()).removed.map(({ name }) => name),
    ['work'],
  );
  assert.deepEqual({ ...(captureRepository(fixture) as object), left: [] }, { ...before, left: [] });
});
