// Types of the responses about verifications and calibrations.
import type { AnswerReport, StoredCalibration, VerificationReport, VerifyProgress } from '../../../src/checks/index.ts';
import type { FleetRun } from '../../../src/core/index.ts';

/** The response of GET /api/verify/{id}. */
export type VerificationStatus = {
  readonly run: FleetRun;
  readonly progress?: VerifyProgress;
  readonly report?: VerificationReport & Pick<AnswerReport, 'uncertainty'>;
};

/** The response of GET /api/calibrations. */
export type CalibrationList = {
  readonly calibrations: readonly StoredCalibration[];
  readonly problems: readonly string[];
};
