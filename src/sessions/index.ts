// The public names of the sessions module: open, list, search, export, fork and delete sessions, and report on their contents.
export {
  cloneSession,
  listTrash,
  renameSession,
  restoreSession,
  titleSession,
  trashSession,
  type TrashedSession,
  emptyTrash,
  trashDir,
} from './session-operations.ts';
export {
  exportDocument,
  exportFormats,
  exportSession,
  parseExportFormat,
  type ExportDocument,
  type ExportFormat,
} from './export.ts';
export {
  findFreeName,
  formatDateName,
  isDateName,
  normalizeSessionName,
  parseSessionFileName,
  toSessionFileName,
} from './session-names.ts';
export {
  createSessionFile,
  findLatestSession,
  findSession,
  getShortSessionId,
  listSessionFiles,
  listSessions,
  sessionFilePath,
  sessionsDir,
  sortByFolder,
  subagentSessionsDir,
  summarizeSession,
  type SessionDirs,
  type SessionFile,
  type SessionSummary,
} from './session-directory.ts';
export {
  closeSession,
  formatSessionProblems,
  createForkSelector,
  getOpenTitle,
  openSession,
  renameOpenSession,
  setSessionTitle,
  type ForkPoint,
  type OpenSession,
  type SessionSelector,
} from './open-session.ts';
export { editSessionFile, type SessionFileEdit } from './edit-session-file.ts';
export {
  getSessionTitle,
  isSameFolder,
  readSessionLabels,
  readSessionModel,
  type SessionLabels,
  type SessionModel,
} from './session-labels.ts';
export { formatHtmlText } from './html-markdown.ts';
export { searchSessions, type SearchOptions, type SessionMatch } from './search-sessions.ts';
export {
  assertSessionFolder,
  chooseFolder,
  createSessionSearch,
  readSelectedModel,
  formatLockOwner,
  resolveSession,
  toSessionChoice,
  toSessionChoices,
  type LockedSession,
  type SessionChoice,
  type SessionLocation,
  type SessionPrompter,
  type SessionSearch,
  type SessionResolution,
} from './resolve-session.ts';
export {
  exportStoreSession,
  readStoreSession,
  verifyStoreSessions,
  withSessionReader,
  type StoreSessionCheck,
} from './store-sessions.ts';
export {
  followSessionFile,
  formatSessionTranscript,
  readSession,
  readTranscript,
  type SessionContents,
} from './transcript.ts';
export {
  noRecords,
  readSessionRecords,
  type CallRecord,
  type CallRecords,
  type SessionRecords,
} from './call-records.ts';
export { formatCommandNote, type AddedInputs } from './added-inputs.ts';
export type { CallBlock, CallStatus, TranscriptBlock, TranscriptSink } from './transcript-block.ts';
export { createTranscriptPresenter, type TranscriptPresenter } from './transcript-presenter.ts';
export { formatCallTitle, formatToolInput, formatToolName, toPlainOutput, type CallTitle } from './format-call.ts';
export { parseConversation } from './conversation-format/parse-conversation.ts';
export { formatConversation } from './conversation-format/format-conversation.ts';
export {
  branchesOf,
  collectEvents,
  formatBranchTree,
  formatContextBreakdown,
  formatCosts,
  getBranchPath,
  lastCompaction,
  listUserTurns,
  measureContext,
  previewText,
  formatCacheLedger,
  reportCache,
  reportCosts,
  renderTurnRequest,
  rewindBefore,
  selectShownBranches,
  type Branch,
  type CacheLedger,
  type CacheLedgerOptions,
  type CacheTurn,
  type CompactionDiff,
  type ContextBreakdown,
  type ContextBreakdownOptions,
  type CostReport,
  type CostTotals,
  type NumberedBranch,
  type PrefixBreak,
  type TurnCost,
  type TurnRequest,
  type UserTurn,
} from './reports/index.ts';
export { findRewrittenHead } from './known-heads.ts';
export { createTerminalSessions, type TerminalSession, type TerminalSessions } from './terminal-sessions.ts';
export { getLockOwner, type LockOwner } from '../stores/index.ts';
export {
  collectAudit,
  findChangedLine,
  formatAuditLines,
  formatAuditReport,
  listAuditRecords,
  type Audit,
  type AuditContent,
  type AuditedRelease,
  type AuditedSession,
  type AuditPeriod,
  type AuditRecord,
  type AuditSources,
} from './audit/index.ts';
export { readFleetSessionTree, readSessionTree, type RecordedSession, type SessionTree } from './session-tree.ts';
export {
  alignSides,
  type AlignedSides,
  formatReplay,
  formatReplayMarkdown,
  replaySession,
  type LiveOptions,
  type ReplayAgent,
  type ReplayDifference,
  type ReplayRules,
  type ReplaySessionOptions,
  type SessionReplay,
} from './replay/index.ts';
