// Public API of model routing: decisions, run history and savings.
export {
  defaultRoutingOptions,
  type ModelCandidate,
  type RoutingDecision,
  type CandidateRating,
  type RoutingOptions,
  type CandidateScore,
  type RoutingContext,
  type RoutingWeights,
} from './candidate.ts';
export {
  estimateLocalModelCapacity,
  minToolUseBillions,
  modelSizes,
  type LocalModelCapacity,
  type Hardware,
  type ModelSize,
} from './hardware.ts';
export type { TaskKind } from './keyword-weights.ts';
export { modelChosenKey, modelFailedKey } from './annotation-keys.ts';
export { findModelOutage, runHistoryView, type RunHistory, type PastRun } from './run-history.ts';
export { route } from './route.ts';
export { savingsOf, type ModelShare, type Savings } from './savings.ts';
export { keepsDataLocal } from '../data-locality.ts';
export { parseBillions, defaultQuality } from './model-priors.ts';
export { taskFeatures, type TaskFeatures, type KeywordWeights } from './task-features.ts';
export { formatDecision, toDecisionRecord } from './format-decision.ts';
