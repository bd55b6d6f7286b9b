// Claims of an answer and their verification.
export {
  maxAnswerLength,
  splitAnswer,
  splitClaims,
  type SkippedPart,
  type SkippedReason,
  type SplitAnswer,
} from './split-claims.ts';
export { maxClaims, verifyAnswer } from './verify-answer.ts';
export type { VerifyAnswerOptions } from './stages.ts';
export { createMeter, isBudgetError, type Meter, type VerifyBudget } from './meter.ts';
export { askIndependently, type IndependentAnswer } from './independent.ts';
export { decidingText, formatSource, narrowLines } from './render.ts';
export {
  countVerdicts,
  type Citation,
  type ReportedJudge,
  type VerificationReport,
  type VerifyOutcome,
  type VerifyProgress,
  type VerifySpent,
} from './report.ts';
export {
  answerQuestion,
  selectBest,
  type AnswerQuestionOptions,
  type AnswerReport,
  type DraftResult,
} from './answer-question.ts';
export { formatOutcome, formatReport, type FormatReportOptions, type ReportStyle } from './format-report.ts';
export { findClaimsWithoutEvidence, parseVerificationRecord, toVerificationRecord } from './record.ts';
export { verificationKey } from '../../core/index.ts';
