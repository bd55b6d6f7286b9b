// Who watches what: one lookout a run or session, however many watch it, and none where nobody does.
import type { FleetStore } from '../core/index.ts';
import { lookout, type LiveText, type Lookout, type Sight } from './lookout.ts';

/** The lookouts of a server. */
export type Watching = {
  /** What happens in a run or session after a seq, as frames, until the signal aborts or the run has ended. */
  watch(sight: Sight, from: number, signal: AbortSignal): AsyncIterable<string>;
  /** Shows those who watch a session a piece of an answer that is not settled. */
  say(session: string, text: LiveText): void;
  /** Forgets what was said in a session that is no longer worked on here. */
  hush(session: string): void;
  /** How many watch, and by how many lookouts. */
  counts(): { readonly watchers: number; readonly lookouts: number };
};

type Post = { readonly lookout: Lookout; readonly session: string; watchers: number };

/** Nobody watches yet. */
export function watching(store: Pick<FleetStore, 'sessions' | 'queue'>, tell: (sentence: string) => void): Watching {
  const posts = new Map<string, Post>();
  /** What turns under way here have said so far, for those who come in the middle of one. */
  const said = new Map<string, LiveText>();

  function post(sight: Sight, from: number): Post {
    const key = `${sight.session} ${sight.run ?? ''}`;
    const found = posts.get(key);
    if (found) return found;
    const made = { lookout: lookout(store, sight, from, tell), session: sight.session, watchers: 0 };
    const before = said.get(sight.session);
    if (before) made.lookout.say(before);
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
    say(session, text) {
      const before = said.get(session);
      const goesOn = before?.turn === text.turn && !text.restarted;
      said.set(session, { turn: text.turn, text: goesOn ? before.text + text.text : text.text });
      for (const each of posts.values()) if (each.session === session) each.lookout.say(text);
    },
    hush: (session) => void said.delete(session),
    counts: () => ({
      watchers: [...posts.values()].reduce((sum, { watchers }) => sum + watchers, 0),
      lookouts: posts.size,
    }),
  };
}
