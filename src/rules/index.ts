// The behaviours we ship: pure rules that see what happened and leave notes for the model, and what makes a long conversation shorter.
export { claimedResult } from './claimed-result.ts';
export { compactionDiff } from './compaction/diff.ts';
export { keeping } from './compaction/pinned.ts';
export { summarising, type SummarisingOptions } from './compaction/summarising.ts';
export { trimming, type CompactionOptions } from './compaction/trimming.ts';
