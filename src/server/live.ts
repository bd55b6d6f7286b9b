// What models say before it is settled, on its way from a worker in this process to those who watch.
import type { Chunk, FleetRun, FleetStore, Log } from '../core/index.ts';
import type { LiveText } from './lookout.ts';

/** Hears a worker of this process. */
export type Ear = {
  /** The store that the worker is to use: from what it writes is known which turn is spoken in. */
  readonly store: FleetStore;
  readonly live: (run: FleetRun, chunk: Chunk) => void;
  readonly settled: (run: FleetRun) => void;
};

/** Where what is heard is told. */
export type Mouth = {
  say(session: string, text: LiveText): void;
  hush(session: string): void;
};

/** An ear that passes on what is said to people; thoughts and calls are not. */
export function earFor(store: FleetStore, to: Mouth): Ear {
  const turns = new Map<string, number>();
  const spoken = new Map<string, Set<number>>();

  const heard = (session: string, log: Log): Log => ({
    read: (options) => log.read(options),
    follow: (from, signal) => log.follow(from, signal),
    close: () => log.close(),
    async append(after, facts, options) {
      for (const fact of facts)
        if (fact.type === 'turn-started') {
          turns.set(session, fact.turn);
          spoken.delete(session);
        }
      return log.append(after, facts, options);
    },
  });

  /** Parts of one text are lines of it. */
  function begins(session: string, turn: number, index: number): void {
    const parts = spoken.get(session) ?? new Set();
    if (parts.size > 0) to.say(session, { turn, text: '\n' });
    spoken.set(session, parts.add(index));
  }

  return {
    store: {
      ...store,
      sessions: {
        ...store.sessions,
        open: async (session, options) => heard(session, await store.sessions.open(session, options)),
      },
    },
    live({ session }, chunk) {
      const turn = turns.get(session) ?? 0;
      if (chunk.type === 'restarted') {
        spoken.delete(session);
        to.say(session, { turn, text: '', restarted: true });
      }
      if (chunk.type === 'part-started' && chunk.part === 'text') begins(session, turn, chunk.index);
      if (chunk.type === 'part-delta' && spoken.get(session)?.has(chunk.index))
        to.say(session, { turn, text: chunk.text });
    },
    settled({ session }) {
      turns.delete(session);
      spoken.delete(session);
      to.hush(session);
    },
  };
}
