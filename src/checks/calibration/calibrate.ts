// Calibrates a confidence on labelled outcomes: finds the threshold with the largest coverage whose error rate is below a target with a stated probability.
import { FairleadError } from '../../core/index.ts';
import { binomialCdf, binomialUpperBound } from '../binomial.ts';
import { acceptedAtEachThreshold, type AcceptedOutcomes, type Outcome } from './outcomes.ts';

/** The error rate that accepted answers may have, and the probability with which that holds. */
export type CalibrationTarget = {
  /** Above 0 and below 1, such as 0.05. */
  readonly maxErrorRate: number;
  /** At least 0.5 and below 1, such as 0.95. */
  readonly probability: number;
};

/** The result of a calibration. Without a threshold every answer is abstained from. */
export type Calibration = CalibrationTarget & {
  readonly labels: number;
  /** Labels that say the answer was wrong. */
  readonly errors: number;
  /** The lowest confidence that is accepted. */
  readonly threshold?: number;
  /** The outcomes at and above the threshold, and the exact upper bound of their error rate. */
  readonly accepted?: {
    readonly count: number;
    readonly errors: number;
    readonly coverage: number;
    readonly upperBound: number;
  };
  /** One sentence. */
  readonly why: string;
};

/** The default target: at most 5 % errors. */
export const defaultMaxErrorRate = 0.05;
/** The default probability that the target holds. */
export const defaultProbability = 0.95;

/** Returns the labels that a target needs if each of them is correct. */
export const minLabels = ({ maxErrorRate, probability }: CalibrationTarget): number =>
  Math.ceil(Math.log(1 - probability) / Math.log1p(-maxErrorRate));

/**
 * Finds the threshold with the largest coverage that holds the target.
 *
 * Thresholds are tested from high to low by the exact binomial test, and the first that fails ends the sequence, so the
 * sequence as a whole is wrong with at most the probability of one test if the error rate does not rise with the
 * confidence. A sequence starts at all outcomes, at half of them, a quarter and so on; the tests of each start use an
 * equal share of the allowed probability of error, so all of them together keep it.
 */
export function calibrate(input: { readonly outcomes: readonly Outcome[] } & CalibrationTarget): Calibration {
  const target = assertTarget(input);
  const thresholds = acceptedAtEachThreshold(input.outcomes);
  const all = thresholds.at(-1) ?? { count: 0, errors: 0 };
  const facts = { ...target, labels: all.count, errors: all.errors };
  const needed = minLabels(target);
  if (all.count < needed)
    return {
      ...facts,
      why: `There are ${all.count} labels; at most ${formatPercent(target.maxErrorRate)} errors with a probability of ${formatPercent(target.probability)} need ${needed} or more.`,
    };
  const starts = countStarts(all.count, needed);
  const level = (1 - target.probability) / starts;
  const least = minLabels({ ...target, probability: 1 - level });
  let found: AcceptedOutcomes | undefined;
  for (let halving = 0; halving < starts; halving++) {
    // With fewer outcomes than `least` no test passes, even without an error.
    const start = Math.max(least, all.count / 2 ** halving);
    const passed = findLastPassed(thresholds, start, target.maxErrorRate, level);
    if (passed && passed.count > (found?.count ?? 0)) found = passed;
  }
  if (!found)
    return {
      ...facts,
      why: `No threshold keeps the error rate at ${formatPercent(target.maxErrorRate)} with a probability of ${formatPercent(target.probability)}: ${all.errors} of ${all.count} labels are wrong.`,
    };
  const coverage = found.count / all.count;
  const upperBound = binomialUpperBound(found.errors, found.count, 1 - level);
  return {
    ...facts,
    threshold: found.threshold,
    accepted: { count: found.count, errors: found.errors, coverage, upperBound },
    why: `A confidence of ${formatConfidence(found.threshold)} or more accepts ${formatPercent(coverage)} of ${all.count} labels, with ${found.errors} errors.`,
  };
}

/** How often the labels can be halved until too few are left for a test. */
const countStarts = (total: number, needed: number): number => 1 + Math.floor(Math.log2(total / needed));

/** Tests thresholds with at least `start` outcomes until one fails, and returns the last that passed. */
function findLastPassed(
  thresholds: readonly AcceptedOutcomes[],
  start: number,
  maxErrorRate: number,
  level: number,
): AcceptedOutcomes | undefined {
  let passed: AcceptedOutcomes | undefined;
  // The errors that a smaller number of outcomes may have are allowed for more outcomes too.
  let allowed = -1;
  for (const each of thresholds) {
    if (each.count < start) continue;
    if (each.errors > allowed) {
      if (binomialCdf(each.errors, each.count, maxErrorRate) > level) break;
      allowed = each.errors;
    }
    passed = each;
  }
  return passed;
}

/** What happens to an answer: it is accepted, or the program abstains. Accepted is not verified. */
export type Decision = { readonly type: 'accept' | 'abstain'; readonly why: string };

/** Decides by a calibration whether an answer with this confidence is accepted. Without a confidence, a calibration or a threshold it abstains. */
export function decide(confidence: number | undefined, calibration: Calibration | undefined): Decision {
  const abstain = (why: string): Decision => ({ type: 'abstain', why });
  if (calibration === undefined) return abstain('The confidence is not calibrated.');
  if (confidence === undefined || !(confidence >= 0 && confidence <= 1))
    return abstain('There is no confidence for this answer.');
  const { threshold, maxErrorRate, probability, labels } = calibration;
  if (threshold === undefined) return abstain(calibration.why);
  const said = `The confidence ${formatConfidence(confidence)} is`;
  if (!(confidence >= threshold)) return abstain(`${said} below the threshold ${formatConfidence(threshold)}.`);
  return {
    type: 'accept',
    why: `${said} not below the threshold ${formatConfidence(threshold)}: at most ${formatPercent(maxErrorRate)} errors with a probability of ${formatPercent(probability)}, from ${labels} labels.`,
  };
}

function assertTarget({ maxErrorRate, probability }: CalibrationTarget): CalibrationTarget {
  if (!(maxErrorRate > 0 && maxErrorRate < 1))
    throw invalidTarget(`The error rate ${maxErrorRate} is not above 0 and below 1.`);
  if (!(probability >= 0.5 && probability < 1))
    throw invalidTarget(`The probability ${probability} is not from 0.5 to below 1.`);
  return { maxErrorRate, probability };
}

const invalidTarget = (message: string): FairleadError =>
  new FairleadError('checks/invalid-target', message, { blame: 'user', hint: 'Give shares such as 0.05 and 0.95.' });

/** Formats a share as a percentage with at most one decimal. */
export const formatPercent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

const formatConfidence = (confidence: number): string => confidence.toFixed(3);
