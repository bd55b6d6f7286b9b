// Where a session's log is kept.
export type { Problem } from './jsonl/chart.ts';
export { copyJsonl, type CopyOptions } from './jsonl/copy.ts';
export { realDisk, type Disk, type FileFacts } from './jsonl/disk.ts';
export { glimpse, sessionIn, type Glimpse } from './jsonl/glimpse.ts';
export type { Holder } from './jsonl/holder.ts';
export { holderOf } from './jsonl/lock.ts';
export { openJsonl, type JsonlLog, type JsonlOptions } from './jsonl/log.ts';
export { jsonlSessions } from './jsonl/sessions.ts';
export { moveJsonl, type MoveOptions } from './jsonl/move.ts';
export { verifyFile, type Verification } from './jsonl/verify.ts';
export { memoryLog, type MemoryLog } from './memory.ts';
export { openFleetStore, type FleetStoreOptions } from './open-fleet.ts';
