// Retry policy based on cockatiel: grants attempts one after the other; the gateway keeps the stream of each attempt.
import { handleWhen, retry } from 'cockatiel';
import { FairleadError } from '../../core/index.ts';
import type { RetryOptions } from './backoff.ts';

/** One attempt; the caller reports its result. */
export interface RetryAttempt {
  /** Number of earlier attempts. */
  readonly number: number;
  succeed(): void;
  fail(error: unknown): void;
}

/** Yields attempts until one succeeds or none is left; then throws the last error. */
export type RetryPolicy = () => AsyncGenerator<RetryAttempt, void, void>;

/**
 * Creates the policy. Cockatiel counts attempts and decides by the error. Its own delay between
 * attempts can be neither aborted nor put on another clock, so it is zero, and the gateway waits before an attempt.
 */
export function createRetryPolicy(options: RetryOptions): RetryPolicy {
  const again = (error: unknown): boolean =>
    error instanceof FairleadError && error.retry && (error.afterMs ?? 0) <= options.maxMs;
  const policy = retry(handleWhen(again), { maxAttempts: options.retries });
  return async function* tries() {
    let granted = Promise.withResolvers<RetryAttempt>();
    const whole = policy.execute(({ attempt }) => {
      const outcome = Promise.withResolvers<void>();
      granted.resolve({ number: attempt, succeed: outcome.resolve, fail: outcome.reject });
      return outcome.promise;
    });
    whole.catch((error: unknown) => granted.reject(error));
    for (;;) {
      const one = await granted.promise;
      granted = Promise.withResolvers<RetryAttempt>();
      // A consumer that has its result does not read the end of the generator.
      granted.promise.catch(() => {});
      yield one;
    }
  };
}
