// Fleet health: reports, objectives, drift, metrics, measurements and the scorecard.
export { computeDrift, type Drift, type DriftOptions, type DriftVerdict, type Latency } from './drift.ts';
export {
  getWorkerInfo,
  readHealth,
  createHealthReader,
  type BreakerHealth,
  type Health,
  type HealthOptions,
  type HealthStore,
  type WorkerHealth,
} from './health.ts';
export { getMeasurementsDir, readMeasurements, saveMeasurement, type Measurement } from './measurements.ts';
export { formatMetrics } from './metrics.ts';
export {
  evaluateObjectives,
  defaultObjectives,
  type Objective,
  type Objectives,
  type ObjectiveVerdict,
} from './objectives.ts';
export { outcomeClasses, countOutcomes, computeRates, type OutcomeClass, type Rates } from './outcomes.ts';
export {
  computePercentiles,
  computeQuantile,
  type Quantile,
  newcombeInterval,
  computeClusteredRate,
  computeRate,
  wilsonInterval,
  type RateCount,
  type Interval,
  type Rate,
  holm,
  zScoreForConfidence,
} from './statistics.ts';
export {
  compareMeasurements,
  computeModelDrift,
  getBaselinesDir,
  readModelBaselines,
  saveModelMeasurement,
  type ModelBaseline,
  type ModelMeasurement,
} from './model-drift.ts';
export { comparePairs, mcnemarPValue, signFlipPValue, type PairedDifference } from './paired.ts';
export { createScorecard, scorecardClaims, type ScorecardClaim, type ScoreRow } from './scorecard.ts';
