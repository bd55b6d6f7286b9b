// Finds what a worktree contains: the commits on its branch, its uncommitted changes, and all changes since it began.
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside } from '../../core/index.ts';
import { listChanges, linkMode, repositoryMode, type FileChange } from './changes.ts';
import { worktreeError } from './errors.ts';
import { isInUse, listNames, type WorktreeRecord } from './records.ts';
import { createFolderGit, isAdminFolderOf, openCheckout, type FolderGit } from './repository.ts';
import { snapshotFiles } from './snapshot.ts';

/** What a worktree contains. */
export type WorktreeContent = {
  readonly record: WorktreeRecord;
  /** True if a process uses it. */
  readonly isInUse: boolean;
  /** True if its files are gone; its commits may still exist. */
  readonly isMissing: boolean;
  /** The commits since it began, newest first. */
  readonly commits: readonly { readonly id: string; readonly subject: string }[];
  /** True if files were changed after the last commit. */
  readonly hasUncommitted: boolean;
  /** All changes since it began. */
  readonly changes: readonly FileChange[];
  /** The last commit. */
  readonly tip: string;
  /** The tree of all files now. */
  readonly tree: string;
  /** Why its changes cannot be merged as they are, one sentence each. */
  readonly problems: readonly string[];
};

const maxCommits = 1000;

/** Reads a worktree. Nothing in it is changed or executed. */
export async function inspectWorktree(
  folder: string,
  record: WorktreeRecord,
  signal: AbortSignal,
): Promise<WorktreeContent> {
  const git = createFolderGit(record.gitDirectory, signal);
  const isMissing = !existsSync(path.join(record.path, '.git'));
  const own = isMissing ? undefined : await openWorktreeGit(record, signal);
  const tip = own
    ? await own.must(['rev-parse', '--verify', 'HEAD^{commit}'])
    : ((await git.read(['--git-dir=.', 'rev-parse', '--verify', '--quiet', `refs/heads/${record.branch}^{commit}`])) ??
      record.base);
  const reader = own ?? withGitDirectory(git);
  const without = record.placed.map((each) => each.path);
  const tree = own
    ? await snapshotFiles(own, { folder, start: tip, without })
    : await reader.must(['rev-parse', `${tip}^{tree}`]);
  const listed = await reader.must([
    'log',
    `--max-count=${maxCommits}`,
    '--format=%H %s',
    `${record.base}..${tip}`,
    '--',
  ]);
  const commits =
    listed === ''
      ? []
      : listed.split('\n').map((line) => ({
          id: line.slice(0, line.indexOf(' ')),
          subject: escapeInvisibleLine(line.slice(line.indexOf(' ') + 1)),
        }));
  const changes = await listChanges(reader, record.base, tree);
  return {
    record,
    isInUse: isInUse(record),
    isMissing,
    commits,
    hasUncommitted: tree !== (await reader.must(['rev-parse', `${tip}^{tree}`])),
    changes,
    tip,
    tree,
    problems: await findProblems(changes, reader),
  };
}

/** Returns git for the shared git directory of a repository, whose checkout may be gone. */
export const withGitDirectory = (git: FolderGit): FolderGit => ({
  run: (args, options) => git.run(['--git-dir=.', ...args], options),
  read: (args, options) => git.read(['--git-dir=.', ...args], options),
  must: (args, options) => git.must(['--git-dir=.', ...args], options),
});

/** Opens git in a worktree. Throws if its `.git` file leads elsewhere than when it was made, which a command could have changed. */
async function openWorktreeGit(record: WorktreeRecord, signal: AbortSignal): Promise<FolderGit> {
  const pointer = path.join(record.path, '.git');
  const [, named = ''] = (lstatSync(pointer).isFile() && /^gitdir: (.*)\n$/.exec(readFileSync(pointer, 'utf8'))) || [];
  const admin = path.resolve(record.path, named);
  const all = path.join(record.gitDirectory, 'worktrees');
  const isKnown = path.dirname(admin) === all && listNames(all).includes(path.basename(admin));
  const answer = isKnown ? readFileSync(path.join(admin, 'gitdir'), 'utf8') : undefined;
  const common = isKnown ? readFileSync(path.join(admin, 'commondir'), 'utf8').trim() : '';
  if (!isAdminFolderOf(answer, record.path) || path.resolve(admin, common) !== record.gitDirectory)
    throw worktreeError(
      'pointer',
      `The file ${pointer} does not lead to the git directory of this worktree any more, so nothing was done with it.`,
      'Look at its files, then discard it.',
    );
  const { top } = await openCheckout(record.path, signal);
  if (top !== record.path)
    throw worktreeError('pointer', `${record.path} is not the top folder of its files any more.`);
  return createFolderGit(record.path, signal);
}

async function findProblems(changes: readonly FileChange[], git: FolderGit): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path: file, after, before } of changes) {
    const shown = escapeInvisibleLine(file);
    if (after?.mode === repositoryMode || before?.mode === repositoryMode)
      problems.push(`${shown} is a repository of its own, which cannot be merged.`);
    if (after?.mode !== linkMode) continue;
    const target = await git.must(['cat-file', 'blob', after.object]);
    // The folder has no name here, so a link that leads out of it by its name is found too.
    if (path.isAbsolute(target) || !isPathInside('/r', path.resolve('/r', path.dirname(file), target)))
      problems.push(`${shown} is a link that leads out of the repository, to ${escapeInvisibleLine(target)}.`);
  }
  return problems;
}
