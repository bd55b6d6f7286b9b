// The tip of a session: its log, its state, and the one way to add to both.
import { FairleadError, messageOf } from './errors.ts';
import type { Event, Fact } from './fact.ts';
import type { AppendOptions, Log, View } from './ports.ts';
import type { RunState } from './state.ts';

/** Facts, or how to decide them from the state at the moment of writing. */
export type Facts = readonly Fact[] | ((state: RunState) => readonly Fact[]);

type Watcher = (event: Event, state: RunState) => void;

/** A session being continued. Whoever adds facts, a loop or a person steering it, does so through here, one after the other. */
export interface Head {
  readonly log: Log;
  readonly state: RunState;
  /** Writes facts down and folds them in; where the log cannot be written, nothing has changed and the error is the store's. */
  record(facts: Facts, options?: Pick<AppendOptions, 'settle'>): Promise<readonly Event[]>;
  /** Goes back to an event and writes these facts after it; what followed it before stays in the log as another branch. */
  branch(from: string, facts: Facts): Promise<readonly Event[]>;
  /** Sees the session with other rules and views from now on: it is folded again from where a fold may start. */
  adopt(view: View<RunState>): Promise<void>;
  /** Calls back for each event once it is written, until the returned function is called. What it throws is its own affair: the fact is written. */
  watch(seen: Watcher): () => void;
}

/** Reads a log to its end and stands ready to add to it. */
export async function openHead(log: Log, first: View<RunState>, from: 'root' | 'epoch' = 'epoch'): Promise<Head> {
  let view = first;
  let state = await foldLog(log, view, { from });
  let tail = state.seq;
  let turn: Promise<unknown> = Promise.resolve();
  const watchers = new Set<Watcher>();

  async function write(base: RunState, facts: Facts, options?: AppendOptions): Promise<readonly Event[]> {
    const list = typeof facts === 'function' ? facts(base) : facts;
    if (list.length === 0) return [];
    const events = await log.append(tail, list, options).catch((error: unknown) => {
      throw storeError(error);
    });
    state = base;
    for (const event of events) {
      tail = event.seq;
      state = view.on(state, event);
      for (const seen of watchers) show(seen, event, state);
    }
    return events;
  }

  /** One writer at a time, in the order they came. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  }

  return {
    log,
    get state() {
      return state;
    },
    record: (facts, options) => inTurn(() => write(state, facts, options)),
    branch: (at, facts) =>
      inTurn(async () => write(await foldLog(log, view, { at }), facts, { parent: at, settle: true })),
    adopt: (next) =>
      inTurn(async () => {
        const at = state.head;
        if (at !== null) state = await foldLog(log, next, { at, from });
        else state = next.initial;
        view = next;
      }),
    watch(seen) {
      watchers.add(seen);
      return () => watchers.delete(seen);
    },
  };
}

/** An onlooker that fails must not keep a written fact from being folded in. */
function show(seen: Watcher, event: Event, state: RunState): void {
  try {
    seen(event, state);
  } catch {
    // Nobody to tell: the writer did nothing wrong, and the watcher had its chance.
  }
}

const storeError = (error: unknown): FairleadError =>
  error instanceof FairleadError
    ? error
    : new FairleadError('store/failed', `The session could not be written: ${messageOf(error)}`, {
        blame: 'store',
        hint: 'Nothing after the last written event happened. Open the session again to go on.',
        cause: error,
      });

async function foldLog(log: Log, view: View<RunState>, options: Parameters<Log['read']>[0]): Promise<RunState> {
  let state = view.initial;
  for await (const events of log.read(options)) for (const event of events) state = view.on(state, event);
  return state;
}
