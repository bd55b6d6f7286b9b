// Stores of session logs and run queues: JSONL files, memory, SQLite and PostgreSQL.
export type { SessionFileProblem } from './jsonl/file-index.ts';
export { copyJsonl, type CopyJsonlOptions } from './jsonl/copy.ts';
export { realDisk, type Disk, type FileStat } from './jsonl/disk.ts';
export { peekSession, readSessionId, type SessionPeek } from './jsonl/session-preview.ts';
export { createLockOwner, isOwnerAlive, isProcessRunning, parseLockOwner, type LockOwner } from './lock-owner.ts';
export { getLockOwner } from './jsonl/lock.ts';
export { withFileLock } from './jsonl/with-file-lock.ts';
export { openJsonl, type JsonlLog, type JsonlOptions } from './jsonl/log.ts';
export { jsonlSessions } from './jsonl/sessions.ts';
export { moveJsonl, type MoveJsonlOptions } from './jsonl/move.ts';
export { verifyFile, type FileVerification } from './jsonl/verify-hash-chain.ts';
export { memoryLog, type MemoryLog } from './memory.ts';
export type { FleetStoreOptions } from './defaults.ts';
export { openFleetStore } from './open-fleet-store.ts';
export { readTextIfExists, writeTextAtomic, withFileError, makePrivateDir } from './private-file.ts';
