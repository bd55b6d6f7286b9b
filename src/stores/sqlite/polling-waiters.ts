// Wakes who waits for a change: at once for one made in this process, by a cheap look every now and then for others'.

/** What can change: runs in the queue, letters, or the events of one session. */
export type ChangeTopic = 'queue' | 'letters' | `session ${number}`;

/** Who waits for what. */
export type PollingWaiters = {
  /** Something changed here. */
  notify(topic: ChangeTopic): void;
  /** Waits for the next change of a topic, an abort, the time given or the end of the store; a change that another process made wakes every topic. */
  waitForChange(
    topic: ChangeTopic,
    options?: { readonly signal?: AbortSignal | undefined; readonly ms?: number },
  ): Promise<void>;
  close(): void;
};

/** Watches; `version` answers a number that is another one once another process has written. */
export function createPollingWaiters(version: () => number, pollMs: number): PollingWaiters {
  const waiting = new Map<ChangeTopic, Set<() => void>>();
  let seen: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function wake(topic: ChangeTopic): void {
    for (const each of waiting.get(topic) ?? []) each();
  }

  /** A store that cannot be looked at has changed for sure: whoever waits looks for itself and says what is wrong. */
  function look(): void {
    let now: number | undefined;
    try {
      now = version();
    } catch {}
    if (now !== undefined && now === seen) return;
    seen = now;
    for (const topic of waiting.keys()) wake(topic);
  }

  function forget(topic: ChangeTopic, wake: () => void): void {
    const set = waiting.get(topic);
    set?.delete(wake);
    if (set?.size === 0) waiting.delete(topic);
    if (waiting.size > 0 || !timer) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    notify: wake,
    waitForChange(topic, { signal, ms } = {}) {
      if (closed || signal?.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const late = ms === undefined ? undefined : setTimeout(() => done(), ms);
      const done = (): void => {
        clearTimeout(late);
        signal?.removeEventListener('abort', done);
        forget(topic, done);
        resolve();
      };
      signal?.addEventListener('abort', done, { once: true });
      const set = waiting.get(topic) ?? new Set();
      waiting.set(topic, set.add(done));
      timer ??= setInterval(look, pollMs);
      return promise;
    },
    close() {
      closed = true;
      for (const topic of waiting.keys()) wake(topic);
    },
  };
}
