// The git_change tool: commits files, creates and switches branches. Nothing leaves the machine.
import type { ExecResult, ToolContext, ToolOutput, Tool, Workspace } from '../../core/index.ts';
import { commandResultOutput } from '../shell/format-result.ts';
import { gitChangeSpec } from './specs.ts';
import { pathspecArgs, requireRefName, requireRevision } from './args.ts';
import type { ConfinedWorkspaces } from './confined-git.ts';
import type { ProtectedChange } from './protected-changes.ts';
import {
  runGit,
  gitError,
  openUserReader,
  type GitRunOptions,
  type GitWorkspaces,
  type RepositoryReader,
} from './safe-git.ts';

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
  ...gitChangeSpec,
  async needsApproval(input) {
    const change = input as GitChangeInput;
    if (change.operation !== 'switch' || change.name === undefined || !workspaces.findProtected) return false;
    try {
      const branch = requireRefName('branch', change.name);
      const reader = await openReader(workspaces, AbortSignal.timeout(timeoutSeconds * 1000));
      return (await findSwitchChange(reader, branch, workspaces))?.warning ?? false;
    } catch {
      // The call itself reports the error, and changes no protected file without approval.
      return false;
    }
  },
  async execute(input, { signal, call }): Promise<ToolOutput> {
    const change = input as GitChangeInput;
    const { sandbox } = workspaces;
    const options = { signal, call };
    const result = await (sandbox
      ? changeInSandbox(change, { ...workspaces, sandbox }, options)
      : changeAsUser(change, workspaces, options));
    return commandResultOutput(result, timeoutSeconds);
  },
});

type ChangeOptions = Pick<ToolContext, 'signal' | 'call'>;

/** Opens the repository for reading. */
async function openReader(workspaces: GitWorkspaces, signal: AbortSignal): Promise<RepositoryReader> {
  const { sandbox, change: workspace, ...verifier } = workspaces;
  const run = { signal, seconds: timeoutSeconds };
  if (sandbox) return (await import('./confined-git.ts')).openConfinedGit({ ...workspaces, sandbox }, run);
  return openUserReader('change', { ...run, workspace, verifier });
}

/** Returns what switching to a branch changes of the protected files. */
async function findSwitchChange(
  reader: RepositoryReader,
  branch: string,
  workspaces: GitWorkspaces,
): Promise<ProtectedChange | undefined> {
  const { findProtectedChange, resolveCommit } = await import('./protected-changes.ts');
  const commit = await resolveCommit(reader, `refs/heads/${branch}`);
  // Git reports that there is no such branch.
  return commit === undefined ? undefined : findProtectedChange(reader, commit, workspaces);
}

/** Returns the steps of a change with the protected files that each may change. Throws if the user did not approve them. */
async function approvedSteps(
  reader: RepositoryReader,
  [first, ...others]: GitSteps,
  { operation, name = '' }: GitChangeInput,
  { workspaces, call }: { readonly workspaces: GitWorkspaces; readonly call: ToolContext['call'] },
): Promise<readonly [ApprovedStep, ...ApprovedStep[]]> {
  const steps = [{ args: first }, ...others.map((args) => ({ args }))] as const;
  const found = operation === 'switch' ? await findSwitchChange(reader, name, workspaces) : undefined;
  if (!found) return steps;
  const { isChangeApproved } = await import('./protected-changes.ts');
  if (!isChangeApproved(found, call))
    throw gitError(
      'git/protected',
      `The branch ${name} changes ${found.names.join(', ')}, which other programs run or load, and the user was not asked about these changes, so nothing was done. Make the call again, so that the user is asked.`,
    );
  // The approved commit is checked out by its hash; after that the branch changes no protected file, even if a command moved it.
  return [
    {
      args: ['switch', '--quiet', '--detach', '--no-recurse-submodules', found.commit],
      unprotected: found.files,
      assertWritten: found.assertWritten,
    },
    ...steps,
  ];
}

type ApprovedStep = {
  readonly args: readonly string[];
  readonly unprotected?: readonly string[];
  readonly assertWritten?: ProtectedChange['assertWritten'];
};

async function changeInSandbox(
  change: GitChangeInput,
  workspaces: ConfinedWorkspaces,
  { signal, call }: ChangeOptions,
): Promise<ExecResult> {
  const checked = gitSteps(workspaces.read, change);
  // Loaded for the first change, because most runs have none.
  const { assertNotAbove, assertNothingHidden, openConfinedGit } = await import('./confined-git.ts');
  const git = await openConfinedGit(workspaces, { signal, seconds: timeoutSeconds });
  if (change.operation !== 'branch') await assertNothingHidden(git, workspaces.sandbox);
  if (change.operation === 'switch') assertNotAbove(git, 'switch');
  // Files above the workspace are not visible, so they would look deleted.
  const steps = git.isAbove && change.paths === undefined ? gitSteps(workspaces.read, change, ['.']) : checked;
  const approved = await approvedSteps(git, steps, change, { workspaces, call });
  return runSteps(approved, ({ args, unprotected }) => git.write(args, unprotected && { unprotected }));
}

async function changeAsUser(
  change: GitChangeInput,
  workspaces: GitWorkspaces,
  { signal, call }: ChangeOptions,
): Promise<ExecResult> {
  const { change: workspace, ...verifier } = workspaces;
  const run: GitRunOptions = { workspace, signal, seconds: timeoutSeconds, verifier };
  const steps = gitSteps(workspace, change);
  const reader = await openUserReader('change', run);
  const approved = await approvedSteps(reader, steps, change, { workspaces, call });
  return runSteps(approved, ({ args }) => runGit(args, run));
}

async function runSteps(
  steps: readonly [ApprovedStep, ...ApprovedStep[]],
  run: (step: ApprovedStep) => Promise<ExecResult>,
): Promise<ExecResult> {
  const [first, ...others] = steps;
  const runStep = async (step: ApprovedStep): Promise<ExecResult> => {
    try {
      return await run(step);
    } finally {
      await step.assertWritten?.();
    }
  };
  let result = await runStep(first);
  for (const step of others) if (result.code === 0) result = await runStep(step);
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
