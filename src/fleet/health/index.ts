// What is known about a fleet's health, and about what was measured: the names that others use.
export { workerAbout } from './about.ts';
export { driftOf, type Drift, type DriftOptions, type DriftVerdict, type Latency } from './drift.ts';
export {
  healthOf,
  healthReader,
  type BreakerHealth,
  type Health,
  type HealthOptions,
  type WorkerHealth,
} from './health.ts';
export { measuredFolder, readMeasured, saveMeasured, type Measured } from './measured.ts';
export { metricsText } from './metrics.ts';
export { objectivesOf, usualObjectives, type Objective, type Objectives, type ObjectiveVerdict } from './objectives.ts';
export { outcomeClasses, outcomesOf, ratesOf, type OutcomeClass, type Rates } from './outcomes.ts';
export { percentilesOf, quantileOf, type Quantile } from './quantiles.ts';
export { newcombe, rateOf, wilson, type Count, type Interval, type Rate } from './rates.ts';
export { scorecardOf, type Claim, type ScoreRow } from './scorecard.ts';
