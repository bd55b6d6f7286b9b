// The public names of worktrees: create, list, merge, discard and clean up git worktrees for agents and runs.
export { type FileChange, type FileSide } from './changes.ts';
export { type CreateWorktreeOptions, type CreatedWorktree } from './create.ts';
export { formatDiscarded, formatMergeOutcome, formatMergePlan, formatWorktree, formatWorktrees } from './format.ts';
export { type WorktreeContent } from './inspect.ts';
export { findWorktreeAccess, type WorktreeAccess } from './agent-access.ts';
export {
  formatKept,
  formatOpened,
  openIsolation,
  openUserWorktrees,
  type Isolation,
  type IsolationOptions,
} from './isolate.ts';
export { type IgnoredFileRules } from './ignored-files.ts';
export { type MergeConflict, type MergeMode, type MergePlan, type PlanMergeOptions } from './plan-merge.ts';
export { type MergeJournal, type IgnoredFile, type SavedFile, type WorktreeRecord } from './records.ts';
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
