// The tip of a session: its log, its state, and the one way to add to both.
import type { Event, Fact } from './fact.ts';
import type { AppendOptions, Log, View } from './ports.ts';
import type { RunState } from './state.ts';

/** A session being continued. Whoever adds facts, a loop or a person steering it, does so through `record`, one after the other. */
export interface Head {
  readonly log: Log;
  readonly state: RunState;
  /** Writes facts down and folds them in. With a function, the facts are decided from the state at that moment. */
  record(
    facts: readonly Fact[] | ((state: RunState) => readonly Fact[]),
    options?: AppendOptions,
  ): Promise<readonly Event[]>;
  /** Calls back for each event once it is written, until the returned function is called. */
  watch(seen: (event: Event, state: RunState) => void): () => void;
}

/** Reads a log to its end and stands ready to add to it. */
export async function openHead(log: Log, view: View<RunState>, from: 'root' | 'epoch' = 'epoch'): Promise<Head> {
  let state = view.initial;
  for await (const events of log.read({ from })) for (const event of events) state = view.on(state, event);
  const watchers = new Set<(event: Event, state: RunState) => void>();
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function write(
    facts: readonly Fact[] | ((state: RunState) => readonly Fact[]),
    options?: AppendOptions,
  ): Promise<readonly Event[]> {
    const list = typeof facts === 'function' ? facts(state) : facts;
    if (list.length === 0) return [];
    const events = await log.append(state.seq, list, options);
    for (const event of events) {
      state = view.on(state, event);
      for (const seen of watchers) seen(event, state);
    }
    return events;
  }

  return {
    log,
    get state() {
      return state;
    },
    record(facts, options) {
      const mine = waiting === 0 ? write(facts, options) : turn.then(() => write(facts, options));
      waiting++;
      turn = mine.then(
        () => waiting--,
        () => waiting--,
      );
      return mine;
    },
    watch(seen) {
      watchers.add(seen);
      return () => watchers.delete(seen);
    },
  };
}
