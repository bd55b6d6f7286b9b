// A choice as it is written down and as a person reads it before anything is sent.
import type { Json } from '../../core/index.ts';
import type { Choice, Rating } from './candidate.ts';

/** The choice as a remark in the log. */
export const choiceRemark = (router: string, isPrivate: boolean, choice: Choice): Json => ({
  router,
  model: choice.chosen?.name ?? null,
  kind: choice.kind,
  complexity: rounded(choice.complexity),
  private: isPrivate,
  why: choice.why,
  ratings: choice.ratings.map(ratingRemark),
});

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

const ratingRemark = (rating: Rating): Json =>
  'out' in rating
    ? { model: rating.candidate.name, out: rating.out }
    : {
        model: rating.candidate.name,
        total: rounded(rating.total),
        scores: Object.fromEntries(rating.scores.map(({ scorer, score }) => [scorer, rounded(score)])),
      };

/** How hard the task is, and who does it, in a line. */
export function choiceLine({ chosen, complexity, why }: Choice): string {
  const task = `[${complexity > 0.5 ? 'Complex' : 'Simple'} task, ${(complexity * 100).toFixed(1)} %]`;
  if (!chosen) return `${task} ${why}`;
  return `${task} Using the ${chosen.local ? 'local' : 'cloud'} model ${chosen.name}. ${why}`;
}
