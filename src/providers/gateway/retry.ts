// Error handling of the gateway: retry after a delay, fall back to the next model, or fail.
import { FairleadError, isObject, isValidUsage, trimEndChars, whitespaceChars, type Usage } from '../../core/index.ts';
import type { Clock } from './clock.ts';
import { rateLimitedError } from './rate-limiter.ts';

/** How often and after which delay a failed request is retried. */
export type RetryOptions = {
  /** Number of retries. */
  readonly retries: number;
  /** The delay before retry n (from 0) is `baseMs` times 2^n, plus up to `jitterMs` at random. */
  readonly baseMs: number;
  readonly jitterMs: number;
  /** Max delay; if a provider asks for more, the request fails at once. */
  readonly maxMs: number;
};

/** Returns true if the same model may be tried again after this error. */
export const isRetryable = ({ retry, afterMs = 0 }: FairleadError, { maxMs }: RetryOptions): boolean =>
  retry && afterMs <= maxMs;

/** Returns the delay before retry n (from 0) after this error: the one the provider asks for, or exponential backoff, with jitter. */
export function backoffDelay(retry: number, { afterMs }: FairleadError, options: RetryOptions, clock: Clock): number {
  const delayMs = afterMs ?? Math.min(options.maxMs, options.baseMs * 2 ** retry);
  return delayMs + options.jitterMs * clock.random();
}

/** A model that failed: the error and the number of attempts. */
export type FailedModel = { readonly key: string; readonly error: FairleadError; readonly attempts: number };

/** Normalizes an error of a provider; a rate limit that is too long to wait for states its end. */
export function normalizeProviderError(thrown: unknown, key: string, maxMs: number): FairleadError {
  if (!(thrown instanceof FairleadError)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new FairleadError('provider/unexpected', `${key} failed in an unexpected way: ${message}`, {
      blame: 'provider',
      cause: thrown,
    });
  }
  const { code, afterMs } = thrown;
  return code === 'provider/rate-limited' && afterMs !== undefined && afterMs > maxMs
    ? rateLimitedError(key, afterMs, thrown)
    : thrown;
}

/** Returns true if another model can help: not for an invalid request, nor for one that can be compacted. */
export const shouldFallBack = (error: FairleadError): boolean =>
  error.blame !== 'user' && error.code !== 'provider/context-too-long';

/** Creates the final error: the last error, the number of attempts, and the failures of earlier models. Not retryable. */
export function finalError(failed: readonly FailedModel[], { usage, usd }: FailedUsage): FairleadError {
  const { error, attempts } = failed.at(-1) as FailedModel;
  const earlier = failed.slice(0, -1);
  if (attempts <= 1 && earlier.length === 0 && !error.retry) return error;
  const earlierText = earlier
    .map((each) => `; before that, ${each.key}: ${formatFailure(each.error, each.attempts)}`)
    .join('');
  return new FairleadError(error.code, `${formatFailure(error, attempts)}${earlierText}.`, {
    blame: error.blame,
    retry: false,
    cause: error,
    ...(error.afterMs === undefined ? {} : { afterMs: error.afterMs }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(usage === undefined ? {} : { usage }),
    ...(usd > 0 ? { usd } : {}),
  });
}

const formatFailure = ({ message }: FairleadError, attempts: number): string =>
  `${trimEndChars(message, `.${whitespaceChars}`)}${attempts > 1 ? ` (tried ${attempts} times)` : ''}`;

/** What the failed attempts of one request used and cost, as far as their errors report it. */
export type FailedUsage = { readonly usage: Usage | undefined; readonly usd: number };

/** Adds two usages; a count that neither has stays unknown. */
export const addUsages = (a: Usage, b: Usage): Usage =>
  Object.fromEntries(
    usageKeys.flatMap((key) =>
      a[key] === undefined && b[key] === undefined ? [] : [[key, (a[key] ?? 0) + (b[key] ?? 0)]],
    ),
  );

const usageKeys = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const;

/** Returns the usage of a failed attempt, if its error reports it. */
export function usageOfError(error: unknown): Usage | undefined {
  if (!isObject(error) || !isObject(error['usage'])) return undefined;
  const usage = error['usage'] as Usage;
  return isValidUsage(usage) ? usage : undefined;
}
