// Public API of the checks: verification of answers by the event log, by computation, by evidence and by judge models.
export { binomialInterval, binomialUpperBound } from './binomial.ts';
export { isAbstention, isRefusal } from './abstention.ts';
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
export {
  clusterByEntailment,
  clusterByWords,
  entropyConfidence,
  measureUncertainty,
  semanticEntropy,
  type EntailmentClusters,
  type SampleCluster,
  type Uncertainty,
  type UncertaintyInput,
} from './uncertainty/index.ts';
