// Information flow control: untrusted text decides nothing.
export { builtinDeclarations, mergeDeclarations } from './builtin-declarations.ts';
export {
  calibrateThreshold,
  createDetector,
  defaultDetectorThreshold,
  readDetectorDocuments,
  scanDocuments,
  type Detector,
  type DetectorChannel,
  type DetectorDocument,
  type DetectorOptions,
  type DetectorReport,
  type DetectorScore,
} from '../detector/index.ts';
export { readTrifecta, type ConditionSource, type TrifectaConditions } from './egress.ts';
export { formatTrifecta, formatSources } from './egress-question.ts';
export { splitTyped } from './read-input.ts';
export { isPrivatePath, nameSources, readPrivateData } from './private-data.ts';
export {
  quarantineView,
  readQuarantinedTool,
  withQuarantine,
  type QuarantinedText,
  type ReadQuarantinedOptions,
} from '../quarantine/index.ts';
export { decideCall } from './decide-call.ts';
export { parseDeclarations } from './declarations.ts';
export { createFlowGate, type FlowMode } from './flow-gate.ts';
export { createFlowWarning, formatFlowQuestion } from './flow-question.ts';
export {
  collectDeclarations,
  type CollectedDeclaration,
  type CollectedDeclarations,
  type DeclarationOrigin,
} from './collect-declarations.ts';
export { explainSession, type ExplainedCall, type ExplainedSession } from './explain-session.ts';
export { findFlowRisks, formatFlowRisks, type FlowRisks, type WayOut } from './find-risks.ts';
export { declareTool, type DeclaredTool } from './declare-tool.ts';
export { createFlowLogView, flowViewName, type FlowLog } from './flow-log.ts';
export { createFlowPolicy, type FlowPolicyOptions } from './flow-policy.ts';
export { callKey, FlowState, valueTokens, type FlowEntry, type FlowStateOptions } from './flow-state.ts';
export { createFlowFold, type FlowFold, type FlowFoldOptions, type FlowSession, type OpenCall } from './fold-log.ts';
export { listUserTexts } from './user-texts.ts';
export { findCommandWaysOut } from './command-ways-out.ts';
export { labelValue } from './label-value.ts';
export { loadYaml } from './parse-structure.ts';
export { readResult } from './read-result.ts';
export {
  parseRecordedRuns,
  replayRun,
  replayRuns,
  type RecordedEvent,
  type RecordedRun,
  type ReplayReport,
} from './replay.ts';
export { varyRuns, type ChangedDecision, type VariationReport, type VaryReport } from './vary.ts';
export { findKnownServer, loadServerDeclarations, parseServerTools } from './server-declarations.ts';
export { askReviewer, defaultReviewTimeoutMs, formatReviewSubject, type ReviewResult } from './ask-reviewer.ts';
export {
  createReviewSubject,
  decideReview,
  parseReviewJudgement,
  type ReviewJudgement,
  type ReviewSubject,
  type ReviewVerdict,
} from './review-call.ts';
export {
  createFlowReviewer,
  defaultMaxReviews,
  type FlaggedCall,
  type FlowReviewer,
  type FlowReviewerOptions,
} from './review-gate.ts';
export {
  replayReviewedRuns,
  toReplayReviewer,
  type ReplayReviewer,
  type ReviewedReplayReport,
} from './replay-review.ts';
export { obedientJudge, scriptedJudge, type ReviewJudge } from './scripted-reviewer.ts';
export { reviewView, type ReviewLog } from './review-view.ts';
export { restoreFlowState, serializeFlowState } from './stored-state.ts';
export { findSuspiciousTexts, type SuspiciousText } from './suspicious-texts.ts';
export type {
  ControlRole,
  FlowCall,
  FlowDecision,
  FlowDeclarations,
  FlowEffect,
  FlowRule,
  FlowSource,
  Integrity,
  LabelledValue,
  OutputDeclaration,
  ParameterRole,
  ServerDeclarations,
  ToolDeclaration,
} from './types.ts';
