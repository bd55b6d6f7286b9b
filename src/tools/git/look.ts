// Looks at a repository: status, differences, history and branches. It changes nothing and starts nothing of the repository's.
import type { ToolOutput, Tool, Workspace } from '../../core/index.ts';
import { ranOutput } from '../commands/report.ts';
import { pathsAfter, revision, withoutSecrets } from './names.ts';
import { git, guardRepository, type GitRun } from './safe-git.ts';

const seconds = 60;
const usualCommits = 20;

type Look = {
  readonly operation: 'status' | 'diff' | 'log' | 'show' | 'branches';
  readonly revision?: string;
  readonly staged?: boolean;
  readonly path?: string;
  readonly limit?: number;
};

/** The tool that looks at a repository. */
export const gitLook = (workspace: Workspace): Tool => ({
  name: 'git',
  description:
    'Look at the git repository: status, diff, log, show, branches. diff compares the files with the last commit, or what revision names (main, main..topic); show tells one commit.',
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
        description: `log: number of commits, ${usualCommits} unless given.`,
      },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  effect: 'read',
  async execute(input, { signal }): Promise<ToolOutput> {
    const run: GitRun = { workspace, signal, seconds };
    const args = argumentsFor(workspace, input as Look);
    const ran = await git(args, run, await guardRepository('look', run));
    return ranOutput({ ...ran, text: withoutSecrets(ran.text) }, seconds);
  },
});

const plainDiff = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=dirty',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

function argumentsFor(
  workspace: Workspace,
  { operation, revision: wanted, staged, path, limit = usualCommits }: Look,
): readonly string[] {
  const paths = pathsAfter(workspace, [path ?? '.']);
  const commit = wanted === undefined ? [] : [revision(wanted)];
  switch (operation) {
    case 'status':
      return ['status', '--short', '--branch', '--ignore-submodules=dirty', ...paths];
    case 'diff':
      return [
        'diff',
        ...plainDiff,
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
        ...plainDiff,
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
