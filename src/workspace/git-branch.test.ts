// Tests that the branch of a directory is read from its .git folder, without git.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readGitBranch } from './git-branch.ts';

test('the branch of a repository, of a folder in it, of a worktree, and of a detached head', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-branch-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  assert.equal(readGitBranch(root), undefined);
  const inner = path.join(root, 'a', 'b');
  mkdirSync(inner, { recursive: true });
  mkdirSync(path.join(root, '.git', 'worktrees', 'w'), { recursive: true });
  const head = (text: string, ...names: readonly string[]): void =>
    writeFileSync(path.join(root, '.git', ...names, 'HEAD'), text);
  head('ref: refs/heads/feature/x\n');
  assert.equal(readGitBranch(inner), 'feature/x');
  head(`${'ab12'.repeat(10)}\n`);
  assert.equal(readGitBranch(root), 'ab12ab1');
  const worktree = path.join(root, 'w');
  mkdirSync(worktree);
  writeFileSync(path.join(worktree, '.git'), `gitdir: ${path.join(root, '.git', 'worktrees', 'w')}\n`);
  head('ref: refs/heads/other\n', 'worktrees', 'w');
  assert.equal(readGitBranch(worktree), 'other');
});

test('a HEAD that is no branch, is too long, or would block is ignored', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'fairlead-branch-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const file = path.join(root, '.git', 'HEAD');
  mkdirSync(path.join(root, '.git'));
  for (const text of ['root:x:0:0\n', `ref: refs/heads/${'x'.repeat(5000)}`, '']) {
    writeFileSync(file, text);
    assert.equal(readGitBranch(root), undefined);
  }
  rmSync(file);
  execFileSync('mkfifo', [file]);
  assert.equal(readGitBranch(root), undefined);
});
