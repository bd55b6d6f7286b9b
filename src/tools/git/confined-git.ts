// Git inside a sandbox without network: reads and changes the repository with the identity and the filters of the user, and nothing runs outside.
import { escapeInvisibleLine, type ExecResult } from '../../core/index.ts';
import { leadsIntoWorkspace } from '../safe-path.ts';
import {
  assertOwnRepository,
  execGit,
  gitCommandLine,
  gitError,
  gitOutput,
  runGit,
  type GitRunOptions,
  type GitSandbox,
  type GitSandboxAccess,
  type GitWorkspaces,
} from './safe-git.ts';

/** Where the git tools run if there is a sandbox for changes. */
export type ConfinedWorkspaces = GitWorkspaces & { readonly sandbox: GitSandbox };

/** Git in the sandbox of one repository. */
export type ConfinedGit = {
  /** True if the repository contains more than the workspace: it belongs to a folder above. */
  readonly isAbove: boolean;
  /** The top folder of the files of the repository. */
  readonly top: string;
  /** The options of a command that only reads. */
  readonly reading: GitRunOptions;
  /** Reads the repository; undefined if git fails. */
  readonly read: (args: readonly string[]) => Promise<string | undefined>;
  /** Changes the repository. */
  readonly write: (args: readonly string[], access?: GitSandboxAccess) => Promise<ExecResult>;
  /** Runs a shell script that starts git with `"$@"`; `$0` is the writable folder. */
  readonly script: (script: string, folder: string) => Promise<ExecResult>;
};

const maxListOutput = 20_000_000;

/** Opens the repository of the workspace. Throws if it belongs to another folder. */
export async function openConfinedGit(
  workspaces: ConfinedWorkspaces,
  run: Pick<GitRunOptions, 'signal' | 'seconds' | 'progress'>,
): Promise<ConfinedGit> {
  const { read: workspace } = workspaces;
  const reading: GitRunOptions = { ...run, workspace, isConfined: true, maxOutput: maxListOutput };
  const read = (args: readonly string[]): Promise<string | undefined> => gitOutput(args, reading);
  const top = await assertOwnRepository(reading);
  const isAbove = !leadsIntoWorkspace(workspace, top);
  const writing = createConfinedRun(workspaces.sandbox, run);
  const settings = await readUserSettings(workspaces.sandbox, run);
  return {
    isAbove,
    top,
    reading,
    read,
    write: (args, access) => runGit(args, writing(access), settings),
    script(script, folder) {
      const options = writing({ writable: [folder] });
      return execGit(['/bin/sh', '-c', script, folder, ...gitCommandLine(options, settings)], options);
    },
  };
}

/** Returns the options of commands in this sandbox. The protocol of files is allowed: there is no network. */
export const createConfinedRun =
  (sandbox: GitSandbox, run: Pick<GitRunOptions, 'signal' | 'seconds' | 'progress'>) =>
  (access: GitSandboxAccess = {}): GitRunOptions => ({
    ...run,
    workspace: sandbox.open(access),
    isConfined: true,
    allowNetwork: true,
  });

/** Settings of the user that decide what a commit contains. Filters run inside the sandbox. */
const userSetting =
  /^((user|author|committer)\.(name|email)|user\.useconfigonly|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode)|i18n\.commitencoding|filter\.[^=\n]*\.(clean|smudge|process|required))$/;

/** Reads the settings that the repository takes from the user's own configuration. Git resolves them, with conditions for folders, in a sandbox that sees these files. */
async function readUserSettings(
  sandbox: GitSandbox,
  run: Pick<GitRunOptions, 'signal' | 'seconds'>,
): Promise<readonly string[]> {
  const readable = await sandbox.findUserFiles();
  if (readable.length === 0) return [];
  const workspace = sandbox.open({ access: 'read', readable });
  const options: GitRunOptions = { ...run, workspace, isConfined: true, readsUserConfig: true };
  const listed = await gitOutput(['config', '--list', '--show-scope', '-z'], options);
  if (listed === undefined)
    throw gitError('git/user-config', "The user's git configuration cannot be read, so nothing was done.");
  const settings = new Map<string, string | undefined>();
  // A key without a value means true, on the command line too.
  for (const [, scope, key = '', value] of listed.matchAll(/(\w+)\0([^\0\n]*)(?:\n([^\0]*))?\0/g))
    if (userSetting.test(key) && scope !== 'command')
      settings.set(key, scope === 'global' ? [key, value].filter((each) => each !== undefined).join('=') : undefined);
  return [...settings.values()].filter((each) => each !== undefined);
}

/** Refuses a repository that contains files which are hidden in the sandbox: they would look deleted. */
export async function assertNothingHidden({ read }: ConfinedGit, { findHidden }: GitSandbox): Promise<void> {
  const hidden = findHidden();
  const [found] = hidden.length > 0 ? ((await read(['ls-files', '-z', '--', ...hidden]))?.split('\0') ?? hidden) : [];
  if (found)
    throw gitError(
      'git/hidden',
      `The repository contains ${escapeInvisibleLine(found)}, which commands cannot see, so nothing was done. The user should use git directly.`,
    );
}

/** Refuses to change files of a repository that belongs to a folder above the workspace. */
export function assertNotAbove({ isAbove }: ConfinedGit, operation: string): void {
  if (isAbove)
    throw gitError(
      'git/above',
      `${operation} would change files outside the working folder, which is only a part of its repository. The user should use git directly, or start in the top folder of the repository.`,
    );
}
