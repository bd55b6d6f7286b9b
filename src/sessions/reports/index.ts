// Reports on a session log: branches, user turns, context usage, compactions and cost.
export { branchesOf, type Branch } from './branches.ts';
export { lastCompaction, type CompactionDiff } from './compactions.ts';
export {
  reportCache,
  type CacheLedger,
  type CacheLedgerOptions,
  type CacheTurn,
  type PrefixBreak,
} from './cache-ledger.ts';
export { measureContext, type ContextBreakdown, type ContextBreakdownOptions } from './context-usage.ts';
export { reportCosts, type CostTotals, type CostReport, type TurnCost } from './cost-report.ts';
export { collectEvents, previewText, getBranchPath } from './branch-path.ts';
export { formatCacheLedger, formatContextBreakdown, formatCosts } from './format-reports.ts';
export { selectShownBranches, formatBranchTree, type NumberedBranch } from './format-branches.ts';
export { renderTurnRequest, type TurnRequest } from './turn-request.ts';
export { rewindBefore, listUserTurns, type UserTurn } from './user-turns.ts';
