// The kill-switch as a worker heeds it: read often, and what cannot be read for two seconds is stopped.
import { FairleadError, messageOf, type KillSwitch, type Standing } from '../core/index.ts';

/** How a kill-switch is watched. */
export type SwitchOptions = {
  /** Told each time that work has to stop or may go on. */
  readonly changed: (standing: Standing) => void;
  /** Milliseconds between two readings. */
  readonly everyMs?: number;
  /** Milliseconds after which a reading counts for nothing. */
  readonly staleMs?: number;
};

/** A kill-switch that is watched. */
export type SwitchWatch = {
  /** How it stands, by a reading that is fresh enough to act on. */
  standing(): Promise<Standing>;
  /** Throws while work must stop. */
  mustGo(): Promise<void>;
  close(): void;
};

/** Watches a kill-switch. Until it was read once, work is stopped. */
export function watchSwitch(killSwitch: KillSwitch, options: SwitchOptions): SwitchWatch {
  const { changed, everyMs = 500, staleMs = 2000 } = options;
  let good: { readonly standing: Standing; readonly at: number } | undefined;
  let trouble = 'It was not read yet.';
  let reading: Promise<void> | undefined;
  let told: boolean | undefined;

  const now = (): Standing =>
    good && performance.now() - good.at <= staleMs
      ? good.standing
      : { stopped: true, why: `The kill-switch cannot be read: ${trouble}` };

  function tell(): Standing {
    const standing = now();
    if (standing.stopped !== told) {
      told = standing.stopped;
      changed(standing);
    }
    return standing;
  }

  async function readOnce(): Promise<void> {
    const at = performance.now();
    try {
      good = { standing: await withTime(killSwitch.standing(), staleMs / 2), at };
    } catch (error) {
      trouble = messageOf(error);
    }
  }

  const read = (): Promise<void> => (reading ??= readOnce().finally(() => (reading = undefined)));
  const tick = (): void => {
    // One that hangs is judged by its age while the next waits for it.
    if (reading) tell();
    void read().then(tell);
  };
  const timer = setInterval(tick, everyMs);
  tick();
  return {
    async standing() {
      if (now().stopped) await read();
      return tell();
    },
    async mustGo() {
      const { stopped, why } = await this.standing();
      if (stopped) throw stoppedError(why);
    },
    close: () => clearInterval(timer),
  };
}

const stoppedError = (why: string | undefined): FairleadError =>
  new FairleadError('run/left', `The fleet is stopped${why === undefined ? '.' : `: ${why}`}`, { blame: 'user' });

async function withTime<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
