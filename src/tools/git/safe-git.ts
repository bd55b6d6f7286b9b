// Runs git so that nothing of the repository runs with it: no hooks, filters, pagers, editors, helpers or questions, whatever its configuration says.
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, type ExecResult, type Workspace } from '../../core/index.ts';
import { foldersOutside } from '../search-path.ts';

/** How a git command is run. */
export type GitRun = {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly seconds: number;
  readonly progress?: (text: string) => void;
  /** True where it is to reach another place. Else no connection is made: a repository whose objects are missing would have git fetch them, by programs that it names. */
  readonly connects?: boolean;
  /** Where the person's keys for SSH are to be had: for the one call that goes out, and no other. */
  readonly agent?: string;
  /** Characters of output that are kept, 400,000 unless given. */
  readonly most?: number;
};

/** What the person's own configuration may say and these commands must not heed. */
const settings: readonly string[] = [
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

const environment: readonly string[] = [
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
const protocols = 'https:http:ssh:file';

/** Variables with which a program around us may point git at another repository. */
const foreign = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_EXTERNAL_DIFF',
  'GIT_CONFIG_PARAMETERS',
  'GIT_CONFIG_COUNT',
];

/** Characters of output that are kept before they are made ready for a model. */
const usualMost = 400_000;

/** Runs git with these arguments. */
export const git = (
  args: readonly string[],
  { workspace, signal, seconds, progress, connects = false, agent, most = usualMost }: GitRun,
  more: readonly string[] = [],
): Promise<ExecResult> =>
  workspace.exec(
    [
      // Git runs as the person: it is looked for, and looks for others, where no folder that is worked in could have put one.
      '/usr/bin/env',
      ...foreign.flatMap((name) => ['-u', name]),
      // Where the whole machine is the folder, there is nothing outside it.
      `PATH=${foldersOutside(workspace).join(path.delimiter) || '/usr/bin:/bin'}`,
      ...environment,
      `GIT_ALLOW_PROTOCOL=${connects ? protocols : 'none'}`,
      ...(connects && agent ? [`SSH_AUTH_SOCK=${agent}`] : []),
      'git',
      '--no-pager',
      ...[...settings, ...more].flatMap((setting) => ['-c', setting]),
      ...args,
    ],
    { signal, timeoutMs: seconds * 1000, maxChars: most, ...(progress ? { onOutput: progress } : {}) },
  );

/** Runs git for its answer alone; nothing where it failed or said too much. */
export async function answerOf(args: readonly string[], run: GitRun): Promise<string | undefined> {
  const { progress: _, ...quiet } = run;
  const ran = await git(args, quiet);
  return ran.code === 0 && ran.text.length < (run.most ?? usualMost) ? ran.text : undefined;
}

/** Keys of a repository's own configuration that name programs which git runs on files. */
const filters = /^filter\.(.+)\.(clean|smudge|process)$/;
/** Keys of a repository's own configuration that name programs for a connection, or lead it elsewhere. */
const connections =
  /^(core\.(sshcommand|gitproxy|alternaterefscommand)|credential\.(.+\.)?helper|remote\..+\.(vcs|proxy)|http\.(.+\.)?(proxy|sslverify|sslcainfo|cookiefile|savecookies|curloptresolve)|url\..+\.(insteadof|pushinsteadof))$/;

/** What a command does, for the sake of which a repository's own programs would be run. */
export type GitKind = 'look' | 'change' | 'connect';

/** Makes sure that this is a repository of the workspace; gives the settings that keep its own programs from running, or refuses where they would be missed. */
export async function guardRepository(kind: GitKind, run: GitRun): Promise<readonly string[]> {
  await mustBeOurs(run);
  const keys = await localKeys(run);
  const named = keys.filter((key) => filters.test(key));
  // A name with an equals sign cannot be said on a command line, so it cannot be switched off there.
  const kept = kind === 'look' ? named.filter((key) => key.includes('=')) : named;
  const bad = kept[0] ?? (kind === 'connect' ? keys.find((key) => connections.test(key)) : undefined);
  if (bad !== undefined)
    throw refuseGit(
      'git/programs',
      `The repository's own configuration sets ${escapeInvisibleLine(bad)}, which runs programs or leads elsewhere, so nothing was done. A person should look at it and use git directly.`,
    );
  const names = new Set(named.map((key) => filters.exec(key)?.[1] ?? ''));
  return [...names].flatMap((name) => [
    ...['clean', 'smudge', 'process'].map((each) => `filter.${name}.${each}=`),
    `filter.${name}.required=false`,
  ]);
}

/** A refusal of a git command. */
export const refuseGit = (code: string, sentence: string): FairleadError =>
  new FairleadError(code, sentence, { blame: 'model' });

/** The keys that the repository sets itself, wherever it includes them from. */
async function localKeys(run: GitRun): Promise<readonly string[]> {
  const listed = await answerOf(['config', '--list', '--show-scope', '--name-only', '-z'], run);
  if (listed === undefined)
    throw refuseGit('git/programs', "The repository's own configuration cannot be read, so nothing was done.");
  return [...listed.matchAll(/(?<![^\0\n])(?:local|worktree)\0([^\0]*)/g)].map(([, key = '']) => key);
}

/** A folder can name any place as its repository; only one that lies around it, or that knows it as a worktree, is taken. */
async function mustBeOurs(run: GitRun): Promise<void> {
  const ran = await git(['rev-parse', '--show-toplevel', '--absolute-git-dir'], { ...run });
  const [top = '', gitDir = ''] = ran.text.split('\n');
  if (ran.code !== 0) throw refuseGit('git/no-repository', ran.text.trim() || 'This is not a git repository.');
  const [owner = ''] = gitDir.split(/[/\\]\.git(?=[/\\]|$)/);
  if (isWithin(run.workspace.cwd, top) && isWithin(top, owner)) return;
  const worktrees = (await answerOf(['worktree', 'list', '--porcelain', '-z'], run))?.split('\0') ?? [];
  if (isWithin(run.workspace.cwd, top) && worktrees.includes(`worktree ${top}`)) return;
  throw refuseGit(
    'git/foreign',
    `The repository of this folder lies elsewhere (${escapeInvisibleLine(gitDir)}) and does not know of it, so nothing was done.`,
  );
}

const isWithin = (place: string, folder: string): boolean => {
  const way = path.relative(folder, place);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
};
