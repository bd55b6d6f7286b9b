// The single writer of a session: log, current state, and serialized appends.
import { FairleadError, errorMessage } from './errors.ts';
import type { Event, Fact } from './fact.ts';
import type { AppendOptions, Log, View } from './ports.ts';
import type { ResponseEvent } from './response-facts.ts';
import type { RunState } from './state.ts';

/** Facts, or a function that computes them from the state at the moment of the append. */
export type FactSource = readonly Fact[] | ((state: RunState) => readonly Fact[]);

type SessionListener = (event: Event, state: RunState) => void;

/** The writer of an open session. The loop and all callers append through it, one after the other. */
export interface SessionWriter {
  readonly log: Log;
  readonly state: RunState;
  /** Appends facts and folds them into the state. If the append fails, the state is unchanged and a store error is thrown. */
  record(facts: FactSource, options?: Pick<AppendOptions, 'durable'>): Promise<readonly Event[]>;
  /** Appends facts after an earlier event. What followed that event stays in the log as another branch. */
  branch(from: string, facts: FactSource): Promise<readonly Event[]>;
  /** Replaces rules and views: folds the session again from the last baseline. */
  setView(view: View<RunState>): Promise<void>;
  /** Returns the response with which the log ended when it was opened, once: the facts that follow from it may be missing. */
  takeLastResponse(): ResponseEvent | undefined;
  /** Subscribes to events after they are written; returns an unsubscribe function. Errors of a listener are ignored. */
  subscribe(listener: SessionListener): () => void;
}

/** Reads a log to its end and opens it for appends. */
export async function openSessionWriter(
  log: Log,
  first: View<RunState>,
  from: 'root' | 'epoch' = 'epoch',
): Promise<SessionWriter> {
  let view = first;
  let lastResponse: ResponseEvent | undefined;
  let state = await foldLog(log, view, { from }, (event) => {
    if (event.type === 'turn-ended') lastResponse = event;
    else if (!isPartOfResponse(event)) lastResponse = undefined;
  });
  let tail = state.seq;
  let lastWrite: Promise<unknown> = Promise.resolve();
  const listeners = new Set<SessionListener>();

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
      for (const listener of listeners) notifyListener(listener, event, state);
    }
    return events;
  }

  /** Runs writes one at a time, in order. */
  function serialize<T>(work: () => Promise<T>): Promise<T> {
    const result = lastWrite.then(work);
    lastWrite = result.catch(() => {});
    return result;
  }

  return {
    log,
    get state() {
      return state;
    },
    record: (facts, options) => serialize(() => write(state, facts, options)),
    branch: (at, facts) =>
      serialize(async () => write(await foldLog(log, view, { at }), facts, { parent: at, durable: true })),
    setView: (next) =>
      serialize(async () => {
        const at = state.head;
        if (at !== null) state = await foldLog(log, next, { at, from });
        else state = next.initial;
        view = next;
      }),
    takeLastResponse() {
      const response = lastResponse;
      lastResponse = undefined;
      return response;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A listener that throws must not keep a written fact from being folded. */
function notifyListener(listener: SessionListener, event: Event, state: RunState): void {
  try {
    listener(event, state);
  } catch {
    // Ignored: the append succeeded.
  }
}

const toStoreError = (error: unknown): FairleadError =>
  error instanceof FairleadError
    ? error
    : new FairleadError('store/failed', `The session could not be written: ${errorMessage(error)}`, {
        blame: 'store',
        hint: 'Nothing after the last written event happened. Open the session again to continue.',
        cause: error,
      });

/** Events that are appended with a response. */
const isPartOfResponse = (event: Event): boolean =>
  event.type === 'annotation-added' || (event.type === 'tool-ended' && event.outcome === 'denied');

async function foldLog(
  log: Log,
  view: View<RunState>,
  options: Parameters<Log['read']>[0],
  onEvent?: (event: Event) => void,
): Promise<RunState> {
  let state = view.initial;
  for await (const events of log.read(options))
    for (const event of events) {
      state = view.on(state, event);
      onEvent?.(event);
    }
  return state;
}
