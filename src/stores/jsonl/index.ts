// Reads the first lines of a session file: its id, name and times.
export { peekSession, readSessionId, type SessionPeek } from './session-preview.ts';
