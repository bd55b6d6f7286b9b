// The git tool: status, diff, log and branches. It changes nothing and executes nothing of the repository.
import type { ToolOutput, Tool, Workspace } from '../../core/index.ts';
import { commandResultOutput } from '../shell/format-result.ts';
import { pathspecArgs, requireRevision, omitSecretDiffs } from './args.ts';
import { readConfined } from './read-confined.ts';
import { runGit, guardRepository, type GitRunOptions, type GitWorkspaces } from './safe-git.ts';

const timeoutSeconds = 60;
const defaultCommits = 20;

type GitReadInput = {
  readonly operation: 'status' | 'diff' | 'log' | 'show' | 'branches';
  readonly revision?: string;
  readonly staged?: boolean;
  readonly path?: string;
  readonly limit?: number;
};

/** Creates the git tool. */
export const gitRead = ({ read: workspace, isConfined }: Pick<GitWorkspaces, 'read' | 'isConfined'>): Tool => ({
  name: 'git',
  description:
    'Read the git repository: status, diff, log, show, branches. diff compares the files with the last commit, or what revision names (main, main..topic); show prints one commit.',
  input: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['status', 'diff', 'log', 'show', 'branches'] },
      revision: { type: 'string', maxLength: 300 },
      staged: { type: 'boolean', description: 'diff: only what is staged.' },
      path: { type: 'string', description: 'Only this file or folder.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 200,
        description: `log: number of commits, default ${defaultCommits}.`,
      },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  effect: 'read',
  untrustedOutput: true,
  async execute(input, { signal }): Promise<ToolOutput> {
    const run: GitRunOptions = { workspace, signal, seconds: timeoutSeconds, isConfined };
    const args = gitReadArgs(workspace, input as GitReadInput);
    const result = isConfined
      ? await readConfined(args, run)
      : await runGit(args, run, await guardRepository('look', run));
    return commandResultOutput({ ...result, text: omitSecretDiffs(result.text) }, timeoutSeconds);
  },
});

const plainDiffOptions = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=dirty',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

function gitReadArgs(
  workspace: Workspace,
  { operation, revision: wanted, staged, path, limit = defaultCommits }: GitReadInput,
): readonly string[] {
  const paths = pathspecArgs(workspace, [path ?? '.']);
  const commit = wanted === undefined ? [] : [requireRevision(wanted)];
  switch (operation) {
    case 'status':
      return ['status', '--short', '--branch', '--ignore-submodules=dirty', ...paths];
    case 'diff':
      return [
        'diff',
        ...plainDiffOptions,
        ...(staged ? ['--cached'] : []),
        ...(commit.length || staged ? commit : ['HEAD']),
        ...paths,
      ];
    case 'log':
      return [
        'log',
        `--max-count=${limit}`,
        '--date=iso-strict',
        '--format=%h %ad %an%n    %s',
        ...commit,
        ...(path === undefined ? ['--'] : paths),
      ];
    case 'show':
      return [
        'show',
        ...plainDiffOptions,
        '--stat',
        '--patch',
        '--diff-merges=first-parent',
        ...(commit.length ? commit : ['HEAD']),
        ...(path === undefined ? ['--'] : paths),
      ];
    case 'branches':
      return ['branch', '--all', '--format=%(HEAD) %(refname:short) %(objectname:short) %(contents:subject)'];
  }
}
