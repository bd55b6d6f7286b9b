// Runs git so that nothing of the repository is executed: no hooks, filters, pagers, editors, helpers or prompts, whatever its configuration says.
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, isPathInside, type ExecResult, type Workspace } from '../../core/index.ts';
import { foldersOutsideWorkspace } from '../safe-path.ts';
import { disableFilters, findFilterThatStays, findUnsafeKey } from './config-keys.ts';
import { safeSettings } from './safe-settings.ts';

/** Where the git tools run. */
export type GitWorkspaces = {
  /** Runs git that only reads. */
  readonly read: Workspace;
  /** True if `read` is a read-only sandbox without network, where a program of the repository can do no harm. */
  readonly isConfined: boolean;
  /** Runs git as the user. Without `sandbox` it changes the repository and connects to servers, after `read` verified the configuration; with one, it sees private repositories only. */
  readonly change: Workspace;
  /** Returns those of these files that a checkout changes only after the user was asked, because other programs execute or obey them; real paths. Default: none. */
  readonly findProtected?: (files: readonly string[]) => readonly string[];
  /** Runs git that changes the repository in a sandbox, so that no program outside reads what a command can write. */
  readonly sandbox?: GitSandbox;
};

/** What git may do in the sandbox besides reading the repository; real paths. */
export type GitSandboxAccess = {
  /** `read` makes the workspace and the repository read-only; default `write`. */
  readonly access?: 'read';
  /** More files and folders that are readable. */
  readonly readable?: readonly string[];
  /** More folders that are writable. */
  readonly writable?: readonly string[];
  /** Protected files of the workspace that a checkout changes. */
  readonly unprotected?: readonly string[];
};

/** The sandbox of git: without network, with the workspace and its git directory. */
export type GitSandbox = {
  /** Returns the workspace whose commands run inside with this access. */
  readonly open: (access: GitSandboxAccess) => Workspace;
  /** Returns the files of the user's own git configuration. */
  readonly findUserFiles: () => Promise<readonly string[]>;
  /** Returns the files and folders of the workspace that are hidden inside. */
  readonly findHidden: () => readonly string[];
  /** A folder of the user that no command can write. Private repositories are created in it. */
  readonly privateFolder: string;
};

/** How a repository is read; `read` returns undefined if git fails. */
export type RepositoryReader = {
  /** The top folder of its files. */
  readonly top: string;
  readonly read: (args: readonly string[]) => Promise<string | undefined>;
};

/** Options of a git command. */
export type GitRunOptions = {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly seconds: number;
  readonly progress?: (text: string) => void;
  /** True if it needs the network. Otherwise no connection is made: for missing objects git would fetch them, with programs that the repository names. */
  readonly allowNetwork?: boolean;
  /** The socket of the user's SSH agent, for the one command that uses the network. */
  readonly sshAgent?: string;
  /** True if git runs in a read-only sandbox without network. There a program of the repository can do no harm. */
  readonly isConfined?: boolean;
  /** True if git reads the user's own configuration inside a sandbox. */
  readonly readsUserConfig?: boolean;
  /** Verifies the repository, if not the workspace itself. A sandbox first moves away what a command created, and refuses if that failed. */
  readonly verifier?: Pick<GitWorkspaces, 'read' | 'isConfined'>;
  /** Max characters of output. Default 400,000. */
  readonly maxOutput?: number;
  /** An index file that is used instead of that of the repository. */
  readonly index?: string;
};

/** In a sandbox the user's list of trusted folders is not visible, and user ids differ. The owner of a folder does not matter where its programs can do no harm. */
const confinedSettings: readonly string[] = ['safe.directory=*', 'core.checkStat=minimal'];

/** Mounts of a sandbox look like file systems. The user's configuration may name programs and contain keys. */
const confinedEnvironment: readonly string[] = [
  'GIT_DISCOVERY_ACROSS_FILESYSTEM=1',
  // Without network, files of Git LFS that are not there stay references.
  'GIT_LFS_SKIP_SMUDGE=1',
];
const noUserConfig = 'GIT_CONFIG_GLOBAL=/dev/null';

const safeEnvironment: readonly string[] = [
  'GIT_ASKPASS=',
  'GIT_CONFIG_NOSYSTEM=1',
  'GIT_EDITOR=true',
  'GIT_LITERAL_PATHSPECS=1',
  'GIT_OPTIONAL_LOCKS=0',
  'GIT_PAGER=cat',
  'GIT_TERMINAL_PROMPT=0',
  'LC_ALL=C.UTF-8',
  'SSH_ASKPASS_REQUIRE=never',
];

/** Protocols that start other programs (ext::, remote helpers) are not included. */
const allowedProtocols = 'https:http:ssh:file';

/** Variables by which a parent process could point git at another repository. */
const redirectingVariables = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_SHALLOW_FILE',
  'GIT_EXTERNAL_DIFF',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_COUNT',
];

/** Max characters of output before it is formatted for a model. */
const defaultMaxOutput = 400_000;

/** Returns the command line of git without a subcommand. */
export const gitCommandLine = (
  { workspace, allowNetwork = false, sshAgent, isConfined = false, readsUserConfig = false, index }: GitRunOptions,
  more: readonly string[] = [],
): readonly string[] => [
  // Git runs as the user: it and its helpers are found only in folders that the workspace could not have written.
  '/usr/bin/env',
  ...redirectingVariables.flatMap((name) => ['-u', name]),
  // If the root folder is the workspace, there is nothing outside it.
  `PATH=${foldersOutsideWorkspace(workspace).join(path.delimiter) || '/usr/bin:/bin'}`,
  ...safeEnvironment,
  ...(isConfined ? confinedEnvironment : []),
  ...(isConfined && !readsUserConfig ? [noUserConfig] : []),
  ...(index === undefined ? [] : [`GIT_INDEX_FILE=${index}`]),
  `GIT_ALLOW_PROTOCOL=${allowNetwork ? allowedProtocols : 'none'}`,
  ...(allowNetwork && sshAgent ? [`SSH_AUTH_SOCK=${sshAgent}`] : []),
  'git',
  '--no-pager',
  ...[...safeSettings, ...(isConfined ? confinedSettings : []), ...more].flatMap((setting) => ['-c', setting]),
];

/** Runs git with these arguments. */
export const runGit = (
  args: readonly string[],
  run: GitRunOptions,
  more: readonly string[] = [],
): Promise<ExecResult> => execGit([...gitCommandLine(run, more), ...args], run);

/** Runs a command line that starts git. */
export const execGit = (
  argv: readonly string[],
  { workspace, signal, seconds, progress, maxOutput = defaultMaxOutput }: GitRunOptions,
): Promise<ExecResult> =>
  workspace.exec(argv, {
    signal,
    timeoutMs: seconds * 1000,
    maxChars: maxOutput,
    ...(progress ? { onOutput: progress } : {}),
  });

/** Runs git and returns its output; undefined if it failed or the output is too long. */
export async function gitOutput(args: readonly string[], run: GitRunOptions): Promise<string | undefined> {
  const { progress: _, ...quiet } = run;
  const result = await runGit(args, quiet);
  return result.code === 0 && result.text.length < (run.maxOutput ?? defaultMaxOutput) ? result.text : undefined;
}

/** The kind of access, which decides which programs of a repository git could run. */
export type GitAccess = 'look' | 'change' | 'connect';

/** Verifies that this is a repository of the workspace. Returns the settings that disable its filters; throws if its configuration is not safe for the access. */
export async function guardRepository(kind: GitAccess, run: GitRunOptions): Promise<readonly string[]> {
  const { read: workspace = run.workspace, isConfined = run.isConfined ?? false } = run.verifier ?? {};
  const verification: GitRunOptions = { ...run, workspace, isConfined, allowNetwork: false };
  const keys = await inspectRepository(verification);
  const bad = run.isConfined ? findFilterThatStays(keys) : findUnsafeKey(keys, kind);
  if (bad !== undefined) throw unsafeKeyError(bad);
  return disableFilters(keys);
}

/** Verifies the repository as guardRepository does. Returns how to read it. */
export async function openUserReader(kind: GitAccess, run: GitRunOptions): Promise<RepositoryReader> {
  await guardRepository(kind, run);
  const top = await assertOwnRepository(run);
  return { top, read: (args) => gitOutput(args, run) };
}

/** Creates the error about a key of the repository's configuration. */
export const unsafeKeyError = (key: string): FairleadError =>
  gitError(
    'git/programs',
    `The repository's own configuration sets ${escapeInvisibleLine(key)}, which may run programs or redirect connections, so nothing was done. The user should check it and use git directly.`,
  );

/** Only the network command may use the user's SSH agent; the commands before it may not. */
export function withSshAgent(run: GitRunOptions): GitRunOptions {
  const { SSH_AUTH_SOCK: agent } = process.env;
  return agent === undefined ? run : { ...run, sshAgent: agent };
}

/** Creates the error of a git command. */
export const gitError = (code: string, sentence: string): FairleadError =>
  new FairleadError(code, sentence, { blame: 'model' });

const listKeys = ['config', '--list', '--show-scope', '--name-only', '-z'];
/** Prints the top folder of a repository and its git directory. */
export const gitPathsArgs: readonly string[] = ['rev-parse', '--show-toplevel', '--absolute-git-dir'];

/** Verifies that this is a repository of the workspace, and returns the keys that its configuration sets. One command does both: starting a sandbox takes longer than git. */
async function inspectRepository({ progress: _, ...run }: GitRunOptions): Promise<readonly string[]> {
  const script = `"$@" ${gitPathsArgs.join(' ')} && printf '\\0' && "$@" ${listKeys.join(' ')}`;
  const { code, text } = await execGit(['/bin/sh', '-c', script, 'sh', ...gitCommandLine(run)], run);
  const end = text.indexOf('\0');
  if (code === 0 && end >= 0 && text.length < (run.maxOutput ?? defaultMaxOutput)) {
    await assertOwnGitPaths(text.slice(0, end), run);
    return parseLocalKeys(text.slice(end + 1));
  }
  // Separately, each has its own error.
  await assertOwnRepository(run);
  return localConfigKeys(run);
}

/** Returns the configuration keys that the repository sets, including included files. */
export async function localConfigKeys(run: GitRunOptions): Promise<readonly string[]> {
  const listed = await gitOutput(listKeys, run);
  if (listed === undefined)
    throw gitError('git/programs', "The repository's own configuration cannot be read, so nothing was done.");
  return parseLocalKeys(listed);
}

function parseLocalKeys(listed: string): readonly string[] {
  // A name that is not UTF-8 was replaced, so it could not be overridden by its name.
  if (listed.includes('\uFFFD'))
    throw gitError(
      'git/programs',
      "The repository's own configuration contains a name that is not UTF-8, so nothing was done. The user should check it and use git directly.",
    );
  return [...listed.matchAll(/(?<![^\0\n])(?:local|worktree)\0([^\0]*)/g)].map(([, key = '']) => key);
}

/** A folder can name any path as its repository. Only one that contains the folder, or that lists it as a worktree, is accepted. Returns the top folder of its files. */
export async function assertOwnRepository(run: GitRunOptions): Promise<string> {
  const { code, text } = await runGit(gitPathsArgs, run);
  if (code !== 0) throw gitError('git/no-repository', text.trim() || 'This is not a git repository.');
  return assertOwnGitPaths(text, run);
}

/** Verifies what `gitPathsArgs` printed: the top folder and the git directory. Returns the top folder. */
export async function assertOwnGitPaths(paths: string, run: GitRunOptions): Promise<string> {
  const [top = '', gitDir = ''] = paths.split('\n');
  const [owner = ''] = gitDir.split(/[/\\]\.git(?=[/\\]|$)/);
  if (isPathInside(top, run.workspace.cwd) && isPathInside(owner || '/', top)) return top;
  const worktrees = (await gitOutput(['worktree', 'list', '--porcelain', '-z'], run))?.split('\0') ?? [];
  if (isPathInside(top, run.workspace.cwd) && worktrees.includes(`worktree ${top}`)) return top;
  throw gitError(
    'git/foreign',
    `The git directory of this folder is elsewhere (${escapeInvisibleLine(gitDir)}) and does not list this folder as a worktree, so nothing was done.`,
  );
}
