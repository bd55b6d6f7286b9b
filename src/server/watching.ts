// Who watches what: one lookout a run or session, however many watch it, and none where nobody does.
import type { FleetStore } from '../core/index.ts';
import { lookout, type Lookout, type Sight } from './lookout.ts';

/** The lookouts of a server. */
export type Watching = {
  /** What happens in a run or session after a seq, as frames, until the signal aborts or the run has ended. */
  watch(sight: Sight, from: number, signal: AbortSignal): AsyncIterable<string>;
  /** How many watch, and by how many lookouts. */
  counts(): { readonly watchers: number; readonly lookouts: number };
};

type Post = { readonly lookout: Lookout; watchers: number };

/** Nobody watches yet. */
export function watching(
  store: Pick<FleetStore, 'sessions' | 'queue' | 'partialText'>,
  tell: (sentence: string) => void,
): Watching {
  const posts = new Map<string, Post>();

  function post(sight: Sight, from: number): Post {
    const key = `${sight.session} ${sight.run ?? ''}`;
    const found = posts.get(key);
    if (found) return found;
    const made = { lookout: lookout(store, sight, from, tell), watchers: 0 };
    posts.set(key, made);
    return made;
  }

  return {
    async *watch(sight, from, signal) {
      const mine = post(sight, from);
      mine.watchers++;
      try {
        yield* mine.lookout.frames(from, signal);
      } finally {
        if (--mine.watchers === 0) {
          for (const [key, each] of posts) if (each === mine) posts.delete(key);
          await mine.lookout.close();
        }
      }
    },
    counts: () => ({
      watchers: [...posts.values()].reduce((sum, { watchers }) => sum + watchers, 0),
      lookouts: posts.size,
    }),
  };
}
