// Chooses a model: hard rules, then weighted scores; ties go to the first candidate.
import {
  defaultRoutingOptions,
  type ModelCandidate,
  type RoutingDecision,
  type CandidateRating,
  type RoutingOptions,
  type CandidateScore,
  type RoutingContext,
} from './candidate.ts';
import { isCoolingDown, exclusionReason } from './hard-rules.ts';
import { scorers } from './scorers.ts';
import { taskFeatures, type TaskFeatures } from './task-features.ts';

type ScoredRating = CandidateRating & { readonly total: number };

/** Returns the decision. Pure: the same situation gives the same decision. */
export function route(
  candidates: readonly ModelCandidate[],
  situation: RoutingContext,
  options: RoutingOptions = defaultRoutingOptions,
): RoutingDecision {
  const task = taskFeatures(situation.task, options.words);
  const out: CandidateRating[] = [];
  const able: ModelCandidate[] = [];
  for (const candidate of candidates) {
    const why = exclusionReason(candidate, situation);
    if (why === undefined) able.push(candidate);
    else out.push({ candidate, out: why });
  }
  const rested = able.filter((each) => !isCoolingDown(each, situation, options.coolMs));
  // If all models were unreachable, an unreachable one is better than none.
  const left = rested.length ? rested : able;
  for (const candidate of able)
    if (!left.includes(candidate)) out.push({ candidate, out: 'it could not be reached a moment ago' });
  const ratings = left
    .map((candidate) => scoreCandidate(candidate, situation, task, options))
    .toSorted((a, b) => b.total - a.total);
  const [best, next] = ratings;
  const { kind, complexity } = task;
  return {
    chosen: best?.candidate,
    kind,
    complexity,
    why: formatReason(best, next, out, options),
    ratings: [...ratings, ...out],
  };
}

function scoreCandidate(
  candidate: ModelCandidate,
  situation: RoutingContext,
  task: TaskFeatures,
  { weights }: RoutingOptions,
): ScoredRating {
  let [sum, all] = [0, 0];
  const scores = Object.entries(scorers).flatMap(([name, scorer]): readonly CandidateScore[] => {
    const key = name as CandidateScore['scorer'];
    const weight = weights[key];
    if (!(weight > 0) || !Number.isFinite(weight)) return [];
    const { score, why } = scorer(candidate, situation, task);
    sum += weight * score;
    all += weight;
    return [{ scorer: key, score, why }];
  });
  return { candidate, total: all > 0 ? sum / all : 0, scores };
}

/** Formats the reason: the rule that left one model, or the scorers by which the best leads. */
function formatReason(
  best: ScoredRating | undefined,
  next: ScoredRating | undefined,
  out: readonly CandidateRating[],
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

const scoresOf = (rating: ScoredRating): readonly CandidateScore[] => ('scores' in rating ? rating.scores : []);
