// The git tool: status, diff, log and branches. It changes nothing and executes nothing of the repository.
import type { ToolOutput, Tool, Workspace } from '../../core/index.ts';
import { commandResultOutput } from '../shell/format-result.ts';
import { defaultCommits, gitReadSpec } from './specs.ts';
import { pathspecArgs, requireRevision, omitSecretDiffs } from './args.ts';
import { readConfined } from './read-confined.ts';
import { runGit, guardRepository, type GitRunOptions, type GitWorkspaces } from './safe-git.ts';

const timeoutSeconds = 60;

type GitReadInput = {
  readonly operation: 'status' | 'diff' | 'log' | 'show' | 'branches';
  readonly revision?: string;
  readonly staged?: boolean;
  readonly path?: string;
  readonly limit?: number;
};

/** Creates the git tool. */
export const gitRead = ({ read: workspace, isConfined }: Pick<GitWorkspaces, 'read' | 'isConfined'>): Tool => ({
  ...gitReadSpec,
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
