// Compaction: shortens a conversation that is near the context window.
export { defaultCompactor } from './default-compactor.ts';
export { compactionDiff } from './diff.ts';
export { preserveUserMessages } from './preserve-user-messages.ts';
export { summarizingCompactor } from './summarize.ts';
