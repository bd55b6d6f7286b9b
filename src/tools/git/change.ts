// The git_change tool: commits files, creates and switches branches. Nothing leaves the machine.
import type { ExecResult, ToolOutput, Tool, Workspace } from '../../core/index.ts';
import { commandResultOutput } from '../shell/format-result.ts';
import { pathspecArgs, requireRefName, requireRevision } from './args.ts';
import type { ConfinedWorkspaces } from './confined-git.ts';
import { runGit, guardRepository, gitError, type GitRunOptions, type GitWorkspaces } from './safe-git.ts';

const timeoutSeconds = 120;

type GitChangeInput = {
  readonly operation: 'commit' | 'branch' | 'switch';
  readonly message?: string;
  readonly paths?: readonly string[];
  readonly name?: string;
  readonly from?: string;
};

/** Creates the git_change tool. */
export const gitChange = (workspaces: GitWorkspaces): Tool => ({
  name: 'git_change',
  description:
    'Commit to the git repository, create a branch or switch to one. commit takes a message and the paths to commit (new files must be named; without paths every change to tracked files); branch and switch take a name.',
  input: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['commit', 'branch', 'switch'] },
      message: { type: 'string', minLength: 1, maxLength: 20_000 },
      paths: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 500 },
      name: { type: 'string', maxLength: 200 },
      from: { type: 'string', maxLength: 300, description: 'branch: the commit it starts at.' },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  effect: 'write',
  untrustedOutput: true,
  async execute(input, { signal }): Promise<ToolOutput> {
    const change = input as GitChangeInput;
    const { sandbox } = workspaces;
    const result = await (sandbox
      ? changeInSandbox(change, { ...workspaces, sandbox }, signal)
      : changeAsUser(change, workspaces, signal));
    return commandResultOutput(result, timeoutSeconds);
  },
});

async function changeInSandbox(
  change: GitChangeInput,
  workspaces: ConfinedWorkspaces,
  signal: AbortSignal,
): Promise<ExecResult> {
  const checked = gitSteps(workspaces.read, change);
  // Loaded for the first change, because most runs have none.
  const { assertNotAbove, assertNothingHidden, openConfinedGit } = await import('./confined-git.ts');
  const git = await openConfinedGit(workspaces, { signal, seconds: timeoutSeconds });
  if (change.operation !== 'branch') await assertNothingHidden(git, workspaces.sandbox);
  if (change.operation === 'switch') assertNotAbove(git, 'switch');
  const unprotected =
    change.operation === 'switch' ? await git.changedFiles(`refs/heads/${change.name ?? ''}^{commit}`) : [];
  // Files above the workspace are not visible, so they would look deleted.
  const steps = git.isAbove && change.paths === undefined ? gitSteps(workspaces.read, change, ['.']) : checked;
  return runSteps(steps, (step) => git.write(step, { unprotected }));
}

async function changeAsUser(
  change: GitChangeInput,
  { change: workspace, ...verifier }: GitWorkspaces,
  signal: AbortSignal,
): Promise<ExecResult> {
  const run: GitRunOptions = { workspace, signal, seconds: timeoutSeconds, verifier };
  const steps = gitSteps(workspace, change);
  await guardRepository('change', run);
  return runSteps(steps, (step) => runGit(step, run));
}

async function runSteps(
  [first, ...others]: GitSteps,
  run: (step: readonly string[]) => Promise<ExecResult>,
): Promise<ExecResult> {
  let result = await run(first);
  for (const step of others) if (result.code === 0) result = await run(step);
  return result;
}

type GitSteps = readonly [readonly string[], ...(readonly string[])[]];

/** Returns the git commands of a change. Without paths, a commit includes tracked files: all, or those in the given folders. */
function gitSteps(
  workspace: Workspace,
  { operation, message, paths, name, from }: GitChangeInput,
  folders?: readonly string[],
): GitSteps {
  if (operation === 'commit') {
    if (message === undefined) throw missingArgumentError('message', operation);
    const logArgs = ['log', '--max-count=1', '--stat', '--format=%h %s', '--'];
    const commit = ['commit', '--quiet', '--no-verify', '--no-gpg-sign', '--no-status', `--message=${message}`];
    if (!paths) return [[...commit, ...(folders ? ['--', ...folders] : ['--all'])], logArgs];
    const files = pathspecArgs(workspace, paths);
    return [['add', '--all', ...files], [...commit, ...files], logArgs];
  }
  if (name === undefined) throw missingArgumentError('name', operation);
  const branch = requireRefName('branch', name);
  if (operation === 'switch') return [['switch', '--no-guess', '--no-recurse-submodules', branch]];
  return [['branch', '--no-track', branch, ...(from === undefined ? [] : [requireRevision(from)])]];
}

const missingArgumentError = (what: string, operation: string): Error =>
  gitError('git/incomplete', `${operation} needs a ${what}.`);
