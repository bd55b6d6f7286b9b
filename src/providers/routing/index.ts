// Routing as others use it: what a model is chosen by, and what the choice was worth.
export {
  usualRouting,
  type Candidate,
  type Choice,
  type Rating,
  type RoutingOptions,
  type Score,
  type Situation,
  type Weights,
} from './candidate.ts';
export { capabilityOf, goodBillions, modelSizes, type Capability, type Hardware, type ModelSize } from './hardware.ts';
export type { Kind } from './lexicon.ts';
export { chosenKey, failedKey } from './keys.ts';
export { outageIn, pastRuns, type PastRuns, type Ran } from './past-runs.ts';
export { route } from './route.ts';
export { savingsOf, type ModelShare, type Savings } from './savings.ts';
export { billionsIn, staysHere, usualQuality } from './standing.ts';
export { taskFeatures, type TaskFeatures, type WordWeights } from './task.ts';
export { choiceLine, choiceRemark } from './told.ts';
