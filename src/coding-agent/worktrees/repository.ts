// Opens the repository of a checkout for worktrees: git runs as the user, executes nothing of the repository, and only after its configuration was verified.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, type ExecResult, type Workspace } from '../../core/index.ts';
import { gitOutput, guardRepository, runGit, type GitRunOptions } from '../../tools/git/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { worktreeError } from './errors.ts';

/** Git in one folder of a repository. */
export type FolderGit = {
  /** Runs git and returns its result, whatever it is. */
  readonly run: (args: readonly string[], options?: GitOptions) => Promise<ExecResult>;
  /** Runs git and returns its output without the line end; undefined if it failed. */
  readonly read: (args: readonly string[], options?: GitOptions) => Promise<string | undefined>;
  /** Runs git and returns its output without the line end; throws with what git said. */
  readonly must: (args: readonly string[], options?: GitOptions) => Promise<string>;
};

/** Options of one git command. */
export type GitOptions = {
  /** The index that it uses instead of that of the folder. */
  readonly index?: string;
  readonly settings?: readonly string[];
};

/** The checkout of a user, whose repository is known to be safe. */
export type Checkout = {
  /** The top folder of its files; a real path. */
  readonly top: string;
  /** The git directory that all worktrees of the repository share; a real path. */
  readonly gitDirectory: string;
  /** Git in the top folder. */
  readonly git: FolderGit;
};

const maxOutput = 50_000_000;
const seconds = 600;

/** Returns git in a folder. Nothing of the repository is executed; its configuration is verified by openCheckout. */
export function createFolderGit(folder: string, signal: AbortSignal): FolderGit {
  const workspace: Workspace = localWorkspace({ roots: [folder] });
  const options = ({ index }: GitOptions = {}): GitRunOptions => ({
    workspace,
    signal,
    seconds,
    maxOutput,
    ...(index === undefined ? {} : { index }),
  });
  const run: FolderGit['run'] = async (args, how) => {
    const result = await runGit(args, options(how), how?.settings);
    if (result.stopped === 'abort') throw worktreeError('aborted', 'The operation was interrupted.');
    return result;
  };
  return {
    run,
    read: async (args, how) => (await gitOutput(args, options(how)))?.replace(/\n$/, ''),
    async must(args, how) {
      const { code, text } = await run(args, how);
      if (code === 0 && text.length < maxOutput) return text.replace(/\n$/, '');
      throw worktreeError('git', `Git failed (${args[0]}): ${text.trim() || `exit code ${code}`}`);
    },
  };
}

/** Opens the checkout that contains a folder. Throws if there is none, or if its configuration could run programs. */
export async function openCheckout(folder: string, signal: AbortSignal): Promise<Checkout> {
  if (!existsSync(folder)) throw worktreeError('no-folder', `There is no folder ${escapeInvisibleLine(folder)}.`);
  const { run } = createFolderGit(folder, signal);
  const found = await run(['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir']);
  if (found.code !== 0) throw noRepositoryError(folder, found);
  const [top = '', common = ''] = found.text.trimEnd().split('\n');
  await guardRepository('change', { workspace: localWorkspace({ roots: [folder] }), signal, seconds });
  const real = realpathSync(top);
  return { top: real, gitDirectory: realpathSync(common), git: createFolderGit(real, signal) };
}

function noRepositoryError(folder: string, { code, text }: ExecResult): Error {
  const shown = escapeInvisibleLine(folder);
  if (code === 127 || code === null)
    return worktreeError('no-git', 'Git is not installed, and worktrees need it.', 'Install git 2.38 or later.');
  if (/bare repository|must be run in a work tree/.test(text))
    return worktreeError('bare', `${shown} is a bare repository without files, so it has no checkout to start from.`);
  if (/not a git repository/.test(text))
    return worktreeError('no-repository', `${shown} is not in a git repository, so it can have no worktree.`);
  return worktreeError('no-repository', `The repository of ${shown} cannot be used: ${text.trim()}`);
}

/** Returns the commit of HEAD. Throws if there is none. */
export async function readHead({ git, top }: Checkout): Promise<string> {
  const head = await git.read(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  if (head !== undefined && head !== '') return head;
  throw worktreeError(
    'no-commit',
    `The repository ${top} has no commit, so there is nothing that a worktree could start from.`,
    'Commit once, then try again.',
  );
}

/** Returns the branch of a checkout; undefined if its head is detached. */
export const readBranch = async ({ read }: FolderGit): Promise<string | undefined> =>
  (await read(['symbolic-ref', '--quiet', '--short', 'HEAD'])) || undefined;

const maxAttributeFiles = 500;

/** Refuses repositories whose files a worktree would not have: submodules, sparse checkouts and Git LFS. */
export async function assertWholeCheckout({ git, top }: Checkout, head: string): Promise<void> {
  if ((await git.read(['config', '--type=bool', '--get', 'core.sparseCheckout'])) === 'true')
    throw worktreeError('sparse', `${top} is a sparse checkout, which worktrees of Fairlead do not support.`);
  const entries = (await git.must(['ls-tree', '-r', '-z', '--full-tree', head])).split('\0');
  const submodule = entries.find((entry) => entry.startsWith('160000 '));
  if (submodule !== undefined)
    throw worktreeError(
      'submodules',
      `The repository contains the submodule ${escapeInvisibleLine(nameOf(submodule))}, whose files a worktree would not have, so none was made.`,
    );
  const attributes = entries.filter((entry) => /(?:^|[\t/])\.gitattributes$/.test(entry)).slice(0, maxAttributeFiles);
  for (const entry of attributes) {
    const [, object = ''] = /^\d+ blob ([0-9a-f]+)\t/.exec(entry) ?? [];
    const text = object === '' ? '' : await git.must(['cat-file', 'blob', object]);
    if (/^[^#\n]*\sfilter=lfs(\s|$)/m.test(text))
      throw worktreeError(
        'lfs',
        `The repository stores files with Git LFS (${escapeInvisibleLine(nameOf(entry))}), of which a worktree would have references only, so none was made.`,
      );
  }
}

const nameOf = (entry: string): string => entry.slice(entry.indexOf('\t') + 1);

/** Returns the paths of uncommitted changes of a checkout, also of new files that git does not ignore. */
export async function listUncommitted(checkout: Checkout): Promise<readonly string[]> {
  const listed = await checkout.git.must(['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all']);
  return listed.split('\0').flatMap((entry) => (entry === '' ? [] : [entry.slice(3)]));
}

/** Returns the settings that name an author if the user has configured none. */
export const authorSettings = async ({ read }: FolderGit): Promise<readonly string[]> =>
  (await read(['var', 'GIT_COMMITTER_IDENT'])) === undefined
    ? ['user.name=Fairlead', 'user.email=fairlead@localhost', 'user.useConfigOnly=false']
    : [];

/** Returns true if a folder is the git directory of a worktree with these files, as git records it. */
export const isAdminFolderOf = (pointer: string | undefined, worktree: string): boolean =>
  pointer !== undefined && path.dirname(pointer.trim()) === worktree;
