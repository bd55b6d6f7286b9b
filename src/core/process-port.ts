// Clock, timers and random ids of a process as a port, so that a simulation can replace them.

/** The clock, the timers and the random ids that a worker uses. */
export type ProcessPort = {
  /** Milliseconds since 1970; the clock may be wrong, and may jump. */
  readonly now: () => number;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
  /** Calls back once after a delay; returns the function that cancels the timer. */
  readonly timer: (ms: number, fire: () => void) => () => void;
  /** A new UUID. */
  readonly randomId: () => string;
};

/** The port of this process. */
export const systemPort: ProcessPort = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  timer(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
  randomId: () => crypto.randomUUID(),
};

/** Waits; an abort of the signal ends the wait. */
export async function sleepOn({ timer }: Pick<ProcessPort, 'timer'>, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const cancel = timer(ms, end);
  signal?.addEventListener('abort', end, { once: true });
  await promise;
  cancel();
  signal?.removeEventListener('abort', end);
}
