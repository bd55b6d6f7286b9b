// One broadcaster per followed run or session, shared by its subscribers and closed after the last one.
import type { FleetStore } from '../../core/index.ts';
import { createSessionBroadcaster, type BroadcastTarget, type SessionBroadcaster } from './session-broadcaster.ts';
import type { SessionMessage } from './session-message.ts';

/** The broadcasters of a server. */
export type Broadcasters = {
  /** Yields the messages of a run or session after a sequence number, until the signal aborts or the run has ended. */
  subscribe(target: BroadcastTarget, from: number, signal: AbortSignal): AsyncIterable<readonly SessionMessage[]>;
  counts(): { readonly subscribers: number; readonly broadcasters: number };
};

type BroadcasterEntry = { readonly broadcaster: SessionBroadcaster; subscribers: number };

/** Creates an empty set of broadcasters. */
export function createBroadcasters(
  store: Pick<FleetStore, 'sessions' | 'queue' | 'partialText'>,
  notify: (message: string) => void,
): Broadcasters {
  const entries = new Map<string, BroadcasterEntry>();

  function getEntry(target: BroadcastTarget, from: number): BroadcasterEntry {
    const key = `${target.session} ${target.run ?? ''}`;
    const known = entries.get(key);
    if (known) return known;
    const entry = { broadcaster: createSessionBroadcaster(store, target, from, notify), subscribers: 0 };
    entries.set(key, entry);
    return entry;
  }

  return {
    async *subscribe(target, from, signal) {
      const entry = getEntry(target, from);
      entry.subscribers++;
      try {
        yield* entry.broadcaster.subscribe(from, signal);
      } finally {
        if (--entry.subscribers === 0) {
          for (const [key, each] of entries) if (each === entry) entries.delete(key);
          await entry.broadcaster.close();
        }
      }
    },
    counts: () => ({
      subscribers: [...entries.values()].reduce((sum, { subscribers }) => sum + subscribers, 0),
      broadcasters: entries.size,
    }),
  };
}
