// Retries of a model request: the annotation that records each one, and its sentence for the user.
import type { Event, Fact } from './fact.ts';
import { isObject, type Json } from './json.ts';
import type { RetryNotice } from './ports.ts';

/** The key of the annotation that records a retry of a model request. */
export const retryAnnotationKey = 'provider-retry';

/** Returns the fact that records a retry. */
export const retryFact = ({ attempt, held, maxAttempts, waitMs, code, provider, why }: RetryNotice): Fact => ({
  type: 'annotation-added',
  key: retryAnnotationKey,
  value: Object.fromEntries(
    Object.entries({ attempt, held, maxAttempts, waitMs, code, provider, why }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Json,
});

/** Returns the retry that an event records; undefined for any other event. */
export function parseRetryNotice(event: Event): RetryNotice | undefined {
  if (event.type !== 'annotation-added' || event.key !== retryAnnotationKey || !isObject(event.value)) return undefined;
  const { attempt, held, maxAttempts, waitMs, code, provider, why } = event.value;
  if (typeof attempt !== 'number' || typeof why !== 'string') return undefined;
  return {
    attempt,
    why,
    ...(held === true ? { held } : {}),
    ...(typeof maxAttempts === 'number' ? { maxAttempts } : {}),
    ...(typeof waitMs === 'number' ? { waitMs } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
  };
}

/** Formats a retry as a sentence: what failed, how long the wait is, and which attempt follows. */
export function formatRetryNotice(notice: RetryNotice): string {
  const { waitMs = 0, why } = notice;
  if (notice.held) return `Rate limited (${why}), sending in ${formatSeconds(waitMs)}.`;
  const wait = waitMs > 0 ? `retrying in ${formatSeconds(waitMs)}, ` : '';
  const sentence = `${wait}${formatAttempt(notice)}.`;
  if (isRateLimit(notice)) return `${formatRateLimit(notice)}, ${sentence}`;
  return `${why.replace(/[.\s]+$/, '')}. ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}

/** Formats a retry for a status line while it waits: `rate limited, retrying in 3 s, attempt 2 of 4`. */
export function formatRetryStatus(notice: RetryNotice, leftMs: number): string {
  if (notice.held) return `rate limited${leftMs > 0 ? `, sending in ${formatSeconds(leftMs)}` : ''}`;
  const what = isRateLimit(notice) ? 'rate limited' : 'request failed';
  return `${what}, ${leftMs > 0 ? `retrying in ${formatSeconds(leftMs)}, ` : ''}${formatAttempt(notice)}`;
}

const formatAttempt = ({ attempt, maxAttempts }: RetryNotice): string =>
  maxAttempts === undefined ? 'trying another model' : `attempt ${attempt} of ${maxAttempts}`;

const isRateLimit = ({ code }: RetryNotice): boolean => code === 'provider/rate-limited';

function formatRateLimit({ why, provider }: RetryNotice): string {
  const status = /\(status (\d{3})\)/.exec(why)?.[1];
  return `Rate limited${status === undefined ? '' : ` (${status})`}${provider === undefined ? '' : ` by ${provider}`}`;
}

const formatSeconds = (ms: number): string =>
  ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;
