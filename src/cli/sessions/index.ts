// Sessions on disk, as the rest of the terminal uses them.
export { cloneSession, listTrash, renameSession, restoreSession, trashSession, type Trashed } from './changes.ts';
export { exportPaper, formatOf, formats } from './export.ts';
export { dateName, fileNameFor, freeName, nameOf, tidyName } from './names.ts';
export {
  agentFolder,
  findSession,
  listSessions,
  mostRecent,
  newSession,
  sessionFile,
  sessionFolder,
  sessionPlaces,
  summaryOf,
  type SessionPlace,
  type SessionSummary,
  type Shelf,
} from './sessions.ts';
export { everythingSaid, readSession, transcriptText, watchSession, type SessionText } from './transcript.ts';
export { getLockOwner, type LockOwner } from '../../stores/index.ts';
