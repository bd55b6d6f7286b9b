// The public names of worktrees: create, list, merge, discard and clean up git worktrees for agents and runs.
export { type FileChange, type FileSide } from './changes.ts';
export { type CreateWorktreeOptions, type CreatedWorktree } from './create.ts';
export { type WorktreeContent } from './inspect.ts';
export { type PlaceRules } from './place-files.ts';
export { type MergeConflict, type MergeMode, type MergePlan, type PlanMergeOptions } from './plan-merge.ts';
export { type MergeJournal, type PlacedFile, type SavedFile, type WorktreeRecord } from './records.ts';
export {
  openWorktrees,
  type DiscardedWorktree,
  type MergeOutcome,
  type MergeWorktreeOptions,
  type WorktreeCleanup,
  type WorktreeListing,
  type WorktreeQuery,
  type Worktrees,
  type WorktreesOptions,
} from './worktrees.ts';
