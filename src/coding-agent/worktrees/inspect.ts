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
  /** Changed paths that are repositories of their own: they cannot be merged. */
  readonly nested: readonly string[];
  /** What the user should know before a merge, one sentence each: repositories of their own, and links that lead out. */
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
  const without = record.ignoredFiles.map((each) => each.path);
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
  const nested = changes.filter(isRepository).map((each) => each.path);
  return {
    record,
    isInUse: isInUse(record),
    isMissing,
    commits,
    hasUncommitted: tree !== (await reader.must(['rev-parse', `${tip}^{tree}`])),
    changes,
    tip,
    tree,
    nested,
    problems: [...nested.map(formatNested), ...(await findLinksOut(changes, reader))],
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

const isRepository = ({ before, after }: FileChange): boolean =>
  after?.mode === repositoryMode || before?.mode === repositoryMode;

const formatNested = (file: string): string =>
  `${escapeInvisibleLine(file)} is a repository of its own, which cannot be merged.`;

async function findLinksOut(changes: readonly FileChange[], git: FolderGit): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path: file, after } of changes) {
    if (after?.mode !== linkMode) continue;
    const target = await git.must(['cat-file', 'blob', after.object]);
    const where = describeLinkOut(file, target);
    if (where !== undefined)
      problems.push(`${escapeInvisibleLine(file)} is a link that leads ${where}, to ${escapeInvisibleLine(target)}.`);
  }
  return problems;
}

/** Returns where a link can lead besides files of the repository; undefined if nowhere. */
function describeLinkOut(file: string, target: string): string | undefined {
  const names = target.split('/').filter((name) => name !== '' && name !== '.');
  const start = names.findIndex((name) => name !== '..');
  const isOutside =
    path.isAbsolute(target) ||
    // The folder has no name here, so a link that leads out of it by its name is found too.
    !isPathInside('/r', path.resolve('/r', path.dirname(file), target)) ||
    // The name before `..` can be another link: then it is the folder above the target of that link.
    (start >= 0 && names.slice(start).includes('..'));
  if (isOutside) return 'out of the repository';
  return names.some((name) => name.toLowerCase() === '.git') ? 'into the git directory' : undefined;
}
