// Exports of src/stores/jsonl for other modules.
export { peekSession, readSessionId, type SessionPeek } from './peek.ts';
