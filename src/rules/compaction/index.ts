// Exports of src/rules/compaction for other modules.
export { compactionDiff } from './diff.ts';
export { preserveUserMessages } from './preserve-user-messages.ts';
export { summarizingCompactor } from './summarize.ts';
