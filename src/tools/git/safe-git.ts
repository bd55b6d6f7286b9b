// Runs git so that nothing of the repository runs with it: no hooks, filters, pagers, editors, helpers or questions, whatever its configuration says.
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, isPathInside, type ExecResult, type Workspace } from '../../core/index.ts';
import { foldersOutsideWorkspace } from '../safe-path.ts';

/** How a git command is run. */
export type GitRunOptions = {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly seconds: number;
  readonly progress?: (text: string) => void;
  /** True where it is to reach another place. Else no connection is made: a repository whose objects are missing would have git fetch them, by programs that it names. */
  readonly allowNetwork?: boolean;
  /** Where the person's keys for SSH are to be had: for the one call that goes out, and no other. */
  readonly sshAgent?: string;
  /** Characters of output that are kept, 400,000 unless given. */
  readonly maxOutput?: number;
};

/** What the person's own configuration may say and these commands must not heed. */
const safeSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.pager=cat',
  'core.editor=true',
  'core.askPass=',
  'core.quotePath=false',
  'color.ui=false',
  'commit.gpgSign=false',
  'credential.interactive=false',
  'diff.external=',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'log.showSignature=false',
  'maintenance.auto=false',
  'push.gpgSign=false',
  'push.recurseSubmodules=no',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
];

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

/** Protocols that start programs of their own (ext::, remote helpers) are not among these. */
const allowedProtocols = 'https:http:ssh:file';

/** Variables with which a program around us may point git at another repository. */
const redirectingVariables = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_EXTERNAL_DIFF',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_COUNT',
];

/** Characters of output that are kept before they are made ready for a model. */
const defaultMaxOutput = 400_000;

/** Runs git with these arguments. */
export const runGit = (
  args: readonly string[],
  { workspace, signal, seconds, progress, allowNetwork = false, sshAgent, maxOutput = defaultMaxOutput }: GitRunOptions,
  more: readonly string[] = [],
): Promise<ExecResult> =>
  workspace.exec(
    [
      // Git runs as the person: it is looked for, and looks for others, where no folder that is worked in could have put one.
      '/usr/bin/env',
      ...redirectingVariables.flatMap((name) => ['-u', name]),
      // Where the whole machine is the folder, there is nothing outside it.
      `PATH=${foldersOutsideWorkspace(workspace).join(path.delimiter) || '/usr/bin:/bin'}`,
      ...safeEnvironment,
      `GIT_ALLOW_PROTOCOL=${allowNetwork ? allowedProtocols : 'none'}`,
      ...(allowNetwork && sshAgent ? [`SSH_AUTH_SOCK=${sshAgent}`] : []),
      'git',
      '--no-pager',
      ...[...safeSettings, ...more].flatMap((setting) => ['-c', setting]),
      ...args,
    ],
    { signal, timeoutMs: seconds * 1000, maxChars: maxOutput, ...(progress ? { onOutput: progress } : {}) },
  );

/** Runs git for its answer alone; nothing where it failed or said too much. */
export async function gitOutput(args: readonly string[], run: GitRunOptions): Promise<string | undefined> {
  const { progress: _, ...quiet } = run;
  const ran = await runGit(args, quiet);
  return ran.code === 0 && ran.text.length < (run.maxOutput ?? defaultMaxOutput) ? ran.text : undefined;
}

/** Keys of a repository's own configuration that name programs which git runs on files. */
const filterKeyPattern = /^filter\.(.+)\.(clean|smudge|process)$/;
/** Keys of a repository's own configuration that name programs for a connection, or lead it elsewhere. */
const connectionKeyPattern =
  /^(core\.(sshcommand|gitproxy|alternaterefscommand)|credential\.(.+\.)?helper|remote\..+\.(vcs|proxy)|http\.(.+\.)?(proxy|sslverify|sslcainfo|cookiefile|savecookies|curloptresolve)|url\..+\.(insteadof|pushinsteadof))$/;

/** What a command does, for the sake of which a repository's own programs would be run. */
export type GitAccess = 'look' | 'change' | 'connect';

/** Makes sure that this is a repository of the workspace; gives the settings that keep its own programs from running, or refuses where they would be missed. */
export async function guardRepository(kind: GitAccess, run: GitRunOptions): Promise<readonly string[]> {
  await assertOwnRepository(run);
  const keys = await localConfigKeys(run);
  const named = keys.filter((key) => filterKeyPattern.test(key));
  // A name with an equals sign cannot be said on a command line, so it cannot be switched off there.
  const kept = kind === 'look' ? named.filter((key) => key.includes('=')) : named;
  const bad = kept[0] ?? (kind === 'connect' ? keys.find((key) => connectionKeyPattern.test(key)) : undefined);
  if (bad !== undefined)
    throw gitError(
      'git/programs',
      `The repository's own configuration sets ${escapeInvisibleLine(bad)}, which runs programs or leads elsewhere, so nothing was done. A person should look at it and use git directly.`,
    );
  const names = new Set(named.map((key) => filterKeyPattern.exec(key)?.[1] ?? ''));
  return [...names].flatMap((name) => [
    ...['clean', 'smudge', 'process'].map((each) => `filter.${name}.${each}=`),
    `filter.${name}.required=false`,
  ]);
}

/** A refusal of a git command. */
export const gitError = (code: string, sentence: string): FairleadError =>
  new FairleadError(code, sentence, { blame: 'model' });

/** The keys that the repository sets itself, wherever it includes them from. */
async function localConfigKeys(run: GitRunOptions): Promise<readonly string[]> {
  const listed = await gitOutput(['config', '--list', '--show-scope', '--name-only', '-z'], run);
  if (listed === undefined)
    throw gitError('git/programs', "The repository's own configuration cannot be read, so nothing was done.");
  return [...listed.matchAll(/(?<![^\0\n])(?:local|worktree)\0([^\0]*)/g)].map(([, key = '']) => key);
}

/** A folder can name any place as its repository; only one that lies around it, or that knows it as a worktree, is taken. */
async function assertOwnRepository(run: GitRunOptions): Promise<void> {
  const ran = await runGit(['rev-parse', '--show-toplevel', '--absolute-git-dir'], { ...run });
  const [top = '', gitDir = ''] = ran.text.split('\n');
  if (ran.code !== 0) throw gitError('git/no-repository', ran.text.trim() || 'This is not a git repository.');
  const [owner = ''] = gitDir.split(/[/\\]\.git(?=[/\\]|$)/);
  if (isPathInside(top, run.workspace.cwd) && isPathInside(owner || '/', top)) return;
  const worktrees = (await gitOutput(['worktree', 'list', '--porcelain', '-z'], run))?.split('\0') ?? [];
  if (isPathInside(top, run.workspace.cwd) && worktrees.includes(`worktree ${top}`)) return;
  throw gitError(
    'git/foreign',
    `The repository of this folder lies elsewhere (${escapeInvisibleLine(gitDir)}) and does not know of it, so nothing was done.`,
  );
}
