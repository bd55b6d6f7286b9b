// A choice as it is written down and as a person reads it before anything is sent.
import type { Json } from '../../core/index.ts';
import type { RoutingDecision, CandidateRating } from './candidate.ts';

/** The choice as a remark in the log. */
export const toDecisionRecord = (router: string, isPrivate: boolean, choice: RoutingDecision): Json => ({
  router,
  model: choice.chosen?.name ?? null,
  kind: choice.kind,
  complexity: roundScore(choice.complexity),
  private: isPrivate,
  why: choice.why,
  ratings: choice.ratings.map(toRatingRecord),
});

const roundScore = (value: number): number => Math.round(value * 1000) / 1000;

const toRatingRecord = (rating: CandidateRating): Json =>
  'out' in rating
    ? { model: rating.candidate.name, out: rating.out }
    : {
        model: rating.candidate.name,
        total: roundScore(rating.total),
        scores: Object.fromEntries(rating.scores.map(({ scorer, score }) => [scorer, roundScore(score)])),
      };

/** How hard the task is, and who does it, in a line. */
export function formatDecision({ chosen, complexity, why }: RoutingDecision): string {
  const task = `[${complexity > 0.5 ? 'Complex' : 'Simple'} task, ${(complexity * 100).toFixed(1)} %]`;
  if (!chosen) return `${task} ${why}`;
  return `${task} Using the ${chosen.local ? 'local' : 'cloud'} model ${chosen.name}. ${why}`;
}
