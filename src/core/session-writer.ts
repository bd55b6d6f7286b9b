// The tip of a session: its log, its state, and the one way to add to both.
import { FairleadError, errorMessage } from './errors.ts';
import type { Event, Fact } from './fact.ts';
import type { AppendOptions, Log, View } from './ports.ts';
import type { RunState } from './state.ts';

/** Facts, or how to decide them from the state at the moment of writing. */
export type FactSource = readonly Fact[] | ((state: RunState) => readonly Fact[]);

type SessionListener = (event: Event, state: RunState) => void;

/** A session being continued. Whoever adds facts, a loop or a person steering it, does so through here, one after the other. */
export interface SessionWriter {
  readonly log: Log;
  readonly state: RunState;
  /** Writes facts down and folds them in; where the log cannot be written, nothing has changed and the error is the store's. */
  record(facts: FactSource, options?: Pick<AppendOptions, 'durable'>): Promise<readonly Event[]>;
  /** Goes back to an event and writes these facts after it; what followed it before stays in the log as another branch. */
  branch(from: string, facts: FactSource): Promise<readonly Event[]>;
  /** Sees the session with other rules and views from now on: it is folded again from where a fold may start. */
  setView(view: View<RunState>): Promise<void>;
  /** Calls back for each event once it is written, until the returned function is called. What it throws is its own affair: the fact is written. */
  subscribe(seen: SessionListener): () => void;
}

/** Reads a log to its end and stands ready to add to it. */
export async function openSessionWriter(
  log: Log,
  first: View<RunState>,
  from: 'root' | 'epoch' = 'epoch',
): Promise<SessionWriter> {
  let view = first;
  let state = await foldLog(log, view, { from });
  let tail = state.seq;
  let turn: Promise<unknown> = Promise.resolve();
  const watchers = new Set<SessionListener>();

  async function write(base: RunState, facts: FactSource, options?: AppendOptions): Promise<readonly Event[]> {
    const list = typeof facts === 'function' ? facts(base) : facts;
    if (list.length === 0) return [];
    const events = await log.append(tail, list, options).catch((error: unknown) => {
      throw toStoreError(error);
    });
    state = base;
    for (const event of events) {
      tail = event.seq;
      state = view.on(state, event);
      for (const seen of watchers) notifyListener(seen, event, state);
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
      inTurn(async () => write(await foldLog(log, view, { at }), facts, { parent: at, durable: true })),
    setView: (next) =>
      inTurn(async () => {
        const at = state.head;
        if (at !== null) state = await foldLog(log, next, { at, from });
        else state = next.initial;
        view = next;
      }),
    subscribe(seen) {
      watchers.add(seen);
      return () => watchers.delete(seen);
    },
  };
}

/** An onlooker that fails must not keep a written fact from being folded in. */
function notifyListener(seen: SessionListener, event: Event, state: RunState): void {
  try {
    seen(event, state);
  } catch {
    // Nobody to tell: the writer did nothing wrong, and the watcher had its chance.
  }
}

const toStoreError = (error: unknown): FairleadError =>
  error instanceof FairleadError
    ? error
    : new FairleadError('store/failed', `The session could not be written: ${errorMessage(error)}`, {
        blame: 'store',
        hint: 'Nothing after the last written event happened. Open the session again to go on.',
        cause: error,
      });

async function foldLog(log: Log, view: View<RunState>, options: Parameters<Log['read']>[0]): Promise<RunState> {
  let state = view.initial;
  for await (const events of log.read(options)) for (const event of events) state = view.on(state, event);
  return state;
}
