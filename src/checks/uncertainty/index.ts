// Uncertainty of answers from repeated samples: clusters, semantic entropy and a confidence that can only refuse.
export { defaultAgreementQuorum, measureAgreement, type ClaimAgreement } from './agreement.ts';
export {
  clusterByEntailment,
  clusterByWords,
  entropyConfidence,
  maxSamples,
  minWordOverlap,
  semanticEntropy,
  type EntailmentClusters,
  type SampleCluster,
} from './clusters.ts';
export {
  areLongAnswers,
  defaultMinConfidence,
  judgedUncertaintyVersion,
  measureUncertainty,
  measureUncertaintyByJudge,
  minSamples,
  uncertaintyVersion,
  type Uncertainty,
  type UncertaintyInput,
} from './measure.ts';
