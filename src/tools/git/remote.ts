// Moves commits between the workspace and elsewhere: clone, pull and push. A pull only goes forward, and a push never by force.
import path from 'node:path';
import { FairleadError, type ToolOutput, type Tool, type Workspace } from '../../core/index.ts';
import { ranOutput } from '../commands/report.ts';
import { placeOf, plainName } from './names.ts';
import { answerOf, git, guardRepository, refuseGit, type GitRun } from './safe-git.ts';

const seconds = 600;

type Trip = {
  readonly operation: 'clone' | 'pull' | 'push';
  readonly url?: string;
  readonly path?: string;
  readonly remote?: string;
  readonly branch?: string;
  readonly depth?: number;
};

/** The tool that reaches other repositories. */
export const gitRemote = (workspace: Workspace): Tool => ({
  name: 'git_remote',
  description:
    'Clone a git repository, pull or push. clone takes a url and the path of a new folder; pull (fast-forward only) and push take a remote (origin unless given) and a branch (the current one unless given).',
  input: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['clone', 'pull', 'push'] },
      url: { type: 'string', maxLength: 2000 },
      path: { type: 'string' },
      remote: { type: 'string', maxLength: 100 },
      branch: { type: 'string', maxLength: 200 },
      depth: { type: 'integer', minimum: 1, description: 'clone: only so many commits.' },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  effect: 'outside',
  async execute(input, { signal, progress }): Promise<ToolOutput> {
    const run: GitRun = { workspace, signal, seconds, connects: true, ...(progress ? { progress } : {}) };
    const trip = input as Trip;
    const ran = await (trip.operation === 'clone' ? clone(trip, run) : exchange(trip, run));
    return ranOutput(ran, seconds);
  },
});

async function clone({ url, path: folder, branch, depth }: Trip, run: GitRun): ReturnType<typeof git> {
  if (url === undefined || folder === undefined) throw refuseGit('git/incomplete', 'clone needs a url and a path.');
  const { workspace } = run;
  const place = placeOf(workspace, url);
  const target = workspace.locate(folder);
  if (/[/\\]\.git([/\\]|$)/i.test(target)) throw refuseGit('git/bad-folder', 'Nothing is cloned into a .git folder.');
  const known = await workspace.list(folder).catch((error: unknown) => {
    if (error instanceof FairleadError && error.code === 'workspace/not-found') return undefined;
    throw error;
  });
  if (known?.entries.length) throw refuseGit('git/bad-folder', `The folder ${path.basename(target)} is not empty.`);
  return git(
    [
      'clone',
      '--no-recurse-submodules',
      '--no-hardlinks',
      ...program('upload', place.isLocal),
      ...(depth === undefined ? [] : [`--depth=${depth}`]),
      ...(branch === undefined ? [] : [`--branch=${plainName('branch', branch)}`]),
      '--',
      place.url,
      target,
    ],
    outward(run),
  );
}

async function exchange({ operation, remote = 'origin', branch }: Trip, run: GitRun): ReturnType<typeof git> {
  const name = plainName('remote', remote);
  await guardRepository('connect', run);
  const here = branch ?? (await answerOf(['symbolic-ref', '--quiet', '--short', 'HEAD'], run))?.trim();
  if (here === undefined) throw refuseGit('git/incomplete', 'No branch is checked out, so name the branch.');
  const ref = plainName('branch', here);
  const isPush = operation === 'push';
  const urls = await answerOf(['remote', 'get-url', '--all', ...(isPush ? ['--push'] : []), '--', name], run);
  if (urls === undefined) throw refuseGit('git/bad-remote', `There is no remote named ${name}.`);
  const places = urls
    .trim()
    .split('\n')
    .map((url) => placeOf(run.workspace, url));
  if (places.length > 1)
    throw refuseGit('git/bad-remote', `${name} stands for several places; use one that is a single place.`);
  const isLocal = places.some((place) => place.isLocal);
  if (isPush)
    return git(
      [
        'push',
        '--no-verify',
        '--no-signed',
        ...program('receive', isLocal),
        '--',
        name,
        `refs/heads/${ref}:refs/heads/${ref}`,
      ],
      outward(run),
    );
  return git(
    [
      'pull',
      '--ff-only',
      '--no-rebase',
      '--no-verify-signatures',
      '--no-recurse-submodules',
      ...program('upload', isLocal),
      '--',
      name,
      ref,
    ],
    outward(run),
  );
}

/** The call that goes out may use the person's agent; what is asked of the repository before it may not. */
function outward(run: GitRun): GitRun {
  const { SSH_AUTH_SOCK: agent } = process.env;
  return agent === undefined ? run : { ...run, agent };
}

/** The program at the other end, whatever the configuration calls it. In a folder of this machine it would run hooks of that repository, so it is told not to. */
const program = (which: 'upload' | 'receive', isLocal: boolean): readonly string[] => [
  `--${which}-pack=${isLocal ? `git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true ${which}-pack` : `git-${which}-pack`}`,
];
