// Hard rules of the router: exclude a model before scoring.
import type { ModelCandidate, RoutingContext } from './candidate.ts';
import { runsOfCandidate } from './scorers.ts';

/** The share of the context window a request may fill; the rest is for the response. */
const maxWindowShare = 0.9;

/** Returns why a model is excluded; undefined if it is allowed. */
export function exclusionReason(candidate: ModelCandidate, routingContext: RoutingContext): string | undefined {
  const { local, unusable, window, tools, images, name } = candidate;
  const { needs, context } = routingContext;
  if (routingContext.private && !local) return 'this is private, and it is not on your own machines';
  if (unusable !== undefined) return unusable;
  if (routingContext.except?.includes(name)) return 'it failed just now';
  if (needs.tools && tools === false) return 'it cannot call tools';
  if (needs.images && images === false) return 'it sees no pictures';
  if (window !== undefined && context > window * maxWindowShare)
    return `the conversation needs about ${context} tokens, and it holds ${window}`;
  return budgetExclusion(candidate, routingContext);
}

function budgetExclusion({ price }: ModelCandidate, { usdLeft, context }: RoutingContext): string | undefined {
  if (usdLeft === undefined) return undefined;
  if (!price) return 'its price is unknown, so a budget cannot be kept';
  const least = (context * (price.cacheRead ?? price.input)) / 1e6;
  return least > usdLeft ? `it costs at least $${least.toFixed(4)}, and $${usdLeft.toFixed(4)} is left` : undefined;
}

/** Returns true if the model was recently unreachable and has not responded since. */
export function isCoolingDown(candidate: ModelCandidate, { past, now }: RoutingContext, coolMs: number): boolean {
  const latest = runsOfCandidate(candidate, past).toSorted((a, b) => b.time - a.time)[0];
  return latest?.ended === 'unreachable' && now - latest.time < coolMs;
}
