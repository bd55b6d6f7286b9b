// Where a session's log is kept.
export { memoryLog, type MemoryLog } from './memory.ts';
