// What a model sees of the git tools. Their code is loaded for the first call.
import type { Tool } from '../../core/index.ts';

type GitToolSpec = Pick<Tool, 'name' | 'description' | 'input' | 'effect' | 'untrustedOutput'>;

/** How many commits a log has by default. */
export const defaultCommits = 20;

/** The git tool. */
export const gitReadSpec: GitToolSpec = {
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
};

/** The git_change tool. */
export const gitChangeSpec: GitToolSpec = {
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
};

/** The git_remote tool. */
export const gitRemoteSpec: GitToolSpec = {
  name: 'git_remote',
  description:
    'Clone a git repository, pull or push. clone takes a url and the path of a new folder; pull (fast-forward only) and push take a remote (default origin) and a branch (default: the current one).',
  input: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['clone', 'pull', 'push'] },
      url: { type: 'string', maxLength: 2000 },
      path: { type: 'string' },
      remote: { type: 'string', maxLength: 100 },
      branch: { type: 'string', maxLength: 200 },
      depth: { type: 'integer', minimum: 1, description: 'clone: max number of commits.' },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  effect: 'external',
  untrustedOutput: true,
};
