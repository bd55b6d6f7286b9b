// Names of the JSONL store that other modules use.
export { peekSession, readSessionId, type SessionPeek } from './session-preview.ts';
