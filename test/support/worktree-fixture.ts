// The fixture of worktree tests: a real repository of a user, and a state directory beside it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { openWorktrees, type Worktrees } from '../../src/coding-agent/worktrees/index.ts';
import { createRepository, git } from './git-repository.ts';

/** Why a test with git is skipped; false if there is git. */
export const noGit: string | false = spawnSync('git', ['--version']).status === 0 ? false : 'no git here';

/** A repository and the worktrees of its user. */
export type WorktreeFixture = {
  /** The folder that holds everything. */
  readonly place: string;
  /** The checkout of the user. */
  readonly root: string;
  readonly state: string;
  /** The folder of worktrees. */
  readonly folder: string;
  readonly worktrees: Worktrees;
  /** Runs git in the checkout, as the user. */
  readonly git: (...args: readonly string[]) => string;
};

/** Creates a repository with one commit and a state directory. */
export function createWorktreeFixture(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>> = {},
): WorktreeFixture {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-worktrees-')));
  t.after(() => rmSync(place, { recursive: true, force: true, maxRetries: 10 }));
  const root = path.join(place, 'app');
  createRepository(root);
  if (Object.keys(files).length > 0) {
    writeFiles(root, files);
    git(root, 'add', '-A');
    git(root, 'commit', '-qm', 'files');
  }
  const state = path.join(place, 'state');
  return {
    place,
    root,
    state,
    folder: path.join(state, 'worktrees'),
    worktrees: openWorktrees({ stateFolder: state }),
    git: (...args) => git(root, ...args).trim(),
  };
}

/** Writes files into a folder. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
}

/** Reads a text file. */
export const readText = (...names: readonly string[]): string => readFileSync(path.join(...names), 'utf8');

/** Creates a check that an error is that of a worktree with this code, and that its message is a sentence. */
export const isWorktreeError =
  (code: string) =>
  (error: unknown): true => {
    assert.equal((error as { code?: string }).code, `worktrees/${code}`, String(error));
    assert.match(String(error), /[.!]$/);
    return true;
  };

/** Commits everything in a folder as the user, and returns the commit. */
export function commitAll(root: string, message: string): string {
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', message);
  return git(root, 'rev-parse', 'HEAD').trim();
}

/** Everything that a merge or a worktree could change in a repository: files with their content, references, the index and the configuration. */
export function captureRepository({ root, folder }: Pick<WorktreeFixture, 'root' | 'folder'>): unknown {
  const run = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  const admin = path.join(root, '.git/worktrees');
  return {
    files: captureFolder(root),
    references: run('for-each-ref'),
    head: readFileSync(path.join(root, '.git/HEAD'), 'utf8'),
    status: run('status', '--porcelain', '--ignored'),
    staged: run('ls-files', '--stage'),
    config: readFileSync(path.join(root, '.git/config'), 'utf8'),
    hooks: readdirSync(path.join(root, '.git/hooks')),
    admin: existsSync(admin) ? readdirSync(admin) : [],
    left: existsSync(folder) ? readdirSync(folder) : [],
  };
}

function captureFolder(root: string, under = ''): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(path.join(root, under), { withFileTypes: true })) {
    const name = path.join(under, entry.name);
    const at = path.join(root, name);
    if (name === '.git') continue;
    if (entry.isDirectory()) Object.assign(files, captureFolder(root, name));
    else
      files[name] =
        `${lstatSync(at).mode.toString(8)} ${entry.isSymbolicLink() ? readlinkSync(at) : readFileSync(at, 'latin1')}`;
  }
  return files;
}
