// What a log's events tell of a session: its branches, what was said, what fills the window and what it cost.
export { branchesOf, type Branch } from './branches.ts';
export { lastCompaction, type CompactionDiff } from './compactions.ts';
export {
  reportCacheMisses,
  measureContext,
  type CacheReport,
  type ContextBreakdown,
  type ContextBreakdownOptions,
  type CacheMiss,
} from './context.ts';
export { reportCosts, type CostTotals, type CostReport, type TurnCost } from './costs.ts';
export { collectEvents, previewText, getBranchPath } from './path.ts';
export { formatContextBreakdown, formatCosts } from './report-text.ts';
export { selectShownBranches, formatBranchTree, type NumberedBranch } from './tree-text.ts';
export { rewindBefore, listUserTurns, type UserTurn } from './turns.ts';
