// Sessions on disk, as the rest of the terminal uses them.
export {
  cloneSession,
  listTrash,
  renameSession,
  restoreSession,
  trashSession,
  type TrashedSession,
} from './session-operations.ts';
export { exportDocument, parseExportFormat, exportFormats } from './export.ts';
export {
  formatDateName,
  toSessionFileName,
  findFreeName,
  parseSessionFileName,
  normalizeSessionName,
} from './session-names.ts';
export {
  subagentSessionsDir,
  findSession,
  listSessions,
  findLatestSession,
  createSessionFile,
  sessionFilePath,
  sessionsDir,
  listSessionFiles,
  summarizeSession,
  type SessionFile,
  type SessionSummary,
  type SessionDirs,
} from './session-directory.ts';
export {
  readTranscript,
  readSession,
  formatSessionTranscript,
  followSessionFile,
  type SessionContents,
} from './transcript.ts';
export { getLockOwner, type LockOwner } from '../stores/index.ts';
