// Finds what a checkout changes of the files that other programs execute or obey. The question to the user shows these files, with the commit and its changes.
import path from 'node:path';
import type { ToolCall } from '../../core/index.ts';
import { objectName } from './private-repository.ts';
import {
  assertWrittenAsApproved,
  formatPlan,
  planFiles,
  unknownFilesError,
  type PlannedFile,
} from './protected-content.ts';
import { gitError, type GitWorkspaces, type RepositoryReader } from './safe-git.ts';

/** A commit that changes protected files. */
export type ProtectedChange = {
  readonly commit: string;
  /** Real paths. */
  readonly files: readonly string[];
  readonly names: readonly string[];
  /** What the user must approve: the commit, the names and the changes of the files on disk. */
  readonly warning: string;
  /** Throws if git wrote other content than the user approved, which is then taken back. */
  readonly assertWritten: () => Promise<void>;
};

/** Where protected files are found and compared. */
export type ProtectedWorkspaces = Pick<GitWorkspaces, 'findProtected' | 'change'>;

const maxFiles = 100;

/** Returns the commit of a revision; undefined if there is none. */
export async function resolveCommit({ read }: RepositoryReader, revision: string): Promise<string | undefined> {
  const found = (await read(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]))?.trim();
  return found !== undefined && objectName.test(found) ? found : undefined;
}

/** Returns which protected files change if this commit is checked out; undefined if none do. Git writes the files that differ between HEAD and the commit. All others stay protected, even if a command moves HEAD meanwhile. */
export async function findProtectedChange(
  reader: RepositoryReader,
  commit: string,
  { findProtected, change: workspace }: ProtectedWorkspaces,
): Promise<ProtectedChange | undefined> {
  if (!findProtected) return undefined;
  const { read, top } = reader;
  const listed =
    (await read([
      'diff',
      '--no-renames',
      '--no-relative',
      '--no-ext-diff',
      '--name-only',
      '-z',
      'HEAD',
      commit,
      '--',
    ])) ??
    // Without a first commit there is nothing to compare with.
    (await read(['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit]));
  if (listed === undefined) throw unknownFilesError();
  const files = findProtected(listed.split('\0').flatMap((name) => (name === '' ? [] : [path.join(top, name)])));
  if (files.length === 0) return undefined;
  if (files.length > maxFiles)
    throw gitError(
      'git/protected',
      `More than ${maxFiles} files that other programs run or load would change, so nothing was done. The user should use git directly.`,
    );
  const planned: readonly PlannedFile[] = await planFiles(reader, commit, files, workspace);
  const names = planned.map(({ name }) => name);
  const warning = [
    `Warning: other programs run or load these files without asking you, and commit ${commit} changes them: ${names.join(', ')}.`,
    ...(await formatPlan(reader, planned)),
  ].join('\n');
  return { commit, files, names, warning, assertWritten: () => assertWrittenAsApproved(planned, workspace) };
}

/** Returns true if the user approved exactly these changes. */
export const isChangeApproved = ({ warning }: ProtectedChange, call: Pick<ToolCall, 'granted'> | undefined): boolean =>
  call?.granted?.some((question) => question.includes(warning)) ?? false;

/** The workspaces of a pull, and the call whose approvals count. */
export type PullContext = {
  readonly workspaces: ProtectedWorkspaces;
  readonly call: Pick<ToolCall, 'granted'> | undefined;
};

/** The arguments of a merge that only moves the branch forward; a commit follows. */
export const mergeArgs: readonly string[] = ['merge', '--ff-only', '--no-verify-signatures'];

/** Returns what a fast-forward to this commit changes of the protected files; undefined if nothing, or if it is not a fast-forward. */
export async function findForwardChange(
  reader: RepositoryReader,
  commit: string,
  workspaces: PullContext['workspaces'],
): Promise<ProtectedChange | undefined> {
  const hasCommits = (await resolveCommit(reader, 'HEAD')) !== undefined;
  const isForward = !hasCommits || (await reader.read(['merge-base', '--is-ancestor', 'HEAD', commit])) !== undefined;
  return isForward ? findProtectedChange(reader, commit, workspaces) : undefined;
}

/** The commit that a pull merges, with the protected files that it may change. */
export type ApprovedPull = {
  readonly commit: string;
  readonly unprotected: readonly string[];
  readonly assertWritten?: ProtectedChange['assertWritten'];
};

/** Returns the fetched commit and the protected files that merging it may change. Throws if the user did not approve them. */
export async function approvePull(
  reader: RepositoryReader,
  revision: string,
  { workspaces, call }: PullContext,
): Promise<ApprovedPull> {
  const commit = await resolveCommit(reader, revision);
  if (commit === undefined) throw gitError('git/bad-name', 'The branch was not fetched, so nothing was merged.');
  const change = await findForwardChange(reader, commit, workspaces);
  if (!change) return { commit, unprotected: [] };
  const { files: unprotected, assertWritten } = change;
  if (isChangeApproved(change, call)) return { commit, unprotected, assertWritten };
  throw gitError(
    'git/protected',
    `The branch was fetched and not merged: it changes ${change.names.join(', ')}, which other programs run or load, and the user was not asked about these changes. Make the call again, so that the user is asked.`,
  );
}
