// Replays recorded runs without a user and with a reviewer: which attacks stay stopped, and which work is no longer broken.
import { loadYaml } from './parse-structure.ts';
import {
  createReplayReport,
  replaySteps,
  type RecordedRun,
  type ReplayAnswer,
  type ReplayedRun,
  type ReplayReport,
} from './replay.ts';
import type { ReviewResult } from './ask-reviewer.ts';
import { createReviewSubject, decideReview, type ReviewSubject } from './review-call.ts';
import type { ReviewJudge } from './scripted-reviewer.ts';
import type { FlowDeclarations } from './types.ts';

/** Reviews a call of a recorded run. */
export type ReplayReviewer = (
  subject: ReviewSubject,
) => Pick<ReviewResult, 'isAllowed'> | Promise<Pick<ReviewResult, 'isAllowed'>>;

/** The report of a replay with a reviewer. `stopped` and `broken` are those with it. */
export type ReviewedReplayReport = ReplayReport & {
  /** How many calls the policy flagged, how many of them a reviewer could allow and was asked about, and how many it allowed. */
  readonly review: { readonly flagged: number; readonly asked: number; readonly allowed: number };
  /** The same runs without a reviewer. */
  readonly withoutReviewer: Pick<ReplayReport, 'stopped' | 'broken'>;
};

/** A reviewer of a judge without a model. */
export const toReplayReviewer =
  (judge: ReviewJudge): ReplayReviewer =>
  (subject) =>
    decideReview(subject, judge(subject));

/** Replays runs; every call that is flagged and that a reviewer could allow is reviewed, all others are denied. */
export async function replayReviewedRuns(
  runs: Iterable<RecordedRun>,
  declarations: FlowDeclarations,
  reviewer: ReplayReviewer,
  { own = [], onReview }: { readonly own?: readonly string[]; readonly onReview?: (asked: number) => void } = {},
): Promise<ReviewedReplayReport> {
  await loadYaml();
  const [withReviewer, without]: [ReplayedRun[], ReplayedRun[]] = [[], []];
  const review = { flagged: 0, asked: 0, allowed: 0 };
  for (const run of runs) {
    const plain = replaySteps(run, declarations, own);
    let denied = plain.next();
    while (!denied.done) denied = plain.next('refused');
    without.push({ run, decisions: denied.value });
    const steps = replaySteps(run, declarations, own);
    let step = steps.next();
    while (!step.done) {
      const { call, decision, state } = step.value;
      const subject = createReviewSubject(state, declarations, call, decision);
      let answer: ReplayAnswer = 'refused';
      review.flagged += 1;
      if (subject) {
        review.asked += 1;
        onReview?.(review.asked);
        if ((await reviewer(subject)).isAllowed) {
          review.allowed += 1;
          answer = 'allowed';
        }
      }
      step = steps.next(answer);
    }
    withReviewer.push({ run, decisions: step.value });
  }
  const { stopped, broken } = createReplayReport(without, true);
  return { ...createReplayReport(withReviewer, true), review, withoutReviewer: { stopped, broken } };
}
