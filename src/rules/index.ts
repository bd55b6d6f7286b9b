// The behaviours we ship: pure rules that see what happened and leave notes for the model.
export { claimedResult } from './claimed-result.ts';
export { trimming } from './compaction.ts';
