// Time and chance as the gateway sees them: one small door, so that no test has to wait and no clock that jumps can fool a timeout.

/** A clock that only goes forward, its timers, and a source of chance. */
export interface Clock {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Calls back once after this many milliseconds; the returned function cancels it. A timer that does not hold lets the process end. */
  timer(ms: number, fire: () => void, hold: boolean): () => void;
  /** A number from 0 up to, and without, 1. */
  random(): number;
}

const maxTimerMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  // `performance` would say the same, but Node loads a dozen modules for it.
  now: () => process.uptime() * 1000,
  timer(ms, fire, hold) {
    const timer = setTimeout(fire, Math.min(Math.max(0, ms), maxTimerMs));
    if (!hold) timer.unref();
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Waits; an abort ends the waiting at once with the reason of the abort. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) {
    reject(signal.reason);
    return promise;
  }
  const stop = (): void => {
    cancel();
    reject(signal.reason);
  };
  const cancel = clock.timer(
    ms,
    () => {
      signal.removeEventListener('abort', stop);
      resolve();
    },
    true,
  );
  signal.addEventListener('abort', stop, { once: true });
  return promise;
}
