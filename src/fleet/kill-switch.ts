// The kill-switch as a worker heeds it: read often, and what could not be read for two seconds is stopped.
import { FairleadError, errorMessage, type KillSwitch, type KillSwitchState } from '../core/index.ts';

/** How a kill-switch is watched. */
export type KillSwitchWatchOptions = {
  /** Told each time that work has to stop or may go on. */
  readonly onChange?: (standing: KillSwitchState) => void;
  /** Milliseconds between two readings; 500 unless given. */
  readonly pollMs?: number;
  /** Milliseconds after which a reading counts for nothing; 2,000 unless given. */
  readonly staleMs?: number;
};

/** A kill-switch that is watched. */
export type KillSwitchWatcher = {
  /** How it stands, by a reading that is fresh enough to act on. */
  status(): Promise<KillSwitchState>;
  /** Throws while work must stop. */
  assertNotStopped(): Promise<void>;
  /** A signal for work that goes on now: it aborts when work has to stop. */
  readonly activeSignal: AbortSignal;
  /** Waits until work may go on, or the signal aborts. */
  waitUntilActive(signal: AbortSignal): Promise<void>;
  close(): void;
};

/** Watches a kill-switch. Until it was read once, work is stopped. */
export function watchKillSwitch(killSwitch: KillSwitch, options: KillSwitchWatchOptions = {}): KillSwitchWatcher {
  const { onChange, pollMs = 500, staleMs = 2000 } = options;
  let good: { readonly standing: KillSwitchState; readonly at: number } | undefined;
  let trouble = 'it was not read yet';
  let reading: Promise<void> | undefined;
  let told: boolean | undefined;
  let going = new AbortController();
  let goes = Promise.withResolvers<void>();
  going.abort();

  const now = (): KillSwitchState =>
    good && performance.now() - good.at <= staleMs
      ? good.standing
      : { stopped: true, reason: `The kill-switch cannot be read: ${trouble}` };

  /** Acts on how it stands, before anybody else does. */
  function tell(): KillSwitchState {
    const standing = now();
    if (standing.stopped === told) return standing;
    // Who waits from before the first reading goes on waiting for the same.
    if (told === false) goes = Promise.withResolvers();
    told = standing.stopped;
    if (told) {
      going.abort();
    } else {
      going = new AbortController();
      goes.resolve();
    }
    onChange?.(standing);
    return standing;
  }

  async function readOnce(): Promise<void> {
    const at = performance.now();
    try {
      good = { standing: await withTimeout(staleMs / 2, killSwitch.status()), at };
    } catch (error) {
      trouble = errorMessage(error);
    }
  }

  const read = (): Promise<void> => (reading ??= readOnce().finally(() => (reading = undefined)));
  const tick = (): void => {
    // While one hangs, the one before it grows old.
    if (reading) tell();
    void read().then(tell);
  };
  const standing = async (): Promise<KillSwitchState> => {
    if (now().stopped) await read();
    return tell();
  };
  const timer = setInterval(tick, pollMs);
  tick();
  return {
    status: standing,
    async assertNotStopped() {
      const { stopped, reason: why } = await standing();
      if (stopped) throw new FairleadError('run/left', formatStoppedMessage(why), { blame: 'user', retry: true });
    },
    get activeSignal() {
      return going.signal;
    },
    async waitUntilActive(signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal.aborted) return;
      const quit = (): void => resolve();
      signal.addEventListener('abort', quit, { once: true });
      await Promise.race([goes.promise, promise]);
      signal.removeEventListener('abort', quit);
    },
    close: () => clearInterval(timer),
  };
}

/** That a fleet is stopped, and why, as a sentence. */
export const formatStoppedMessage = (why: string | undefined): string =>
  `The fleet is stopped${why === undefined || why === '' ? '.' : `: ${why}`}`;

async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
