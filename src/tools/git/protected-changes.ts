// Finds what a checkout changes of the files that other programs execute or obey. The user is asked about these files, with the commit and its changes.
import path from 'node:path';
import { escapeInvisible, escapeInvisibleLine, type ToolCall } from '../../core/index.ts';
import { objectName } from './private-repository.ts';
import { gitError, type GitWorkspaces, type RepositoryReader } from './safe-git.ts';

/** A commit that changes protected files. */
export type ProtectedChange = {
  readonly commit: string;
  /** Real paths. */
  readonly files: readonly string[];
  readonly names: readonly string[];
  /** What the user must approve: the commit, the names and the changes. */
  readonly warning: string;
};

const maxFiles = 100;
const maxDiffChars = 6000;

/** Returns the commit of a revision; undefined if there is none. */
export async function resolveCommit({ read }: RepositoryReader, revision: string): Promise<string | undefined> {
  const found = (await read(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]))?.trim();
  return found !== undefined && objectName.test(found) ? found : undefined;
}

/** Returns which protected files change if this commit is checked out; undefined if none do. */
export async function findProtectedChange(
  reader: RepositoryReader,
  commit: string,
  { findProtected }: Pick<GitWorkspaces, 'findProtected'>,
): Promise<ProtectedChange | undefined> {
  if (!findProtected) return undefined;
  const { read, top } = reader;
  const difference = ['diff', '--no-color', '--no-renames', '--no-ext-diff', '--no-textconv'];
  const listed =
    (await read([...difference, '--name-only', '-z', 'HEAD', commit, '--'])) ??
    // Without a first commit there is nothing to compare with.
    (await read(['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit]));
  if (listed === undefined)
    throw gitError('git/unknown-files', 'The files that would change cannot be listed, so nothing was done.');
  const files = findProtected(listed.split('\0').flatMap((name) => (name === '' ? [] : [path.join(top, name)])));
  if (files.length === 0) return undefined;
  if (files.length > maxFiles)
    throw gitError(
      'git/protected',
      `More than ${maxFiles} files that other programs run or load would change, so nothing was done. The user should use git directly.`,
    );
  const names = files.map((file) => escapeInvisibleLine(path.relative(top, file)));
  const changes = (await read([...difference, 'HEAD', commit, '--', ...files])) ?? '';
  const lines = escapeInvisible(changes.slice(0, maxDiffChars)).trimEnd().split('\n');
  const omitted = changes.length - maxDiffChars;
  const warning = [
    `Warning: other programs run or load these files without asking you, and commit ${commit} changes them: ${names.join(', ')}.`,
    ...(changes === '' ? [] : lines.map((line) => `| ${line}`)),
    ...(omitted > 0 ? [`[… ${omitted} more characters of changes are not shown …]`] : []),
  ].join('\n');
  return { commit, files, names, warning };
}

/** Returns true if the user approved exactly these changes. */
export const isChangeApproved = ({ warning }: ProtectedChange, call: Pick<ToolCall, 'granted'> | undefined): boolean =>
  call?.granted?.some((question) => question.includes(warning)) ?? false;

/** The workspaces of a pull, and the call whose approvals count. */
export type PullContext = {
  readonly workspaces: Pick<GitWorkspaces, 'findProtected'>;
  readonly call: Pick<ToolCall, 'granted'> | undefined;
};

/** The arguments of a merge that only moves the branch forward; a commit follows. */
export const mergeArgs: readonly string[] = ['merge', '--ff-only', '--no-verify-signatures'];

/** Returns what a fast-forward to this commit changes of the protected files; undefined if nothing, or if it is no fast-forward. */
export async function findForwardChange(
  reader: RepositoryReader,
  commit: string,
  workspaces: PullContext['workspaces'],
): Promise<ProtectedChange | undefined> {
  const hasCommits = (await resolveCommit(reader, 'HEAD')) !== undefined;
  const isForward = !hasCommits || (await reader.read(['merge-base', '--is-ancestor', 'HEAD', commit])) !== undefined;
  return isForward ? findProtectedChange(reader, commit, workspaces) : undefined;
}

/** Returns the fetched commit and the protected files that merging it may change. Throws if the user did not approve them. */
export async function approvePull(
  reader: RepositoryReader,
  revision: string,
  { workspaces, call }: PullContext,
): Promise<{ readonly commit: string; readonly unprotected: readonly string[] }> {
  const commit = await resolveCommit(reader, revision);
  if (commit === undefined) throw gitError('git/bad-name', 'The branch was not fetched, so nothing was merged.');
  const change = await findForwardChange(reader, commit, workspaces);
  if (!change) return { commit, unprotected: [] };
  if (isChangeApproved(change, call)) return { commit, unprotected: change.files };
  throw gitError(
    'git/protected',
    `The branch was fetched and not merged: it changes ${change.names.join(', ')}, which other programs run or load, and the user was not asked about these changes. Make the call again, so that the user is asked.`,
  );
}
