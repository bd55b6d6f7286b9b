// The circuit breaker of one model, on cockatiel: after failures in a row the model is left alone, then tried by one request alone.
import { CircuitState, circuitBreaker, ConsecutiveBreaker, handleWhen } from 'cockatiel';
import { FairleadError } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** When a circuit opens and for how long. */
export type CircuitBreakerOptions = { readonly failures: number; readonly coolMs: number };

/** One request's way through the circuit; exactly one of its endings is to be called. */
export interface CircuitPermit {
  succeed(): void;
  fail(error: unknown): void;
  /** Ended by us, which says nothing about the model; a trial that was not decided leaves the circuit open. */
  abandon(): void;
}

/** Where a circuit stands: `closed` lets requests through, `open` none, `half-open` one that is to find out. */
export type CircuitStatus = 'closed' | 'open' | 'half-open';

/** The circuit of one model, shared by everything in the process that asks it. */
export interface CircuitBreaker {
  /** Lets a request through, or says when the next may try. With `patient` the error may be waited out. */
  acquire(patient: boolean): CircuitPermit;
  /** Where it stands, and for how long nobody may ask. */
  status(): { readonly state: CircuitStatus; readonly forMs: number };
}

/** Whether an error says that the model's server is in trouble: limits and the request's own faults do not. */
const isOutage = (error: unknown): boolean =>
  error instanceof FairleadError &&
  error.blame === 'provider' &&
  error.retry &&
  error.code !== 'provider/rate-limited' &&
  error.code !== 'provider/circuit-open';

/** Made once: an error costs more than all the rest of a passage. */
const undecidedError = new FairleadError('provider/cut', 'The trial was not decided.', {
  blame: 'provider',
  retry: true,
});
const abandonedError = new FairleadError('run/cancelled', 'The request was abandoned.', { blame: 'harness' });

/** A closed circuit. */
export function createCircuitBreaker(name: string, options: CircuitBreakerOptions, clock: Clock): CircuitBreaker {
  const breaker = circuitBreaker(handleWhen(isOutage), {
    breaker: new ConsecutiveBreaker(options.failures),
    // Cockatiel times the opening by the wall clock, which can jump: it is told to be ready always, and our clock decides.
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
      // What it rejects with is thrown to the one who asked by the attempt itself.
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
