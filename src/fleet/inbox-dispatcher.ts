// Tells the runs of a worker about new inbox messages, with one watch on the store for all of them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inbox } from '../core/index.ts';

/** Notifies subscribers of new messages until it is closed. */
export type InboxDispatcher = {
  /** Calls the listener when the session has a new message, until the returned function is called. */
  subscribe(session: string, listener: () => void): () => void;
  close(): Promise<void>;
};

/** Starts to watch an inbox. */
export function createInboxDispatcher(inbox: Inbox): InboxDispatcher {
  const listeners = new Map<string, Set<() => void>>();
  const closed = new AbortController();

  async function watch(): Promise<void> {
    while (!closed.signal.aborted) {
      try {
        for await (const session of inbox.watch(closed.signal))
          for (const listener of listeners.get(session) ?? []) listener();
      } catch {
        // The store is unavailable. All listeners are called below, because messages may have been missed.
      }
      await sleep(250, undefined, { signal: closed.signal }).catch(() => undefined);
      for (const all of listeners.values()) for (const listener of all) listener();
    }
  }

  const watching = watch();
  return {
    subscribe(session, listener) {
      const all = listeners.get(session) ?? new Set();
      listeners.set(session, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0) listeners.delete(session);
      };
    },
    close() {
      closed.abort();
      return watching;
    },
  };
}
