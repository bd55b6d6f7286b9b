// Clock, timers and random numbers of the gateway: injectable for tests, monotonic for timeouts.

/** A monotonic clock with timers and random numbers. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls back once after a delay; returns a cancel function. An unreferenced timer does not keep the process alive. */
  timer(ms: number, fire: () => void, hold: boolean): () => void;
  /** A random number in [0, 1). */
  random(): number;
}

const maxTimerMs = 2 ** 31 - 1;

/** The system clock. */
export const systemClock: Clock = {
  // Read for every chunk: faster than `process.uptime` and `hrtime.bigint`, and Node loads a dozen modules for `performance`.
  now() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  timer(ms, fire, hold) {
    const timer = setTimeout(fire, Math.min(Math.max(0, ms), maxTimerMs));
    if (!hold) timer.unref();
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Waits; rejects with the abort reason as soon as the signal aborts. */
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
