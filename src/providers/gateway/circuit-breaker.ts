// Circuit breaker of one model: opens after consecutive failures, then admits one trial request whose result decides.
import { FairleadError } from '../../core/index.ts';
import type { Clock } from './clock.ts';

/** When a circuit opens and for how long. */
export type CircuitBreakerOptions = {
  /** The number of consecutive failures that opens the circuit. */
  readonly failures: number;
  /** How long the circuit stays open before a trial request, in milliseconds. */
  readonly coolMs: number;
};

/** One request through the circuit; only the first reported result counts. */
export interface CircuitPermit {
  succeed(): void;
  fail(error: FairleadError): void;
  /** The request ended without a result of the model; an undecided trial leaves the circuit open. */
  abandon(): void;
}

/** The state of a circuit: `closed` admits requests, `open` none, `half-open` one trial request. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** The circuit of one model, shared by all callers in the process. */
export interface CircuitBreaker {
  /** Admits a request, or throws with the time until the next trial; `canRetry` marks that error as retryable. */
  acquire(canRetry: boolean): CircuitPermit;
  /** The state, and the milliseconds until an open circuit admits a trial request. */
  status(): { readonly state: CircuitState; readonly remainingOpenMs: number };
}

/** Returns true if an error indicates a failing server; rate limits and invalid requests do not. */
const isOutage = (error: FairleadError): boolean =>
  error.blame === 'provider' &&
  error.retry &&
  error.code !== 'provider/rate-limited' &&
  error.code !== 'provider/circuit-open';

/** Created once: an error object costs more than the rest of the call. */
const undecidedError = new FairleadError('provider/cut', 'The trial was not decided.', {
  blame: 'provider',
  retry: true,
});

/** Creates a closed circuit. */
export function createCircuitBreaker(name: string, options: CircuitBreakerOptions, clock: Clock): CircuitBreaker {
  let state: CircuitState = 'closed';
  let failures = 0;
  let lastFailure: FairleadError | undefined;
  let openUntil = 0;
  let currentTrial: symbol | undefined;

  function open(): void {
    state = 'open';
    openUntil = clock.now() + options.coolMs;
    currentTrial = undefined;
  }

  function close(): void {
    state = 'closed';
    failures = 0;
    currentTrial = undefined;
  }

  function onOutage(error: FairleadError, trial: symbol | undefined): void {
    lastFailure = error;
    if (trial) {
      // A request that was admitted before the trial can have reopened the circuit; then the trial does not count.
      if (trial === currentTrial) open();
      return;
    }
    failures++;
    if (failures >= options.failures && state !== 'open') open();
  }

  function createOpenError(afterMs: number, retry: boolean): FairleadError {
    const seconds = Math.ceil(afterMs / 1000);
    const status =
      state === 'half-open'
        ? `is being tested by another request, retry in ${seconds} s`
        : `is paused for another ${seconds} s`;
    const details = lastFailure ? `; the last failure: ${lastFailure.message}` : '.';
    return new FairleadError(
      'provider/circuit-open',
      `${name} failed ${options.failures} times in a row and ${status}${details}`,
      { blame: 'provider', retry, afterMs, hint: 'Retry after that time, or configure a fallback model.' },
    );
  }

  return {
    status() {
      if (state === 'closed') return { state, remainingOpenMs: 0 };
      const remainingOpenMs = state === 'open' ? Math.max(0, openUntil - clock.now()) : 0;
      return { state: remainingOpenMs > 0 ? 'open' : 'half-open', remainingOpenMs };
    },
    acquire(canRetry) {
      const waitMs = state === 'half-open' ? options.coolMs : openUntil - clock.now();
      if (state !== 'closed' && waitMs > 0) throw createOpenError(waitMs, canRetry);
      const trial = state === 'closed' ? undefined : Symbol('trial');
      if (trial) {
        state = 'half-open';
        currentTrial = trial;
      }
      let isSettled = false;
      const settle = (report: () => void): void => {
        if (!isSettled) report();
        isSettled = true;
      };
      const onResponse = (): void => {
        if (trial && trial === currentTrial) close();
      };
      return {
        succeed: () =>
          settle(() => {
            if (trial) onResponse();
            else failures = 0;
          }),
        // Any other error shows that the server responds.
        fail: (error) => settle(() => (isOutage(error) ? onOutage(error, trial) : onResponse())),
        abandon: () => settle(() => trial && onOutage(undecidedError, trial)),
      };
    },
  };
}
