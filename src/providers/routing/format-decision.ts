// Formats a routing decision for the log and for the user.
import type { Json } from '../../core/index.ts';
import type { RoutingDecision, CandidateRating } from './candidate.ts';

/** The decision as an annotation. */
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

/** Formats task difficulty and chosen model as one line. */
export function formatDecision({ chosen, complexity, why }: RoutingDecision): string {
  const task = `[${complexity > 0.5 ? 'Complex' : 'Simple'} task, ${(complexity * 100).toFixed(1)} %]`;
  if (!chosen) return `${task} ${why}`;
  return `${task} Using the ${chosen.local ? 'local' : 'cloud'} model ${chosen.name}. ${why}`;
}
