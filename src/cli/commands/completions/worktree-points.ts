// The completions of the command that lists, merges and discards worktrees.
import { createFlag, jsonFlag, toWords } from './completion-flag.ts';
import type { CompletionPoint } from './completion-spec.ts';

/** The completions of `worktree`. */
export const worktreePoints: readonly CompletionPoint[] = [
  {
    name: 'worktree',
    flags: [createFlag('all', 'those of all repositories'), jsonFlag],
    firstWord: toWords(['list', 'show', 'merge', 'discard']),
  },
  { name: 'worktree list', flags: [createFlag('all', 'those of all repositories'), jsonFlag], firstWord: [] },
  { name: 'worktree show', flags: [createFlag('diff', 'show all changes'), jsonFlag], firstWord: 'anything' },
  {
    name: 'worktree merge',
    flags: [
      createFlag('as', 'commits or changes', toWords(['commits', 'changes'])),
      createFlag('message', 'the message of the commit', 'anything'),
      createFlag('keep-conflicts', 'write conflict markers'),
      createFlag('dry-run', 'only show what would be done'),
      createFlag('yes', 'do not ask'),
      jsonFlag,
    ],
    firstWord: 'anything',
  },
  { name: 'worktree discard', flags: [createFlag('yes', 'do not ask')], firstWord: 'anything' },
];
