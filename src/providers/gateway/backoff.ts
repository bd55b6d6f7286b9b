// How long a failed request waits before it is tried again: ever longer, spread by chance, and as long as the provider asks.
import type { FairleadError } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** How often and how patiently a failed request is tried again. */
export type RetryOptions = {
  /** Tries after the first. */
  readonly retries: number;
  /** The wait before retry n (from 0) is `baseMs` times 2^n, and up to `jitterMs` more by chance. */
  readonly baseMs: number;
  readonly jitterMs: number;
  /** No wait is longer; one that a provider asks for and that is longer is an error at once. */
  readonly maxMs: number;
};

/** How long to wait before retry n (from 0), after this error. */
export function backoffDelay(retry: number, { afterMs }: FairleadError, options: RetryOptions, clock: Clock): number {
  const wait = afterMs ?? Math.min(options.maxMs, options.baseMs * 2 ** retry);
  return wait + options.jitterMs * clock.random();
}
