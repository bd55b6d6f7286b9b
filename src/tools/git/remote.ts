// The git_remote tool: clone, pull and push. A pull is fast-forward only, a push is never forced.
import path from 'node:path';
import { FairleadError, type ToolContext, type ToolOutput, type Tool } from '../../core/index.ts';
import { commandResultOutput } from '../shell/format-result.ts';
import { gitRemoteSpec } from './specs.ts';
import { resolveRemote, requireRefName } from './args.ts';
import type { ConfinedWorkspaces } from './confined-git.ts';
import type * as RemoteConfined from './remote-confined.ts';
import { remoteProgramOptions } from './remote-programs.ts';
import {
  gitOutput,
  runGit,
  gitError,
  openUserReader,
  type GitRunOptions,
  type GitWorkspaces,
  withSshAgent,
} from './safe-git.ts';

const timeoutSeconds = 600;
const readSeconds = 120;

type GitRemoteInput = {
  readonly operation: 'clone' | 'pull' | 'push';
  readonly url?: string;
  readonly path?: string;
  readonly remote?: string;
  readonly branch?: string;
  readonly depth?: number;
};

/** Creates the git_remote tool. */
export const gitRemote = (workspaces: GitWorkspaces): Tool => ({
  ...gitRemoteSpec,
  async needsApproval(input) {
    const trip = input as GitRemoteInput;
    if (trip.operation !== 'pull' || !workspaces.findProtected) return false;
    try {
      return (await findPullWarning(trip, workspaces)) ?? false;
    } catch {
      // The call itself reports the error, and changes no protected file without approval.
      return false;
    }
  },
  async execute(input, { signal, progress, call }): Promise<ToolOutput> {
    const { change: workspace, sandbox, ...verifier } = workspaces;
    const run: GitRunOptions = {
      workspace,
      signal,
      seconds: timeoutSeconds,
      allowNetwork: true,
      verifier,
      ...(progress ? { progress } : {}),
    };
    const trip = input as GitRemoteInput;
    const confined = sandbox ? { ...workspaces, sandbox } : undefined;
    const result = await (trip.operation === 'clone'
      ? cloneRepository(trip, run, confined)
      : pullOrPush({ ...trip, operation: trip.operation, call }, run, { workspaces, confined }));
    return commandResultOutput(result, timeoutSeconds);
  },
});

/** Returns what a pull changes of the protected files, as far as the branch was fetched before. What only the server has is refused when it was fetched. */
async function findPullWarning(
  { remote = 'origin', branch }: GitRemoteInput,
  workspaces: GitWorkspaces,
): Promise<string | undefined> {
  const { sandbox, change: workspace, ...verifier } = workspaces;
  const run = { signal: AbortSignal.timeout(readSeconds * 1000), seconds: readSeconds };
  const [{ findForwardChange, resolveCommit }, reader] = await Promise.all([
    import('./protected-changes.ts'),
    sandbox
      ? import('./confined-git.ts').then(({ openConfinedGit }) => openConfinedGit({ ...workspaces, sandbox }, run))
      : openUserReader('change', { ...run, workspace, verifier }),
  ]);
  const here = branch ?? (await reader.read(['symbolic-ref', '--quiet', '--short', 'HEAD']))?.trim();
  if (here === undefined) return undefined;
  const tracking = `refs/remotes/${requireRefName('remote', remote)}/${requireRefName('branch', here)}`;
  const commit = await resolveCommit(reader, tracking);
  return commit === undefined ? undefined : (await findForwardChange(reader, commit, workspaces))?.warning;
}

/** Loaded for the first connection, because most runs have none. */
const loadConfined = (): Promise<typeof RemoteConfined> => import('./remote-confined.ts');

async function cloneRepository(
  { url, path: folder, branch, depth }: GitRemoteInput,
  run: GitRunOptions,
  confined: ConfinedWorkspaces | undefined,
): ReturnType<typeof runGit> {
  if (url === undefined || folder === undefined) throw gitError('git/incomplete', 'clone needs a url and a path.');
  const { workspace } = run;
  const place = resolveRemote(workspace, url);
  const target = workspace.locate(folder);
  if (/[/\\]\.git([/\\]|$)/i.test(target)) throw gitError('git/bad-folder', 'Nothing is cloned into a .git folder.');
  const known = await workspace.list(folder).catch((error: unknown) => {
    if (error instanceof FairleadError && error.code === 'workspace/not-found') return undefined;
    throw error;
  });
  if (known?.entries.length) throw gitError('git/bad-folder', `The folder ${path.basename(target)} is not empty.`);
  const options = [
    ...(depth === undefined ? [] : [`--depth=${depth}`]),
    ...(branch === undefined ? [] : [`--branch=${requireRefName('branch', branch)}`]),
  ];
  if (confined) return (await loadConfined()).cloneInSandbox({ place, target, options }, confined, run);
  return runGit(
    [
      'clone',
      '--no-recurse-submodules',
      '--no-hardlinks',
      ...remoteProgramOptions('upload', place.isLocal),
      ...options,
      '--',
      place.url,
      target,
    ],
    place.isLocal ? run : withSshAgent(run),
  );
}

async function pullOrPush(
  {
    operation,
    remote = 'origin',
    branch,
    call,
  }: GitRemoteInput & { readonly operation: 'pull' | 'push'; readonly call: ToolContext['call'] },
  run: GitRunOptions,
  { workspaces, confined }: { readonly workspaces: GitWorkspaces; readonly confined: ConfinedWorkspaces | undefined },
): ReturnType<typeof runGit> {
  const name = requireRefName('remote', remote);
  if (confined) {
    const request = { operation, remote: name, call, ...(branch === undefined ? {} : { branch }) };
    return (await loadConfined()).transferInSandbox(request, confined, run);
  }
  const reader = await openUserReader('connect', run);
  const here = branch ?? (await gitOutput(['symbolic-ref', '--quiet', '--short', 'HEAD'], run))?.trim();
  if (here === undefined) throw gitError('git/incomplete', 'No branch is checked out, so give the branch.');
  const ref = requireRefName('branch', here);
  const isPush = operation === 'push';
  const urls = await gitOutput(['remote', 'get-url', '--all', ...(isPush ? ['--push'] : []), '--', name], run);
  if (urls === undefined) throw gitError('git/bad-remote', `There is no remote named ${name}.`);
  const places = urls
    .trim()
    .split('\n')
    .map((url) => resolveRemote(run.workspace, url));
  if (places.length > 1) throw gitError('git/bad-remote', `${name} has several URLs; use a remote with one.`);
  const isLocal = places.some((place) => place.isLocal);
  const connectingRun = isLocal ? run : withSshAgent(run);
  if (isPush)
    return runGit(
      [
        'push',
        '--no-verify',
        '--no-signed',
        ...remoteProgramOptions('receive', isLocal),
        '--',
        name,
        `refs/heads/${ref}:refs/heads/${ref}`,
      ],
      connectingRun,
    );
  const fetched = await runGit(
    ['fetch', '--no-recurse-submodules', ...remoteProgramOptions('upload', isLocal), '--', name, `refs/heads/${ref}`],
    connectingRun,
  );
  if (fetched.code !== 0) return fetched;
  const { approvePull, mergeArgs } = await import('./protected-changes.ts');
  const { commit, assertWritten } = await approvePull(reader, 'FETCH_HEAD', { workspaces, call });
  try {
    return await runGit([...mergeArgs, commit], run);
  } finally {
    await assertWritten?.();
  }
}
