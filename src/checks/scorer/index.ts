// The local support scorer, and the scorer that asks an entailment model.
export { scorerFeatures, scorerVersion, type ScorerFeature } from './coefficients.ts';
export {
  createEntailmentScorer,
  type EntailmentResult,
  type EntailmentScorer,
  type EntailmentScorerOptions,
} from './entailment.ts';
export { createSupportScorer, scoreSupport, type SupportScore } from './score-support.ts';
