// Wakes who waits for a change. A bell that was rung while nobody waited at it rings at the next wait, so that no change is missed.

/** What can change: runs in the queue, letters, or the events of one session. */
export type ChangeTopic = 'queue' | 'letters' | `session ${number}`;

/** Hung up by who looks at something again and again: first the look, then the wait. */
export type Waiter = {
  /** Waits for a change since the last wait, an abort, the time given or the end of the store, and says whether there was a change. */
  wait(options: { readonly signal?: AbortSignal | undefined; readonly ms: number }): Promise<boolean>;
  remove(): void;
};

/** The bells of a store. */
export type Waiters = {
  add(topic: ChangeTopic): Waiter;
  notify(topic: string): void;
  notifyAll(): void;
  /** From now on nobody waits. */
  close(): void;
};

/** Bells, none hung up yet. */
export function createWaiters(): Waiters {
  const hung = new Map<string, Set<() => void>>();
  let closed = false;

  const ring = (topic: string): void => {
    for (const rung of hung.get(topic) ?? []) rung();
  };
  const ringAll = (): void => {
    for (const topic of hung.keys()) ring(topic);
  };

  function hang(topic: ChangeTopic): Waiter {
    let rang = false;
    let wake: (() => void) | undefined;
    const rung = (): void => {
      rang = true;
      wake?.();
    };
    const others = hung.get(topic) ?? new Set();
    hung.set(topic, others.add(rung));
    return {
      async wait({ signal, ms }) {
        if (!rang && !closed && !signal?.aborted) {
          const { promise, resolve } = Promise.withResolvers<void>();
          const late = setTimeout(resolve, ms);
          const abort = (): void => resolve();
          wake = resolve;
          signal?.addEventListener('abort', abort, { once: true });
          await promise;
          clearTimeout(late);
          signal?.removeEventListener('abort', abort);
          wake = undefined;
        }
        const changed = rang;
        rang = false;
        return changed;
      },
      remove() {
        others.delete(rung);
        if (others.size === 0 && hung.get(topic) === others) hung.delete(topic);
      },
    };
  }

  return {
    add: hang,
    notify: ring,
    notifyAll: ringAll,
    close() {
      closed = true;
      ringAll();
    },
  };
}
