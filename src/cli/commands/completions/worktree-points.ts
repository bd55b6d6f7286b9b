// The completions of the command that lists, merges and discards worktrees.
import { createFlag, jsonFlag, toWords } from './completion-flag.ts';
import type { CompletionPoint } from './completion-spec.ts';

const allFlag = createFlag('all', 'those of all repositories');
const diffFlag = createFlag('diff', 'show all changes');
const yesFlag = createFlag('yes', 'do not ask');
const mergeFlags = [
  createFlag('as', 'as commits or as changes of files', toWords(['commits', 'changes'])),
  createFlag('message', 'the message of the commit', 'anything'),
  createFlag('keep-conflicts', 'write conflict markers'),
  createFlag('dry-run', 'only show what would be done'),
  yesFlag,
  jsonFlag,
];

/** The completions of `worktree`. */
export const worktreePoints: readonly CompletionPoint[] = [
  {
    name: 'worktree',
    flags: [allFlag, diffFlag, ...mergeFlags],
    firstWord: toWords(['list', 'show', 'merge', 'discard']),
  },
  { name: 'worktree list', flags: [allFlag, jsonFlag], firstWord: [] },
  { name: 'worktree show', flags: [diffFlag, jsonFlag], firstWord: 'anything' },
  { name: 'worktree merge', flags: mergeFlags, firstWord: 'anything' },
  { name: 'worktree discard', flags: [yesFlag], firstWord: 'anything' },
];
