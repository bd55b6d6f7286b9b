// The bounds a run has unless it is given others: chosen so that a run that goes wrong ends soon and says why.
import { FairleadError, type Limits, type Provider } from '../core/index.ts';

/** Defaults: 25 turns, 5 failures in a row, 2 re-asks, 5 identical rounds, 100,000 characters a tool result. */
export const defaultLimits: Limits = {
  turns: 25,
  errors: 5,
  maxRetriesPerAnswer: 2,
  stuckAfter: 5,
  outputChars: 100_000,
};

/** Limits for a run on this provider: what was asked for over the defaults, and room for an answer in the model's window. */
export function resolveLimits(provider: Provider, asked: Partial<Limits> = {}): Limits {
  for (const [name, limit] of Object.entries(asked)) {
    if (Number.isFinite(limit) && limit >= 0) continue;
    throw new FairleadError('harness/bad-option', `The limit "${name}" must be a number of at least 0, not ${limit}.`, {
      blame: 'user',
      hint: 'Leave a limit out where nothing is to bind.',
    });
  }
  const room = provider.contextWindow === undefined ? {} : { context: Math.floor(provider.contextWindow * 0.9) };
  return { ...defaultLimits, ...room, ...asked };
}
