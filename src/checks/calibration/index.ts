// Selective prediction: calibration of a confidence on labelled outcomes, risk-coverage curves, and the decision to accept or abstain.
export {
  calibrate,
  decide,
  defaultMaxErrorRate,
  defaultProbability,
  formatPercent,
  minLabels,
  type Calibration,
  type CalibrationTarget,
  type Decision,
} from './calibrate.ts';
export {
  computeAuroc,
  computeRiskCoverage,
  createRandom,
  resample,
  type Auroc,
  type CurvePoint,
  type RiskCoverage,
} from './curve.ts';
export { formatRiskCoverage } from './format.ts';
export { parseLabels, toOutcomes, type LabelledAnswer } from './labels.ts';
export type { Outcome } from './outcomes.ts';
export { defaultTask, parseStoredCalibration, type CalibrationKey, type StoredCalibration } from './stored.ts';
