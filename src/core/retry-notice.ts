// Retries of a model request: the annotation that records each one, and its sentence for the user.
import type { Event, Fact } from './fact.ts';
import { isObject, type Json } from './json.ts';
import type { RetryNotice } from './ports.ts';

/** The key of the annotation that records a retry of a model request. */
export const retryAnnotationKey = 'provider-retry';

/** Returns the fact that records a retry. */
export const retryFact = ({ attempt, maxAttempts, waitMs, code, provider, why }: RetryNotice): Fact => ({
  type: 'annotation-added',
  key: retryAnnotationKey,
  value: Object.fromEntries(
    Object.entries({ attempt, maxAttempts, waitMs, code, provider, why }).filter(([, value]) => value !== undefined),
  ) as Json,
});

/** Returns the retry that an event records; undefined for any other event. */
export function parseRetryNotice(event: Event): RetryNotice | undefined {
  if (event.type !== 'annotation-added' || event.key !== retryAnnotationKey || !isObject(event.value)) return undefined;
  const { attempt, maxAttempts, waitMs, code, provider, why } = event.value;
  if (typeof attempt !== 'number' || typeof why !== 'string') return undefined;
  return {
    attempt,
    why,
    ...(typeof maxAttempts === 'number' ? { maxAttempts } : {}),
    ...(typeof waitMs === 'number' ? { waitMs } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
  };
}

/** Formats a retry as a sentence: what failed, how long the wait is, and which attempt follows. */
export function formatRetryNotice(notice: RetryNotice): string {
  const { attempt, maxAttempts, waitMs = 0, why } = notice;
  const count = maxAttempts === undefined ? 'trying another model' : `attempt ${attempt} of ${maxAttempts}`;
  const wait = waitMs > 0 ? `waiting ${formatSeconds(waitMs)}, ` : '';
  if (isRateLimit(notice)) return `${formatRateLimit(notice)}, ${wait}${count}.`;
  const sentence = `${wait}${count}.`;
  return `${why.replace(/[.\s]+$/, '')}. ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}

/** Formats a retry for a status line while it waits: `rate limited, attempt 2 of 4 in 3s`. */
export function formatRetryStatus(notice: RetryNotice, leftMs: number): string {
  const { attempt, maxAttempts } = notice;
  const what = isRateLimit(notice) ? 'rate limited' : 'request failed';
  const count = maxAttempts === undefined ? 'another model' : `attempt ${attempt} of ${maxAttempts}`;
  return `${what}, ${count}${leftMs > 0 ? ` in ${Math.ceil(leftMs / 1000)}s` : ''}`;
}

const isRateLimit = ({ code }: RetryNotice): boolean => code === 'provider/rate-limited';

function formatRateLimit({ why, provider }: RetryNotice): string {
  const status = /\(status (\d{3})\)/.exec(why)?.[1];
  return `Rate limited${status === undefined ? '' : ` (${status})`}${provider === undefined ? '' : ` by ${provider}`}`;
}

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)}s`;
