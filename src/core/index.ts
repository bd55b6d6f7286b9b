// Public API of the core: pure functions and interfaces; no node:*, no npm packages.
export { raceAbort } from './abort.ts';
export { inTransaction, retryWhileBusy } from './busy-database.ts';
export { createBoundedText, type BoundedText } from './bounded-text.ts';
export { unwrapDeferredCall, executeCalls, USE_TOOL } from './calls.ts';
export {
  FairleadError,
  fromFailure,
  errorMessage,
  formatError,
  systemErrorCode,
  toFailure,
  type Blame,
  type ErrorDetails,
  type Failure,
} from './errors.ts';
export type {
  Baseline,
  EpochReason,
  Event,
  DecisionSource,
  Fact,
  TouchedFile,
  ActiveRun,
  InputMode,
  InputSource,
  Limits,
  Note,
  ToolOutcome,
  PendingInput,
  RejectionReason,
  UsageTotals,
  StopReason,
  Verdict,
} from './fact.ts';
export { defaultTenant } from './fleet-store.ts';
export { sleepOn, systemPort, type ProcessPort } from './process-port.ts';
export type {
  TenantBudget,
  BudgetAmount,
  InboxDelivery,
  FleetRun,
  FleetStore,
  ClientToolCall,
  Inbox,
  KillSwitch,
  BudgetLedger,
  InboxMessage,
  NewRun,
  DurationPercentiles,
  ApprovalQuestion,
  RunQueue,
  QueueDepth,
  QueueLimits,
  WorkerRegistry,
  RunFilter,
  RunOutcome,
  RunStatus,
  Schedule,
  RunSettlement,
  KillSwitchState,
  RunStats,
  WorkOptions,
  WorkerInfo,
} from './fleet-store.ts';
export {
  approvalQuestion,
  askedEachTimeText,
  evaluateGates,
  needsApprovalEachTime,
  type GateResult,
} from './evaluate-gates.ts';
export { setLazyText, getLazyText, textOrCharCodes, textLength, type LazyText } from './lazy-text.ts';
export { openSessionWriter, type FactSource, type SessionWriter } from './session-writer.ts';
export { historyError } from './validate-history.ts';
export type { PartialTextChannel, PartialText } from './partial-text.ts';
export { canonicalJson, isJson, isObject, toJson, type Json, type JsonObject } from './json.ts';
export { runLoop, type RunContext } from './loop.ts';
export {
  messageToolCalls,
  isEmptyMessage,
  messageText,
  type ToolCallPart,
  type FilePart,
  type FinishReason,
  type Message,
  type ProviderMetadata,
  type MessagePart,
  type ReasoningPart,
  type ToolResultPart,
  type TextPart,
  type ToolChoice,
  type ToolSpec,
  type Usage,
} from './message.ts';
export { hash53, hash53Value, updateHash53, createHash53, type Hash53State } from './hash53.ts';
export { runEndedFacts } from './end-run.ts';
export { deliverableInputs } from './pending-inputs.ts';
export {
  isApprovalPreview,
  type ApprovalPreview,
  type ApprovalWarning,
  onceScope,
  type ApprovalScope,
  type CommandPreview,
  type FilePreview,
} from './approval-preview.ts';
export {
  pendingApprovals,
  type ApprovalDecision,
  type ApprovalHandler,
  type ApprovalOptions,
  type PendingApproval,
} from './pending-approvals.ts';
export { isStuck, nextStep, type Step } from './next-step.ts';
export { collectNotes } from './turn.ts';
export { runChecks } from './run-checks.ts';
export { formatRetryNotice, formatRetryStatus, parseRetryNotice, retryAnnotationKey } from './retry-notice.ts';
export { enqueueNote, selectNotes, sortNotes, parseNotes, SAFETY_PRIORITY, renderNotes } from './notes.ts';
export type {
  ResolvedAgent,
  OutputSchema,
  AppendOptions,
  Check,
  Chunk,
  RetryNotice,
  CompactionContext,
  CompactionResult,
  Compactor,
  Decision,
  GateAnnotation,
  Gate,
  Log,
  NamedView,
  ToolOutput,
  Price,
  Provider,
  Reminder,
  Renderer,
  ModelRequest,
  Rule,
  ModelSettings,
  Stop,
  Tool,
  ToolContext,
  View,
} from './ports.ts';
export { stripControlSequences } from './control-sequences.ts';
export { isHidingStyle } from './hidden-markup.ts';
export { latinShapes } from './latin-shapes.ts';
export { spotlightSentences, spotlightText, type Spotlight } from './spotlight.ts';
export { neutralizeText } from './neutralize-text.ts';
export { yamlBoundError } from './yaml-bounds.ts';
export { trimEndChars, whitespaceChars } from './trim-end.ts';
export {
  formatToolResult,
  parseToolResult,
  isToolOutput,
  resultTags,
  toolOutput,
  toolResultFact,
  truncateMiddle,
  type ResultTags,
} from './tool-result.ts';
export { closestMatches } from './did-you-mean.ts';
export { escapeChatTokens, escapeReminderTags, wrapUntrusted } from './untrusted-text.ts';
export { renderRequest } from './render-request.ts';
export { sessionLabelsKey } from './sessions.ts';
export type { FleetSessionStore, SessionInfo, SessionStore, OpenSessionOptions } from './sessions.ts';
export { isSecretFile } from './secret-file.ts';
export {
  isIgnoredPath,
  parseIgnoreFile,
  skippedNames,
  type IgnoreMatcher,
  type IgnoreRule,
  type StepCounter,
} from './ignore-file.ts';
export { eventLineTexts } from './event-texts.ts';
export { normalizeUnicode } from './normalize-unicode.ts';
export { isPathInside, normalizeFileName } from './paths.ts';
export { isLoopbackHost, isLoopbackUrl } from './loopback.ts';
export { answerCost, partialAnswerCost, usageCost, zeroUsage, addUsage, type AnswerCost } from './usage-totals.ts';
export { fold, runStateView, type CallApproval, type ToolCall, type RunState } from './state.ts';
export {
  emptyPersistentMap,
  mapEntries,
  mapSet,
  createPersistentMap,
  mapGet,
  mapDelete,
  type PersistentMap,
} from './persistent-map.ts';
export {
  lastItem,
  appendItem,
  replaceLastItem,
  toArray,
  createPersistentList,
  type PersistentList,
} from './persistent-list.ts';
export { unknownOutcomeQuestion } from './unknown-outcome.ts';
export { isValidCost, isValidUsage } from './validate-usage.ts';
export { readView, type ViewStates } from './projections.ts';
export { providerTraits } from './provider-traits.ts';
export { parseVerificationDemand, verificationDemandKey, verificationKey } from './verification-annotations.ts';
export { escapeInvisible, escapeInvisibleLine } from './escape-invisible.ts';
export type {
  FileChange,
  DirectoryEntry,
  ExecOptions,
  FetchRequest,
  FetchResult,
  FileContent,
  DirectoryListing,
  ExecResult,
  FileStamp,
  LocatedOptions,
  ReplaceOptions,
  Workspace,
  OutputSize,
} from './workspace.ts';
export { oldEventTypes, upcastEvent, upcastQuestion, upcastUsageTotals } from './upcast.ts';
export { attemptCompaction, compactionFacts, recordCompactionCost, type CompactionAttempt } from './compaction.ts';
export { epochStartedFact } from './epoch.ts';
export { getModelOrigin, type ModelOrigin } from './model-origin.ts';
export { closeOpenCalls } from './call-fold.ts';
export { continuedText, continuePrompt, cutOffMark, prefixTokens } from './turn-fold.ts';
export { estimateTokens, estimateTextTokens, partTokens, messageTokens, modelText } from './tokens.ts';
export { callId } from './response-facts.ts';
export {
  defaultSubagentCaps,
  type SubagentCaps,
  copyTool,
  subagentLimits,
  deriveSubagent,
  type SubagentOverrides,
} from './subagent-config.ts';
export { longestMatch, maxOf, minOf } from './extremes.ts';
export { formatColumns } from './format-columns.ts';
export { getAnswerText, type AnswerText } from './answer-text.ts';
export { formatUnconfirmedClaims, type UnconfirmedClaim } from './unconfirmed-claims.ts';
export type { FlowLabels, ToolHints } from './flow-labels.ts';
export type { RendererContext } from './message.ts';
export { parseJsonResponse, type AskedModel, type AskModel } from './ask-model.ts';
export {
  formatFlowReview,
  parseFlowReview,
  reviewAuthorisations,
  reviewRisks,
  type FlowReview,
  type ReviewAuthorisation,
  type ReviewRisk,
} from './flow-review.ts';
export { flowReviewKey, readReviewNotice } from './review-notice.ts';
export { assertRunBudget } from './run-budget.ts';
export {
  formatTraceparent,
  parseTraceContext,
  parseTraceparent,
  type TraceContext,
  type TraceParent,
} from './trace-context.ts';
export type { TracePort } from './trace-port.ts';
export { addExitTask, runExitTasks } from './exit-tasks.ts';
export {
  branchOfLastEvent,
  createRecordedProvider,
  readRecordedTurns,
  replayRecordedTurn,
  type RecordedProvider,
  type RecordedTurn,
} from './recorded-turns.ts';
