// Labelled outcomes, sorted and grouped by confidence, highest first.
import { FairleadError } from '../../core/index.ts';

/** An answer of the past: the confidence it had, and whether it was correct. */
export type Outcome = { readonly confidence: number; readonly correct: boolean };

/** All outcomes with a confidence of at least `threshold`. */
export type AcceptedOutcomes = {
  readonly threshold: number;
  readonly count: number;
  readonly errors: number;
};

/** Max outcomes of one calibration. */
export const maxOutcomes = 5_000_000;

/** Returns the outcomes at and above each confidence that occurs, highest first. Outcomes of equal confidence are accepted together. */
export function acceptedAtEachThreshold(outcomes: readonly Outcome[]): readonly AcceptedOutcomes[] {
  if (outcomes.length > maxOutcomes)
    throw invalidOutcomes(`There are ${outcomes.length} outcomes; at most ${maxOutcomes} are possible.`);
  for (const [index, { confidence, correct }] of outcomes.entries())
    if (!(confidence >= 0 && confidence <= 1) || typeof correct !== 'boolean')
      throw invalidOutcomes(
        `Outcome ${index + 1} has the confidence ${String(confidence)} and the label ${String(correct)}.`,
      );
  const [right, wrong] = [true, false].map((label) => sortConfidences(outcomes, label)) as [Float64Array, Float64Array];
  const accepted: AcceptedOutcomes[] = [];
  let [r, w] = [right.length - 1, wrong.length - 1];
  while (r >= 0 || w >= 0) {
    const threshold = Math.max(right[r] ?? 0, wrong[w] ?? 0);
    while (right[r] === threshold) r -= 1;
    while (wrong[w] === threshold) w -= 1;
    const errors = wrong.length - 1 - w;
    accepted.push({ threshold, count: right.length - 1 - r + errors, errors });
  }
  return accepted;
}

/** The confidences with this label, lowest first; numbers alone are sorted ten times as fast as objects. */
const sortConfidences = (outcomes: readonly Outcome[], label: boolean): Float64Array =>
  Float64Array.from(
    outcomes.filter(({ correct }) => correct === label),
    ({ confidence }) => confidence,
  ).toSorted();

const invalidOutcomes = (message: string): FairleadError =>
  new FairleadError('checks/invalid-outcomes', message, {
    blame: 'user',
    hint: 'A confidence is a number from 0 to 1, and a label is true or false.',
  });
