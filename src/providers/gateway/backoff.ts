// Retry delays: exponential backoff with jitter, and the delay a provider asks for.
import type { FairleadError } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** How often and how long failed requests are retried. */
export type RetryOptions = {
  /** Number of retries. */
  readonly retries: number;
  /** The delay before retry n (from 0) is `baseMs` times 2^n, plus up to `jitterMs` at random. */
  readonly baseMs: number;
  readonly jitterMs: number;
  /** Max delay; if a provider asks for more, the request fails at once. */
  readonly maxMs: number;
};

/** Returns the delay before retry n (from 0) after this error. */
export function backoffDelay(retry: number, { afterMs }: FairleadError, options: RetryOptions, clock: Clock): number {
  const wait = afterMs ?? Math.min(options.maxMs, options.baseMs * 2 ** retry);
  return wait + options.jitterMs * clock.random();
}
