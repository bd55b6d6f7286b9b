// Tests of the file list of "@": which files it contains, and that listing runs no program of the repository.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { noGit } from '../../../test/support/programs.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { searchFiles } from './completer.ts';

/** Creates a repository with a program that writes a file when it is run. */
function repository(t: TestContext): { root: string; trace: string; trap: string; sh: (command: string) => void } {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-at-')));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const [root, trace, trap] = ['root', 'trace', 'trap.sh'].map((name) => path.join(top, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(root);
  writeFileSync(trap, `#!/bin/sh\nenv > '${trace}'\n`, { mode: 0o755 });
  const sh = (command: string): void => void execFileSync('/bin/sh', ['-c', command], { cwd: root, stdio: 'ignore' });
  sh('git init -q . && echo a > known.txt && echo left.txt > .gitignore && git add -A');
  sh('git -c user.name=a -c user.email=a@b.test commit -qm x && touch new.txt left.txt');
  return { root, trace, trap, sh };
}

const near = (root: string): Promise<readonly string[]> =>
  searchFiles({ read: localWorkspace({ roots: [root] }), isConfined: false }, '', 20, new AbortController().signal);

test('an @ lists tracked and untracked files, but not ignored ones', { skip: noGit }, async (t) => {
  const { root } = repository(t);
  assert.deepEqual((await near(root)).toSorted(), ['.gitignore', 'known.txt', 'new.txt']);
});

test('attacks 12, 28: an @ does not run the fsmonitor program of a repository', { skip: noGit }, async (t) => {
  const { root, trace, trap, sh } = repository(t);
  sh(`git config core.fsmonitor '${trap}' && git config core.untrackedCache true`);
  assert.ok((await near(root)).includes('known.txt'));
  assert.ok(!existsSync(trace));
  sh('git ls-files --others');
  assert.ok(existsSync(trace), 'the trap would have worked');
});

test(
  'attacks 12, 28: an @ does not fetch missing objects with programs of the repository',
  { skip: noGit },
  async (t) => {
    const { root, trace, trap, sh } = repository(t);
    // Git reads a .gitignore that is not on disk from the repository, and fetches it if it is a promisor object.
    sh('git update-index --skip-worktree .gitignore && rm .gitignore');
    sh('blob=$(git rev-parse :.gitignore) && rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)');
    sh('git config extensions.partialClone origin && git config remote.origin.promisor true');
    sh(`git config core.repositoryFormatVersion 1 && git config core.sshCommand '${trap}'`);
    sh('git config remote.origin.url ssh://nowhere.test/x');
    await near(root);
    assert.ok(!existsSync(trace));
    sh('git ls-files --others --exclude-standard || true');
    assert.ok(existsSync(trace), 'the trap would have worked');
  },
);
