// Public API of the checks: verification of answers by the event log, by computation, by evidence and by judge models.
export { binomialInterval, binomialUpperBound } from './binomial.ts';
export type {
  AskModel,
  CheckedClaim,
  Claim,
  ClaimVerdict,
  DecidedBy,
  Evidence,
  EvidenceSearch,
  EvidenceSource,
  JudgeVote,
  TextSpan,
  Verifier,
  VerifyContext,
  VerifyModel,
} from './types.ts';
export { contentWords, splitSentences } from './words.ts';
