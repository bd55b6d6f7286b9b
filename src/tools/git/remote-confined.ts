// Clone, pull and push with a sandbox: git outside connects from a private repository, git inside reads and changes the workspace.
import { pathToFileURL } from 'node:url';
import type { ExecResult, ToolContext } from '../../core/index.ts';
import { resolveRemote, requireRefName } from './args.ts';
import { findConnectionKey } from './config-keys.ts';
import {
  assertNotAbove,
  assertNothingHidden,
  createConfinedRun,
  openConfinedGit,
  type ConfinedGit,
  type ConfinedWorkspaces,
} from './confined-git.ts';
import { copyBranch, copyCommits, findKnownCommits, objectFormat, withPrivateRepository } from './copy-commits.ts';
import type { PrivateRepository } from './private-repository.ts';
import { approvePull, mergeArgs } from './protected-changes.ts';
import { remoteProgramOptions } from './remote-programs.ts';
import { gitError, localConfigKeys, runGit, unsafeKeyError, type GitRunOptions } from './safe-git.ts';

/** A clone whose arguments were verified. */
export type CloneRequest = {
  readonly place: ReturnType<typeof resolveRemote>;
  /** The real path of the new folder. */
  readonly target: string;
  readonly options: readonly string[];
};

/** Clones into a folder of the workspace. */
export async function cloneInSandbox(
  { place, target, options }: CloneRequest,
  { sandbox, read }: ConfinedWorkspaces,
  run: GitRunOptions,
): Promise<ExecResult> {
  if (target === read.cwd)
    throw gitError(
      'git/bad-folder',
      'Nothing is cloned into the working folder itself, where no command may create .git; give the path of a new folder.',
    );
  const inside = createConfinedRun(sandbox, run);
  const clone = ['clone', '--quiet', '--no-recurse-submodules', '--no-hardlinks', '--origin=origin', '--template='];
  if (place.isLocal)
    return runGit([...clone, ...remoteProgramOptions('upload', true), ...options, '--', place.url, target], inside());
  return withPrivateRepository(sandbox.privateFolder, run, async (repository) => {
    const isShallow = options.some((option) => option.startsWith('--depth='));
    const fetched = await repository.git(
      // A bare repository has the branches of the server as its own; all of them, unless the history is cut.
      [
        'fetch',
        '--no-recurse-submodules',
        '--no-write-fetch-head',
        ...remoteProgramOptions('upload', false),
        ...options.filter((option) => option.startsWith('--depth=')),
        '--',
        place.url,
        ...(await branchesToFetch(repository, place.url, options, isShallow)),
      ],
      { connects: true },
    );
    if (fetched.code !== 0) return fetched;
    const source = pathToFileURL(repository.folder).href;
    const branch = options.filter((option) => option.startsWith('--branch='));
    const cloned = await runGit(
      [...clone, ...(isShallow ? ['--single-branch'] : []), ...branch, '--', source, target],
      inside({ readable: [repository.folder] }),
    );
    if (cloned.code !== 0) return cloned;
    const named = await runGit(['-C', target, 'remote', 'set-url', 'origin', place.url], inside());
    return named.code === 0 ? { ...fetched, text: `Cloned into ${target}.${await lfsNote(target, inside())}` } : named;
  });
}

/** Sets the current branch of the private repository to that of the server, which a clone then checks out. */
async function branchesToFetch(
  repository: PrivateRepository,
  url: string,
  options: readonly string[],
  isShallow: boolean,
): Promise<readonly string[]> {
  const listed = await repository.git(
    ['ls-remote', '--symref', ...remoteProgramOptions('upload', false), '--', url, 'HEAD'],
    { connects: true },
  );
  const current = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(listed.text)?.[1];
  if (current !== undefined) await repository.git(['symbolic-ref', 'HEAD', current]);
  const chosen = options.find((option) => option.startsWith('--branch='))?.slice('--branch='.length);
  const only = chosen === undefined ? current : `refs/heads/${chosen}`;
  return isShallow && only !== undefined
    ? [`+${only}:${only}`]
    : ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
}

async function lfsNote(target: string, run: GitRunOptions): Promise<string> {
  const { code } = await runGit(
    ['-C', target, 'grep', '--quiet', '--fixed-strings', 'filter=lfs', 'HEAD', '--', '.gitattributes'],
    run,
  );
  return code === 0 ? ' Files of Git LFS were not downloaded; the user can run git lfs pull.' : '';
}

/** What is pulled or pushed. */
export type TransferRequest = {
  readonly operation: 'pull' | 'push';
  readonly remote: string;
  readonly branch?: string;
  readonly call: ToolContext['call'];
};

/** Pulls or pushes one branch. */
export async function transferInSandbox(
  { operation, remote, branch, call }: TransferRequest,
  workspaces: ConfinedWorkspaces,
  run: GitRunOptions,
): Promise<ExecResult> {
  const git = await openConfinedGit(workspaces, run);
  const here = branch ?? (await git.read(['symbolic-ref', '--quiet', '--short', 'HEAD']))?.trim();
  if (here === undefined) throw gitError('git/incomplete', 'No branch is checked out, so give the branch.');
  const name = requireRefName('branch', here);
  const place = await resolveNamedRemote(git, remote, operation, workspaces);
  const transfer: Transfer = { git, remote, branch: name, ...place };
  if (operation === 'push') return push(transfer, workspaces, run);
  assertNotAbove(git, 'pull');
  await assertNothingHidden(git, workspaces.sandbox);
  return pull(transfer, { workspaces, call }, run);
}

type Transfer = {
  readonly git: ConfinedGit;
  readonly remote: string;
  readonly branch: string;
  readonly url: string;
  readonly isLocal: boolean;
};

/** Resolves the URL of a remote inside the sandbox. Only the configuration counts, which no command can write: not the files in .git/remotes and .git/branches, nor included files. */
async function resolveNamedRemote(
  { read, reading }: ConfinedGit,
  remote: string,
  operation: 'pull' | 'push',
  { change }: ConfinedWorkspaces,
): Promise<ReturnType<typeof resolveRemote>> {
  const keys = await localConfigKeys(reading);
  const bad = findConnectionKey(keys);
  if (bad !== undefined) throw unsafeKeyError(bad);
  const isConfigured = ['url', 'pushurl'].some((name) => keys.includes(`remote.${remote}.${name}`));
  const listing = ['remote', 'get-url', '--all', ...(operation === 'push' ? ['--push'] : []), '--', remote];
  const urls = isConfigured ? await read(listing) : undefined;
  if (urls === undefined) throw gitError('git/bad-remote', `There is no remote named ${remote}.`);
  const [url = '', ...others] = urls.trim().split('\n');
  if (others.length > 0) throw gitError('git/bad-remote', `${remote} has several URLs; use a remote with one.`);
  return resolveRemote(change, url);
}

async function pull(
  { git, remote, branch, url, isLocal }: Transfer,
  { workspaces, call }: { readonly workspaces: ConfinedWorkspaces; readonly call: ToolContext['call'] },
  run: GitRunOptions,
): Promise<ExecResult> {
  const { sandbox } = workspaces;
  const tracking = `refs/remotes/${remote}/${branch}`;
  const fetchInside = (source: string, readable: readonly string[]): Promise<ExecResult> =>
    git.write(
      [
        'fetch',
        '--quiet',
        '--no-recurse-submodules',
        '--no-write-fetch-head',
        ...remoteProgramOptions('upload', true),
        '--',
        source,
        `+refs/heads/${branch}:${tracking}`,
      ],
      { readable },
    );
  const fetched = isLocal
    ? await fetchInside(url, [])
    : await withPrivateRepository(
        sandbox.privateFolder,
        run,
        async (repository) => {
          const known = await findKnownCommits(git, [tracking, 'HEAD']);
          await copyCommits(
            repository,
            git,
            Object.fromEntries(known.map((commit, at) => [`refs/seed/${at}`, commit])),
          );
          const received = await repository.git(
            [
              'fetch',
              '--no-recurse-submodules',
              '--no-write-fetch-head',
              ...remoteProgramOptions('upload', false),
              '--',
              url,
              `+refs/heads/${branch}:refs/heads/${branch}`,
            ],
            { connects: true },
          );
          return received.code === 0
            ? fetchInside(pathToFileURL(repository.folder).href, [repository.folder])
            : received;
        },
        await objectFormat(git),
      );
  if (fetched.code !== 0) return fetched;
  const { commit, unprotected, assertWritten } = await approvePull(git, tracking, { workspaces, call });
  try {
    return await git.write([...mergeArgs, commit], { unprotected });
  } finally {
    await assertWritten?.();
  }
}

async function push(
  { git, remote, branch, url, isLocal }: Transfer,
  { sandbox }: ConfinedWorkspaces,
  run: GitRunOptions,
): Promise<ExecResult> {
  const reference = `refs/heads/${branch}`;
  const options = ['push', '--no-verify', '--no-signed', ...remoteProgramOptions('receive', isLocal), '--'];
  if (isLocal) return git.write([...options, remote, `${reference}:${reference}`]);
  const [tip] = await findKnownCommits(git, [reference]);
  if (tip === undefined) throw gitError('git/bad-name', `There is no branch named ${branch}.`);
  await assertNoLfs(git, tip);
  return withPrivateRepository(
    sandbox.privateFolder,
    run,
    async (repository) => {
      const listed = await repository.git(
        ['ls-remote', '--heads', ...remoteProgramOptions('upload', false), '--', url],
        { connects: true },
      );
      if (listed.code !== 0) return listed;
      const heads = parseHeads(listed.text);
      if (heads.get(reference) === tip) return { ...listed, text: 'Everything up-to-date' };
      const bases = await commonCommits(git, { tip, reference, heads });
      if (bases.includes(tip)) await copyCommits(repository, git, { [reference]: tip });
      else await copyBranch(repository, git, { tip, reference, bases });
      const sent = await repository.git([...options, url, `${reference}:${reference}`], { connects: true });
      if (sent.code === 0) await git.write(['update-ref', `refs/remotes/${remote}/${branch}`, tip]);
      return sent;
    },
    await objectFormat(git),
  );
}

/** Returns the commits of the server that the workspace has: the branch itself, which must be older than what is pushed, or all branches. */
async function commonCommits(
  git: ConfinedGit,
  {
    tip,
    reference,
    heads,
  }: { readonly tip: string; readonly reference: string; readonly heads: ReadonlyMap<string, string> },
): Promise<readonly string[]> {
  const there = heads.get(reference);
  if (there === undefined) return findKnownCommits(git, [...heads.values()].slice(0, maxBases));
  if ((await git.read(['merge-base', '--is-ancestor', there, tip])) !== undefined) return [there];
  throw gitError(
    'git/not-fast-forward',
    'The branch of the remote has commits that this branch does not contain, so nothing was pushed; pull first.',
  );
}

/** Parses the output of ls-remote: the commit of each branch. */
const parseHeads = (listed: string): ReadonlyMap<string, string> =>
  new Map([...listed.matchAll(/^([0-9a-f]{40,64})\t(\S+)$/gm)].map(([, commit = '', name = '']) => [name, commit]));

const maxBases = 500;

/** The hook that uploads files of Git LFS does not run, so the server would lack them. */
async function assertNoLfs({ read }: ConfinedGit, tip: string): Promise<void> {
  const search = ['grep', '--quiet', '--fixed-strings', 'filter=lfs', tip, '--', '.gitattributes'];
  if ((await read(search)) !== undefined)
    throw gitError(
      'git/lfs',
      'The repository uses Git LFS, whose files would not be uploaded, so nothing was pushed. The user should use git push directly.',
    );
}
