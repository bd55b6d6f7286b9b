// Who watches what: one lookout a run or session, however many watch it, and none where nobody does.
import type { FleetStore } from '../../core/index.ts';
import { createSessionBroadcaster, type SessionBroadcaster, type BroadcastTarget } from './session-broadcaster.ts';

/** The lookouts of a server. */
export type Broadcasters = {
  /** What happens in a run or session after a seq, as frames, until the signal aborts or the run has ended. */
  subscribe(sight: BroadcastTarget, from: number, signal: AbortSignal): AsyncIterable<string>;
  /** How many watch, and by how many lookouts. */
  counts(): { readonly subscribers: number; readonly broadcasters: number };
};

type BroadcasterEntry = { readonly broadcaster: SessionBroadcaster; subscribers: number };

/** Nobody watches yet. */
export function createBroadcasters(
  store: Pick<FleetStore, 'sessions' | 'queue' | 'partialText'>,
  tell: (sentence: string) => void,
): Broadcasters {
  const posts = new Map<string, BroadcasterEntry>();

  function post(sight: BroadcastTarget, from: number): BroadcasterEntry {
    const key = `${sight.session} ${sight.run ?? ''}`;
    const found = posts.get(key);
    if (found) return found;
    const made = { broadcaster: createSessionBroadcaster(store, sight, from, tell), subscribers: 0 };
    posts.set(key, made);
    return made;
  }

  return {
    async *subscribe(sight, from, signal) {
      const mine = post(sight, from);
      mine.subscribers++;
      try {
        yield* mine.broadcaster.frames(from, signal);
      } finally {
        if (--mine.subscribers === 0) {
          for (const [key, each] of posts) if (each === mine) posts.delete(key);
          await mine.broadcaster.close();
        }
      }
    },
    counts: () => ({
      subscribers: [...posts.values()].reduce((sum, { subscribers }) => sum + subscribers, 0),
      broadcasters: posts.size,
    }),
  };
}
