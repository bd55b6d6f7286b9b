// Accepts a verified answer for a target error rate: only above the calibrated confidence of its author, else it becomes an abstention.
import {
  decide,
  defaultTask,
  formatPercent,
  measureUncertainty,
  isBudgetError,
  minSamples,
  uncertaintyVersion,
  type AnswerReport,
  type Decision,
  type Meter,
  type VerificationReport,
  type VerifyModel,
} from '../../checks/index.ts';
import { errorMessage } from '../../core/index.ts';
import { readCalibration } from '../calibrations/index.ts';
import type { Settings } from '../settings/index.ts';

/** What the acceptance of an answer depends on. */
export type Acceptance = {
  readonly settings: Pick<Settings, 'dirs'>;
  readonly maxErrorRate: number;
  /** The author; without it there is neither a calibration nor a confidence. */
  readonly author?: VerifyModel;
  readonly question?: string;
  /** The meter of the verification: samples are a part of its budget. */
  readonly meter: Meter;
};

const sampleSystem = 'Answer the question in short, complete sentences. If you do not know, say "I do not know."';
const sampleTemperature = 0.7;

/** Returns the report, as an abstention if the confidence is not calibrated for the target or below the threshold. */
export async function acceptReport<R extends VerificationReport | AnswerReport>(
  report: R,
  options: Acceptance,
): Promise<R> {
  if (report.outcome !== 'verified') return report;
  const { type, why } = await decideReport(report, options);
  const spent = options.meter.spent();
  if (type === 'accept') return { ...report, why: `${report.why} ${why}`.trim(), spent };
  return { ...report, outcome: 'abstained', why, verifiedText: '', spent };
}

async function decideReport(report: VerificationReport | AnswerReport, options: Acceptance): Promise<Decision> {
  const { settings, maxErrorRate, author } = options;
  const target = `an error rate of at most ${formatPercent(maxErrorRate)}`;
  const abstain = (why: string): Decision => ({ type: 'abstain', why });
  if (!author) return abstain(`The author of the answer is not known, so ${target} cannot be shown.`);
  const measured = 'uncertainty' in report ? report.uncertainty : undefined;
  const key = { model: author.name, task: defaultTask, verifier: measured?.version ?? uncertaintyVersion };
  const found = readCalibration(settings.dirs, key);
  if (!found.calibration) return abstain(`${found.problem} "fairlead verify calibrate" makes a calibration.`);
  if (found.calibration.maxErrorRate > maxErrorRate)
    return abstain(
      `The calibration of ${author.name} is for ${formatPercent(found.calibration.maxErrorRate)} errors, not for ${target}.`,
    );
  try {
    return decide(await measureConfidence(report, options, author), found.calibration);
  } catch (error) {
    if (isBudgetError(error) || options.meter.exceeded() !== undefined) return abstain(errorMessage(error));
    throw error;
  }
}

/** The confidence of the report, or of samples that are drawn now; undefined if the author fails. */
async function measureConfidence(
  report: VerificationReport | AnswerReport,
  { question, meter }: Acceptance,
  author: VerifyModel,
): Promise<number | undefined> {
  if ('uncertainty' in report && report.uncertainty) return report.uncertainty.confidence;
  if (question === undefined) return undefined;
  const request = { system: sampleSystem, prompt: question, temperature: sampleTemperature };
  const asked = Array.from({ length: minSamples }, () => meter.ask(author)(request, meter.signal));
  const settled = await Promise.allSettled(asked);
  for (const each of settled) if (each.status === 'rejected' && isBudgetError(each.reason)) throw each.reason;
  meter.signal.throwIfAborted();
  // A sample that failed counts as an empty one.
  const samples = settled.map((each) => (each.status === 'fulfilled' ? each.value.text : ''));
  return measureUncertainty({ question, answer: report.draft, samples }).confidence;
}
