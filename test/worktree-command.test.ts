// Queued runs in worktrees of their own, and the worktree command, in the real program.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createFleetProgram } from './support/fleet-program.ts';
import { createRepository, git } from './support/git-repository.ts';
import { commitAll, noGit, writeFiles } from './support/worktree-fixture.ts';

const skip = noGit;

test(
  'two runs on one repository do not disturb each other, and the user merges one and sees the conflict of the other',
  { skip },
  async (t) => {
    const program = await createFleetProgram(t, ({ prompt, results }) =>
      results.length > 0 ? says('Done.') : calls('write_file', { path: 'new.txt', content: `${prompt}\n` }),
    );
    const { cwd } = program;
    createRepository(cwd);
    writeFiles(cwd, { 'mine.txt': 'not committed\n' });
    await program.runCommand('enqueue', 'First', 'Second', 'Look', '--id', 'lot', '--auto', '--worktree');
    const worked = await program.run(['worker', '--drain', '--concurrency', '3']);
    assert.equal(worked.code, 0, worked.err);
    assert.match(worked.err, /Uncommitted changes of your checkout are not in it: mine\.txt/);
    assert.equal(existsSync(path.join(cwd, 'new.txt')), false, 'the checkout is untouched');
    const listed = JSON.parse((await program.call(['worktree', 'list', '--json'])).out) as readonly {
      readonly record: { readonly name: string; readonly purpose: string };
      readonly changes: readonly { readonly path: string }[];
      readonly isInUse: boolean;
    }[];
    assert.deepEqual(
      listed
        .map(({ record, changes, isInUse }) => [record.purpose, changes.map((each) => each.path).join(), isInUse])
        .toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
      [
        ['run lot-1', 'new.txt', false],
        ['run lot-2', 'new.txt', false],
        ['run lot-3', 'new.txt', false],
      ],
    );
    const [first = '', second = '', third = ''] = ['run lot-1', 'run lot-2', 'run lot-3'].map(
      (purpose) => listed.find(({ record }) => record.purpose === purpose)?.record.name,
    );
    assert.match((await program.call(['worktree', 'show', first, '--diff'])).out, /A new\.txt {2}\+1 -0[^]*^\+First$/m);
    const unasked = await program.call(['worktree', 'merge', first]);
    assert.deepEqual(
      [unasked.code, /there is no terminal to ask/.test(unasked.err)],
      [1, true],
      'nothing is merged without the user',
    );
    assert.equal(existsSync(path.join(cwd, 'new.txt')), false);
    const merged = await program.call(['worktree', 'merge', first, '--yes']);
    assert.match(merged.out, /A new\.txt[^]*Merged\. The worktree \S+ was removed\./);
    assert.equal(readFileSync(path.join(cwd, 'new.txt'), 'utf8'), 'First\n');
    const blocked = await program.call(['worktree', 'merge', second, '--yes']);
    assert.deepEqual(
      [blocked.code, /Nothing was changed[^]*new\.txt/.test(blocked.out)],
      [1, true],
      'the file is not committed',
    );
    commitAll(cwd, 'first');
    const conflict = await program.call(['worktree', 'merge', second, '--yes']);
    assert.match(
      conflict.out,
      /Nothing was changed: 1 file changed on both sides[^]*new\.txt: CONFLICT \(add\/add\)[^]*First[^]*Second[^]*--keep-conflicts/,
    );
    assert.deepEqual([conflict.code, git(cwd, 'status', '--porcelain')], [1, '']);
    assert.match(
      (await program.call(['worktree', 'discard', second, '--yes'])).out,
      /is discarded\. Until git removes its commits/,
    );
    await program.call(['worktree', 'discard', third, '--yes']);
    assert.equal((await program.call(['worktree'])).out, 'There is no worktree.\n');
    for (const wrong of [['merge'], ['list', 'x'], ['erase', 'x'], ['merge', 'x', '--as', 'rebase']])
      assert.notEqual((await program.call(['worktree', ...wrong])).code, 0, wrong.join(' '));
  },
);

test(
  'a run with a wrong isolation, or in a folder without a repository, ends with one sentence',
  { skip },
  async (t) => {
    const program = await createFleetProgram(t, () => says('Never.'));
    await program.enqueue(
      { id: 'wrong', prompt: 'Go', settings: { isolation: 'jail' } },
      { id: 'plain', prompt: 'Go', settings: { isolation: 'worktree' } },
    );
    await program.run(['worker', '--drain']);
    const { outcome: wrong } = await program.waitForRun('wrong', 'ended');
    assert.match(JSON.stringify(wrong), /isolation cannot be \\"jail\\"/);
    const { outcome: plain } = await program.waitForRun('plain', 'ended');
    assert.match(JSON.stringify(plain), /is not in a git repository, so it can have no worktree/);
    assert.deepEqual(program.modelRequests(), []);
  },
);
