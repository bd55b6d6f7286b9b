// The default limits of a run, and the reminder of its last turn.
import { FairleadError, type Limits, type Provider, type Reminder } from '../core/index.ts';

/** 25 turns, 5 consecutive failures, 2 retries of an answer, 5 identical call batches, 100,000 characters per tool result. */
export const defaultLimits: Limits = {
  turns: 25,
  errors: 5,
  maxRetriesPerAnswer: 2,
  stuckAfter: 5,
  outputChars: 100_000,
};

/** The limits of a run on this provider: the requested ones over the defaults, with a tenth of the context window left for the answer. */
export function resolveLimits(provider: Provider, requested: Partial<Limits> = {}): Limits {
  for (const [name, limit] of Object.entries(requested)) {
    if (Number.isFinite(limit) && limit >= 0) continue;
    throw new FairleadError('harness/bad-option', `The limit "${name}" must be a number of at least 0, not ${limit}.`, {
      blame: 'user',
      hint: 'Omit a limit that must not apply.',
    });
  }
  const context = provider.contextWindow === undefined ? {} : { context: Math.floor(provider.contextWindow * 0.9) };
  return { ...defaultLimits, ...context, ...requested };
}

/** Throws unless this is a possible number of turns. */
export function assertMaxTurns(maxTurns: number): void {
  if (!Number.isInteger(maxTurns) || maxTurns < 1)
    throw new FairleadError('harness/bad-option', `maxTurns must be a whole number of at least 1, not ${maxTurns}.`, {
      blame: 'user',
    });
}

/** Tells the model in the last turn of a run, and in no other, that it is the last. */
export const lastTurnReminder: Reminder = (turn, maxTurns) =>
  turn === maxTurns
    ? 'This is the last turn of this run. Give your complete answer now; no further tool results will be read.'
    : null;
