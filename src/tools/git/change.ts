// The git_change tool: commits files, creates and switches branches. Nothing leaves the machine.
import type { ToolOutput, Tool, Workspace } from '../../core/index.ts';
import { commandResultOutput } from '../shell/format-result.ts';
import { pathspecArgs, requireRefName, requireRevision } from './args.ts';
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
export const gitChange = ({ change: workspace, ...verifier }: GitWorkspaces): Tool => ({
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
  async execute(input, { signal }): Promise<ToolOutput> {
    const run: GitRunOptions = { workspace, signal, seconds: timeoutSeconds, verifier };
    const deed = input as GitChangeInput;
    const steps = gitSteps(workspace, deed);
    await guardRepository('change', run);
    let result = await runGit(steps[0], run);
    for (const step of steps.slice(1)) if (result.code === 0) result = await runGit(step, run);
    return commandResultOutput(result, timeoutSeconds);
  },
});

type GitSteps = readonly [readonly string[], ...(readonly string[])[]];

function gitSteps(workspace: Workspace, { operation, message, paths, name, from }: GitChangeInput): GitSteps {
  if (operation === 'commit') {
    if (message === undefined) throw missingArgumentError('message', operation);
    const logArgs = ['log', '--max-count=1', '--stat', '--format=%h %s', '--'];
    const commit = ['commit', '--quiet', '--no-verify', '--no-gpg-sign', '--no-status', `--message=${message}`];
    if (!paths) return [[...commit, '--all'], logArgs];
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
