// What rules a model out before anything is weighed. No score can bring it back.
import type { ModelCandidate, RoutingContext } from './candidate.ts';
import { runsOfCandidate } from './scorers.ts';

/** The share of a window that a request may fill: the rest is for the answer. */
const maxWindowShare = 0.9;

/** Why this model may not be chosen; nothing if it may. */
export function exclusionReason(candidate: ModelCandidate, situation: RoutingContext): string | undefined {
  const { local, unusable, window, tools, images, name } = candidate;
  const { needs, context } = situation;
  if (situation.private && !local) return 'this is private, and it is not on your own machines';
  if (unusable !== undefined) return unusable;
  if (situation.except?.includes(name)) return 'it failed just now';
  if (needs.tools && tools === false) return 'it cannot call tools';
  if (needs.images && images === false) return 'it sees no pictures';
  if (window !== undefined && context > window * maxWindowShare)
    return `the conversation needs about ${context} tokens, and it holds ${window}`;
  return budgetExclusion(candidate, situation);
}

function budgetExclusion({ price }: ModelCandidate, { usdLeft, context }: RoutingContext): string | undefined {
  if (usdLeft === undefined) return undefined;
  if (!price) return 'its price is unknown, so a budget cannot be kept';
  const least = (context * (price.cacheRead ?? price.input)) / 1e6;
  return least > usdLeft ? `it costs at least $${least.toFixed(4)}, and $${usdLeft.toFixed(4)} is left` : undefined;
}

/** Whether it could not be reached lately, and has not answered since. */
export function isCoolingDown(candidate: ModelCandidate, { past, now }: RoutingContext, coolMs: number): boolean {
  const latest = runsOfCandidate(candidate, past).toSorted((a, b) => b.time - a.time)[0];
  return latest?.ended === 'unreachable' && now - latest.time < coolMs;
}
