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
  routingContext: RoutingContext,
  options: RoutingOptions = defaultRoutingOptions,
): RoutingDecision {
  const task = taskFeatures(routingContext.task, options.words);
  const out: CandidateRating[] = [];
  const eligible: ModelCandidate[] = [];
  for (const candidate of candidates) {
    const why = exclusionReason(candidate, routingContext);
    if (why === undefined) eligible.push(candidate);
    else out.push({ candidate, out: why });
  }
  const available = eligible.filter((each) => !isCoolingDown(each, routingContext, options.coolMs));
  // If all models were unreachable, an unreachable one is better than none.
  const rated = available.length ? available : eligible;
  for (const candidate of eligible)
    if (!rated.includes(candidate)) out.push({ candidate, out: 'it could not be reached a moment ago' });
  const ratings = rated
    .map((candidate) => scoreCandidate(candidate, routingContext, task, options))
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
  routingContext: RoutingContext,
  task: TaskFeatures,
  { weights }: RoutingOptions,
): ScoredRating {
  let [sum, weightSum] = [0, 0];
  const scores = Object.entries(scorers).flatMap(([name, scorer]): readonly CandidateScore[] => {
    const key = name as CandidateScore['scorer'];
    const weight = weights[key];
    if (!(weight > 0) || !Number.isFinite(weight)) return [];
    const { score, why } = scorer(candidate, routingContext, task);
    sum += weight * score;
    weightSum += weight;
    return [{ scorer: key, score, why }];
  });
  return { candidate, total: weightSum > 0 ? sum / weightSum : 0, scores };
}

/** Formats the reason: the rule that left one model, or the scorers by which the best leads. */
function formatReason(
  best: ScoredRating | undefined,
  next: ScoredRating | undefined,
  out: readonly CandidateRating[],
  { weights }: RoutingOptions,
): string {
  const exclusions = out.map((each) => `${each.candidate.name}: ${'out' in each ? each.out : ''}`).join('; ');
  if (!best) return exclusions ? `No model is left (${exclusions}).` : 'There is no model to choose from.';
  if (!next) return exclusions ? `It is the only one left (${exclusions}).` : 'It is the only one there is.';
  const [mine, other] = [scoresOf(best), scoresOf(next)];
  const ahead = mine
    .map((each, i) => ({ ...each, by: weights[each.scorer] * (each.score - (other[i]?.score ?? 0)) }))
    .filter(({ by }) => by > 0.005)
    .toSorted((a, b) => b.by - a.by)
    .slice(0, 2);
  const reasons = ahead.map(({ scorer, why }) => `${scorer}: ${why}`).join('; ');
  return reasons
    ? `Ahead of ${next.candidate.name} by ${reasons}.`
    : `As good as ${next.candidate.name}, and listed first.`;
}

const scoresOf = (rating: ScoredRating): readonly CandidateScore[] => ('scores' in rating ? rating.scores : []);
