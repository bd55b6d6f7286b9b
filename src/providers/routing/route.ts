// Chooses a model: hard rules first, then scores by their weights; a tie goes to the one that was listed first.
import {
  usualRouting,
  type Candidate,
  type Choice,
  type Rating,
  type RoutingOptions,
  type Score,
  type Situation,
} from './candidate.ts';
import { isCooling, ruledOut } from './hard-rules.ts';
import { scorers } from './scorers.ts';
import { taskFeatures, type TaskFeatures } from './task.ts';

type Rated = Rating & { readonly total: number };

/** What would be chosen, and why. Pure: the same situation has the same choice. */
export function route(
  candidates: readonly Candidate[],
  situation: Situation,
  options: RoutingOptions = usualRouting,
): Choice {
  const task = taskFeatures(situation.task, options.words);
  const out: Rating[] = [];
  const able: Candidate[] = [];
  for (const candidate of candidates) {
    const why = ruledOut(candidate, situation);
    if (why === undefined) able.push(candidate);
    else out.push({ candidate, out: why });
  }
  const rested = able.filter((each) => !isCooling(each, situation, options.coolMs));
  // Where none is known to answer, one that did not is better than none.
  const left = rested.length ? rested : able;
  for (const candidate of able)
    if (!left.includes(candidate)) out.push({ candidate, out: 'it could not be reached a moment ago' });
  const ratings = left
    .map((candidate) => rate(candidate, situation, task, options))
    .toSorted((a, b) => b.total - a.total);
  const [best, next] = ratings;
  const { kind, complexity } = task;
  return {
    chosen: best?.candidate,
    kind,
    complexity,
    why: reasonOf(best, next, out, options),
    ratings: [...ratings, ...out],
  };
}

function rate(candidate: Candidate, situation: Situation, task: TaskFeatures, { weights }: RoutingOptions): Rated {
  let [sum, all] = [0, 0];
  const scores = Object.entries(scorers).flatMap(([name, scorer]): readonly Score[] => {
    const key = name as Score['scorer'];
    const weight = weights[key];
    if (!(weight > 0) || !Number.isFinite(weight)) return [];
    const { score, why } = scorer(candidate, situation, task);
    sum += weight * score;
    all += weight;
    return [{ scorer: key, score, why }];
  });
  return { candidate, total: all > 0 ? sum / all : 0, scores };
}

/** What decided, in a sentence: the rule that left one alone, or the scorers by which the best is ahead of the next. */
function reasonOf(
  best: Rated | undefined,
  next: Rated | undefined,
  out: readonly Rating[],
  { weights }: RoutingOptions,
): string {
  const gone = out.map((each) => `${each.candidate.name}: ${'out' in each ? each.out : ''}`).join('; ');
  if (!best) return gone ? `No model is left (${gone}).` : 'There is no model to choose from.';
  if (!next) return gone ? `It is the only one left (${gone}).` : 'It is the only one there is.';
  const [mine, other] = [scoresOf(best), scoresOf(next)];
  const ahead = mine
    .map((each, i) => ({ ...each, by: weights[each.scorer] * (each.score - (other[i]?.score ?? 0)) }))
    .filter(({ by }) => by > 0.005)
    .toSorted((a, b) => b.by - a.by)
    .slice(0, 2);
  const said = ahead.map(({ scorer, why }) => `${scorer}: ${why}`).join('; ');
  return said ? `Ahead of ${next.candidate.name} by ${said}.` : `As good as ${next.candidate.name}, and listed first.`;
}

const scoresOf = (rating: Rated): readonly Score[] => ('scores' in rating ? rating.scores : []);
