// What a log's events tell of a session: its branches, what was said, what fills the window and what it cost.
export { branchesOf, type Branch } from './branches.ts';
export { lastCompaction, type Compacted } from './compactions.ts';
export { cacheMisses, whatFills, type CacheReport, type Fill, type FillOptions, type Miss } from './context.ts';
export { costs, type Cost, type Costs, type TurnCost } from './costs.ts';
export { allEvents, firstWords, pathOf } from './path.ts';
export { contextText, costsText } from './report-text.ts';
export { shownBranches, treeText, type NumberedBranch } from './tree-text.ts';
export { goBack, turnsOf, type Said } from './turns.ts';
