// Retrying, on cockatiel: its policy grants tries one after the other, and the stream of each try stays in the hands of the gateway.
import { handleWhen, retry } from 'cockatiel';
import { FairleadError } from '../../core/index.ts';
import type { RetryOptions } from './backoff.ts';

/** One try: say how it went. */
export interface RetryAttempt {
  /** How many came before it. */
  readonly number: number;
  succeed(): void;
  fail(error: unknown): void;
}

/** Grants tries until one passes or no more are due; then throws what the last one failed with. */
export type RetryPolicy = () => AsyncGenerator<RetryAttempt, void, void>;

/**
 * A policy that grants tries. Cockatiel counts them and decides by the error whether there is another. Its own pause between
 * them can be neither aborted nor put on another clock, so it is nil, and the gateway waits before the try begins.
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
      // Whoever has what they wanted does not come back to hear how it ended.
      granted.promise.catch(() => {});
      yield one;
    }
  };
}
