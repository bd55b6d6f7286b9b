// Circuit breaker of one model, based on cockatiel: opens after consecutive failures, then lets one trial request through.
import { CircuitState, circuitBreaker, ConsecutiveBreaker, handleWhen } from 'cockatiel';
import { FairleadError } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** When a circuit opens and for how long. */
export type CircuitBreakerOptions = { readonly failures: number; readonly coolMs: number };

/** One request through the circuit; the caller must report exactly one result. */
export interface CircuitPermit {
  succeed(): void;
  fail(error: unknown): void;
  /** Ended by us, which says nothing about the model; an undecided trial leaves the circuit open. */
  abandon(): void;
}

/** The state of a circuit: `closed` passes requests, `open` none, `half-open` one trial request. */
export type CircuitStatus = 'closed' | 'open' | 'half-open';

/** The circuit of one model, shared by all callers in the process. */
export interface CircuitBreaker {
  /** Lets a request through, or throws with the time until the next trial. With `patient` the caller may wait it out. */
  acquire(patient: boolean): CircuitPermit;
  /** The state, and how long it stays open. */
  status(): { readonly state: CircuitStatus; readonly forMs: number };
}

/** Returns true if an error indicates a failing server; rate limits and invalid requests do not. */
const isOutage = (error: unknown): boolean =>
  error instanceof FairleadError &&
  error.blame === 'provider' &&
  error.retry &&
  error.code !== 'provider/rate-limited' &&
  error.code !== 'provider/circuit-open';

/** Created once: an error object costs more than the rest of the call. */
const undecidedError = new FairleadError('provider/cut', 'The trial was not decided.', {
  blame: 'provider',
  retry: true,
});
const abandonedError = new FairleadError('run/cancelled', 'The request was abandoned.', { blame: 'harness' });

/** Creates a closed circuit. */
export function createCircuitBreaker(name: string, options: CircuitBreakerOptions, clock: Clock): CircuitBreaker {
  const breaker = circuitBreaker(handleWhen(isOutage), {
    breaker: new ConsecutiveBreaker(options.failures),
    // Cockatiel uses the wall clock, which can jump: its delay is zero, and our monotonic clock decides.
    halfOpenAfter: Number.NEGATIVE_INFINITY,
  });
  let openUntil = 0;
  breaker.onBreak(() => {
    openUntil = clock.now() + options.coolMs;
  });

  function closedFor(): number {
    if (breaker.state === CircuitState.HalfOpen) return options.coolMs;
    return breaker.state === CircuitState.Open ? openUntil - clock.now() : 0;
  }

  function open(afterMs: number, retry: boolean): FairleadError {
    const failure = breaker.lastFailure && 'error' in breaker.lastFailure ? breaker.lastFailure.error : undefined;
    const trying = breaker.state === CircuitState.HalfOpen ? 'is being tried by another request' : 'is left alone';
    return new FairleadError(
      'provider/circuit-open',
      `${name} failed ${options.failures} times in a row and ${trying} for ${Math.ceil(afterMs / 1000)} s more${failure instanceof Error ? `; the last failure: ${failure.message}` : '.'}`,
      { blame: 'provider', retry, afterMs, hint: 'Go on after that time, or name another model to fall back on.' },
    );
  }

  return {
    status() {
      if (breaker.state === CircuitState.Closed) return { state: 'closed', forMs: 0 };
      const forMs = breaker.state === CircuitState.Open ? Math.max(0, openUntil - clock.now()) : 0;
      return { state: forMs > 0 ? 'open' : 'half-open', forMs };
    },
    acquire(patient) {
      const left = closedFor();
      if (left > 0) throw open(left, patient);
      const outcome = Promise.withResolvers<void>();
      // The attempt itself throws the error to the caller.
      breaker.execute(() => outcome.promise).catch(() => {});
      const trial = breaker.state === CircuitState.HalfOpen;
      return {
        succeed: () => outcome.resolve(),
        fail: (error) => outcome.reject(error),
        abandon: () => outcome.reject(trial ? undecidedError : abandonedError),
      };
    },
  };
}
