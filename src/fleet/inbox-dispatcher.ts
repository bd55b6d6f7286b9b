// Carries letters to the runs of a worker: one watch on the store for all of them.
import { setTimeout as pause } from 'node:timers/promises';
import type { Inbox } from '../core/index.ts';

/** Brings word of letters until it is closed. */
export type InboxDispatcher = {
  /** Calls back when this session has a new letter, until the returned function is called. */
  subscribe(session: string, heard: () => void): () => void;
  close(): Promise<void>;
};

/** Begins to carry. */
export function createInboxDispatcher(inbox: Inbox): InboxDispatcher {
  const ears = new Map<string, Set<() => void>>();
  const over = new AbortController();

  async function carry(): Promise<void> {
    while (!over.signal.aborted) {
      try {
        for await (const session of inbox.watch(over.signal)) for (const heard of ears.get(session) ?? []) heard();
      } catch {
        // The store is away. What came meanwhile is looked for below, once it is back.
      }
      await pause(250, undefined, { signal: over.signal }).catch(() => undefined);
      for (const all of ears.values()) for (const heard of all) heard();
    }
  }

  const carrying = carry();
  return {
    subscribe(session, heard) {
      const all = ears.get(session) ?? new Set();
      ears.set(session, all.add(heard));
      return () => {
        all.delete(heard);
        if (all.size === 0) ears.delete(session);
      };
    },
    close() {
      over.abort();
      return carrying;
    },
  };
}
