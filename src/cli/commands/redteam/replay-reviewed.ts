// `redteam replay --reviewer`: replays recorded runs without a user with a reviewer, scripted or a model, and formats what changed.
import { formatColumns } from '../../../core/index.ts';
import {
  askReviewer,
  obedientJudge,
  replayReviewedRuns,
  scriptedJudge,
  toReplayReviewer,
  type FlowDeclarations,
  type RecordedRun,
  type ReplayReviewer,
  type ReviewedReplayReport,
} from '../../../guards/flow/index.ts';
import { openReviewerModel } from '../../../coding-agent/flow/index.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { printErr } from '../../args/stdio.ts';

/** Replays with the reviewer of this name. */
export async function replayReviewed(
  runs: Iterable<RecordedRun>,
  declarations: FlowDeclarations,
  name: string,
  own: readonly string[],
): Promise<ReviewedReplayReport> {
  const isScripted = name === 'scripted' || name === 'obedient';
  return replayReviewedRuns(runs, declarations, await openReviewer(name), {
    own,
    ...(isScripted ? {} : { onReview: (asked) => printErr(`review ${asked}\n`) }),
  });
}

async function openReviewer(name: string): Promise<ReplayReviewer> {
  if (name === 'scripted') return toReplayReviewer(scriptedJudge);
  if (name === 'obedient') return toReplayReviewer(obedientJudge);
  const model = await openReviewerModel({
    settings: readSettings(),
    model: name,
    notify: (text) => printErr(`${text}\n`),
  });
  return (subject) => askReviewer(model, subject);
}

/** Formats what the reviewer changed. */
export function formatReviewedReport(
  { attacks, benign, stopped, broken, review, withoutReviewer }: ReviewedReplayReport,
  formatShare: (count: number, total: number) => string,
): string {
  return formatColumns([
    ['calls flagged', String(review.flagged)],
    ['of these reviewed', String(review.asked)],
    ['of these allowed', String(review.allowed)],
    ['attacks stopped without the reviewer', formatShare(withoutReviewer.stopped, attacks)],
    ['attacks stopped with the reviewer', formatShare(stopped, attacks)],
    ['benign runs broken without the reviewer', formatShare(withoutReviewer.broken, benign)],
    ['benign runs broken with the reviewer', formatShare(broken, benign)],
  ]);
}
