// Where a session's log is kept.
export type { Problem } from './jsonl/chart.ts';
export { realDisk, type Disk, type FileFacts } from './jsonl/disk.ts';
export { openJsonl, type JsonlLog, type JsonlOptions } from './jsonl/log.ts';
export { verifyFile, type Verification } from './jsonl/verify.ts';
export { memoryLog, type MemoryLog } from './memory.ts';
