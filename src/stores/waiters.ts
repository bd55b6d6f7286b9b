// Wait list by topic: wakes the readers that wait for a change. A change that comes between two waits ends the next wait at once.
import { systemPort, type ProcessPort } from '../core/index.ts';

/** What can change: runs in the queue, inbox messages, or the events of one session. */
export type ChangeTopic = 'queue' | 'inbox' | `session ${number}`;

/** Registered by a reader that alternates between reading and waiting. */
export type Waiter = {
  /**
   * Waits for a change since the last wait, an abort, the timeout, or the close of the store. Returns whether there was a change.
   * Without `ms` there is no timeout.
   */
  wait(options?: { readonly signal?: AbortSignal | undefined; readonly ms?: number | undefined }): Promise<boolean>;
  remove(): void;
};

/** The wait list of a store. */
export type Waiters = {
  add(topic: ChangeTopic): Waiter;
  notify(topic: string): void;
  notifyAll(): void;
  /** Ends all waits, now and later. */
  close(): void;
};

/** Called when the first wait begins and when the last one has ended. */
export type WaitObserver = { onActive(): void; onIdle(): void };

/** Creates an empty wait list. */
export function createWaiters(
  observer?: WaitObserver,
  { timer: startTimer }: Pick<ProcessPort, 'timer'> = systemPort,
): Waiters {
  const listeners = new Map<string, Set<() => void>>();
  let waiting = 0;
  let closed = false;

  const notify = (topic: string): void => {
    for (const listener of listeners.get(topic) ?? []) listener();
  };
  const notifyAll = (): void => {
    for (const topic of listeners.keys()) notify(topic);
  };

  async function waitFor(promise: Promise<void>): Promise<void> {
    if (++waiting === 1) observer?.onActive();
    try {
      await promise;
    } finally {
      if (--waiting === 0) observer?.onIdle();
    }
  }

  function add(topic: ChangeTopic): Waiter {
    let changed = false;
    let wake: (() => void) | undefined;
    const listener = (): void => {
      changed = true;
      wake?.();
    };
    const sameTopic = listeners.get(topic) ?? new Set();
    listeners.set(topic, sameTopic.add(listener));
    return {
      async wait({ signal, ms } = {}) {
        if (!changed && !closed && !signal?.aborted) {
          const { promise, resolve } = Promise.withResolvers<void>();
          const cancel = ms === undefined ? undefined : startTimer(ms, resolve);
          const abort = (): void => resolve();
          wake = resolve;
          signal?.addEventListener('abort', abort, { once: true });
          await waitFor(promise);
          cancel?.();
          signal?.removeEventListener('abort', abort);
          wake = undefined;
        }
        const hasChanged = changed;
        changed = false;
        return hasChanged;
      },
      remove() {
        sameTopic.delete(listener);
        if (sameTopic.size === 0 && listeners.get(topic) === sameTopic) listeners.delete(topic);
      },
    };
  }

  return {
    add,
    notify,
    notifyAll,
    close() {
      closed = true;
      notifyAll();
    },
  };
}
