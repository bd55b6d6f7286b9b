// Watches the kill switch for a worker: it is polled, and counts as stopped if it cannot be read for two seconds.
import {
  FairleadError,
  errorMessage,
  systemPort,
  type KillSwitch,
  type KillSwitchState,
  type ProcessPort,
} from '../core/index.ts';

/** The options of a watcher. */
export type KillSwitchWatchOptions = {
  /** Called when work must stop and when it may continue. */
  readonly onChange?: (state: KillSwitchState) => void;
  /** Milliseconds between two reads; 500 by default. */
  readonly pollMs?: number;
  /** Milliseconds after which a read is too old to act on; 2,000 by default. */
  readonly staleMs?: number;
  /** The clock and the timers; those of this process by default. */
  readonly port?: Pick<ProcessPort, 'monotonicMs' | 'timer'>;
};

/** A watched kill switch. */
export type KillSwitchWatcher = {
  /** Returns a state that is recent enough to act on. */
  status(): Promise<KillSwitchState>;
  /** Throws while work must stop. */
  assertNotStopped(): Promise<void>;
  /** Aborts when work must stop. */
  readonly activeSignal: AbortSignal;
  /** Waits until work may continue, or the signal aborts. */
  waitUntilActive(signal: AbortSignal): Promise<void>;
  close(): void;
};

/** Starts to watch a kill switch. It counts as stopped until it was read once. */
export function watchKillSwitch(killSwitch: KillSwitch, options: KillSwitchWatchOptions = {}): KillSwitchWatcher {
  const { onChange, pollMs = 500, staleMs = 2000, port = systemPort } = options;
  let lastRead: { readonly state: KillSwitchState; readonly at: number } | undefined;
  let readError = 'it was not read yet';
  let reading: Promise<void> | undefined;
  let wasStopped: boolean | undefined;
  let active = new AbortController();
  let activated = Promise.withResolvers<void>();
  active.abort();

  const current = (): KillSwitchState =>
    lastRead && port.monotonicMs() - lastRead.at <= staleMs
      ? lastRead.state
      : { stopped: true, reason: `The kill switch cannot be read: ${readError}` };

  /** Applies the current state before any caller acts on it. */
  function update(): KillSwitchState {
    const state = current();
    if (state.stopped === wasStopped) return state;
    // Callers that wait since before the first read keep their promise.
    if (wasStopped === false) activated = Promise.withResolvers();
    wasStopped = state.stopped;
    if (wasStopped) {
      active.abort();
    } else {
      active = new AbortController();
      activated.resolve();
    }
    onChange?.(state);
    return state;
  }

  async function readOnce(): Promise<void> {
    const at = port.monotonicMs();
    try {
      lastRead = { state: await withTimeout(port, staleMs / 2, killSwitch.status()), at };
    } catch (error) {
      readError = errorMessage(error);
    }
  }

  const read = (): Promise<void> => (reading ??= readOnce().finally(() => (reading = undefined)));
  const tick = (): void => {
    cancelTick = port.timer(pollMs, tick);
    // While a read hangs, the last one may become too old.
    if (reading) update();
    void read().then(update);
  };
  const status = async (): Promise<KillSwitchState> => {
    if (current().stopped) await read();
    return update();
  };
  let cancelTick = (): void => {};
  tick();
  return {
    status,
    async assertNotStopped() {
      const { stopped, reason } = await status();
      if (stopped) throw new FairleadError('run/left', formatStoppedMessage(reason), { blame: 'user', retry: true });
    },
    get activeSignal() {
      return active.signal;
    },
    async waitUntilActive(signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal.aborted) return;
      const onAbort = (): void => resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      await Promise.race([activated.promise, promise]);
      signal.removeEventListener('abort', onAbort);
    },
    close: () => cancelTick(),
  };
}

/** Returns the message that the fleet is stopped, with the reason. */
export const formatStoppedMessage = (reason: string | undefined): string =>
  `The fleet is stopped${reason === undefined || reason === '' ? '.' : `: ${reason}`}`;

async function withTimeout<T>({ timer }: Pick<ProcessPort, 'timer'>, ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = timer(ms, () => reject(new Error(`no response within ${ms} ms`)));
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel();
  }
}
