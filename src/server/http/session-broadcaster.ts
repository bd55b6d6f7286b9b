// Follows a run or session once for all its subscribers: reads its log, its run and its partial text, and each subscriber reads at its own pace.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FairleadError,
  errorMessage,
  type Event,
  type FleetRun,
  type FleetStore,
  type Log,
  type RunQueue,
  type SessionStore,
} from '../../core/index.ts';
import { createPartialTextBuffer, type PartialTextBuffer } from './partial-text.ts';
import { createReplayBuffer, type BufferLimits, type ReplayBuffer, type SessionMessage } from './replay-buffer.ts';

/** What to follow: a run until it has ended, or a session until the subscriber disconnects. */
export type BroadcastTarget = { readonly session: string; readonly run?: string };

/** Broadcasts the messages of a session to its subscribers. */
export type SessionBroadcaster = {
  /** Yields everything after a sequence number, in batches, until the signal aborts or the run has ended. */
  subscribe(from: number, signal: AbortSignal): AsyncIterable<readonly SessionMessage[]>;
  close(): Promise<void>;
};

/** The parts of a store that a broadcaster reads. */
type Store = {
  readonly sessions: Pick<SessionStore, 'reader'>;
  readonly queue: Pick<RunQueue, 'run' | 'list'>;
  readonly partialText: FleetStore['partialText'];
};

type BroadcasterState = {
  readonly store: Store;
  readonly target: BroadcastTarget;
  readonly notify: (message: string) => void;
  readonly buffer: ReplayBuffer;
  readonly partialText: PartialTextBuffer;
  readonly closed: AbortSignal;
  /** The sequence number of the last event that was read. */
  lastSeq: number;
  /** The run has ended and all of its events were published. */
  isFinished: boolean;
  /** Reads the run at once instead of at the next poll. */
  pollNow: () => void;
};

const defaultBufferLimits: BufferLimits = { items: 4096, chars: 4_000_000 };

/** Follows a target from a sequence number on. */
export function createSessionBroadcaster(
  store: Store,
  target: BroadcastTarget,
  startSeq: number,
  notify: (message: string) => void,
  limits: BufferLimits = defaultBufferLimits,
): SessionBroadcaster {
  const closing = new AbortController();
  const buffer = createReplayBuffer(startSeq, limits);
  const partialText = createPartialTextBuffer(buffer);
  const state: BroadcasterState = {
    store,
    target,
    notify,
    buffer,
    partialText,
    closed: closing.signal,
    lastSeq: startSeq,
    isFinished: false,
    pollNow: () => {},
  };
  const ready = clampStart(state);
  const unsubscribe = store.partialText.subscribe(target.session, (text) => partialText.append(text));
  const work = ready.then(() => Promise.all([followLog(state), pollRun(state)]));
  return {
    async *subscribe(from, signal) {
      await ready;
      yield* readMessages(state, from, signal);
    },
    async close() {
      closing.abort();
      unsubscribe();
      state.pollNow();
      buffer.wake();
      await work;
    },
  };
}

/** A client may ask for events after one that does not exist yet: the start is at most the end of the log. */
async function clampStart(state: BroadcasterState): Promise<void> {
  if (state.lastSeq === 0) return state.partialText.setStart(0, 0);
  const { lastSeq, lastTurnEnd } = await findSessionEnd(state.store, state.target.session).catch(() => ({
    lastSeq: state.lastSeq,
    lastTurnEnd: 0,
  }));
  state.lastSeq = Math.min(state.lastSeq, lastSeq);
  state.buffer.oldestBufferedAfterSeq = state.lastSeq;
  state.partialText.setStart(state.lastSeq, lastTurnEnd);
}

async function followLog(state: BroadcasterState): Promise<void> {
  const { store, target, notify, closed } = state;
  for (let failures = 0; !closed.aborted;) {
    let log: Log | undefined;
    try {
      log = await store.sessions.reader(target.session);
      for await (const event of log.follow(state.lastSeq, closed)) {
        publishEvent(state, event);
        failures = 0;
      }
    } catch (error) {
      if (!isMissingSession(error)) {
        failures++;
        notify(`Cannot follow session ${target.session}: ${errorMessage(error)}`);
      }
    } finally {
      await log?.close().catch(() => {});
    }
    await sleep(Math.min(100 * 2 ** failures, 5000), undefined, { signal: closed }).catch(() => {});
  }
}

function publishEvent(state: BroadcasterState, event: Event): void {
  if (event.seq <= state.lastSeq) return;
  state.lastSeq = event.seq;
  state.partialText.beforeEvent(event);
  state.buffer.append({ type: 'event', event });
  state.partialText.afterEvent(event);
  if (event.type === 'run-started' || event.type === 'run-ended' || event.type === 'approval-requested')
    state.pollNow();
}

/** Publishes the run whenever its status changes; and its end, after all of its events. */
async function pollRun(state: BroadcasterState): Promise<void> {
  const { store, target, buffer, notify, closed } = state;
  for (let published = ''; !closed.aborted && !state.isFinished;) {
    const wakeUp = Promise.withResolvers<void>();
    state.pollNow = wakeUp.resolve;
    let waitMs = published === '' ? 100 : 500;
    try {
      const run = await currentRun(store, target);
      const isEnded = run?.id === target.run && run?.status === 'ended';
      // All events of a run are in the log before the queue marks it as ended.
      if (isEnded && state.lastSeq < (await findSessionEnd(store, target.session)).lastSeq) waitMs = 20;
      else if (run) {
        // A run that is queued again was interrupted in the middle of a turn.
        if (run.status === 'queued' && run.attempts > 0) state.partialText.retract();
        const approvals = run.pendingApprovals.map(({ call }) => call);
        const summary = JSON.stringify([run.id, run.status, run.attempts, approvals]);
        if (summary !== published) buffer.append({ type: 'run', run });
        published = summary;
        state.isFinished = isEnded;
      }
    } catch (error) {
      notify(`Cannot read the run of session ${target.session}: ${errorMessage(error)}`);
    }
    const timer = setTimeout(state.pollNow, waitMs);
    if (!state.isFinished && !closed.aborted) await wakeUp.promise;
    clearTimeout(timer);
  }
  if (state.isFinished && target.run !== undefined) buffer.append({ type: 'end', run: target.run });
}

async function currentRun({ queue }: Store, { run, session }: BroadcastTarget): Promise<FleetRun | undefined> {
  return run === undefined ? (await queue.list({ session, limit: 1 }))[0] : queue.run(run);
}

async function* readMessages(
  state: BroadcasterState,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<readonly SessionMessage[]> {
  const { buffer, partialText } = state;
  let seq = from;
  /** Whether the subscriber has all partial text: a new one, or one that fell behind, gets it in one message. */
  let isCurrent = false;
  let fellBehind = false;
  let resume = (): void => {};
  const stop = (): void => resume();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let position = -1; !signal.aborted;) {
      if (buffer.isEvicted(position)) {
        for await (const event of readMissedEvents(state, seq, signal)) {
          seq = event.seq;
          yield [{ type: 'event', event }];
        }
        position = buffer.positionAfter(seq);
        fellBehind ||= isCurrent;
        isCurrent = false;
      }
      const batch = buffer.read(position, seq, isCurrent);
      ({ position, seq } = batch);
      const isDrained = batch.messages.length === 0;
      const messages = isDrained && !isCurrent ? partialText.snapshot(fellBehind) : batch.messages;
      isCurrent ||= isDrained;
      if (messages.length > 0) yield messages;
      else if (state.isFinished || state.closed.aborted) return;
      else {
        const { promise, resolve } = buffer.wait();
        resume = resolve;
        await promise;
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Reads from the log the events after a sequence number that the buffer does not hold. */
async function* readMissedEvents(
  { store, target, buffer }: BroadcasterState,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Event> {
  if (from >= buffer.oldestBufferedAfterSeq) return;
  const log = await store.sessions.reader(target.session);
  const done = new AbortController();
  try {
    for await (const event of log.follow(from, AbortSignal.any([signal, done.signal]))) {
      yield event;
      if (event.seq >= buffer.oldestBufferedAfterSeq) return;
    }
  } finally {
    done.abort();
    await log.close();
  }
}

const isMissingSession = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === 'store/no-session';

/** Returns the sequence numbers of the last event of a session and of the last that ended a turn; 0 if there is none. */
async function findSessionEnd(
  { sessions }: Pick<Store, 'sessions'>,
  session: string,
): Promise<{ readonly lastSeq: number; readonly lastTurnEnd: number }> {
  let log: Log | undefined;
  const end = { lastSeq: 0, lastTurnEnd: 0 };
  try {
    log = await sessions.reader(session);
    for await (const events of log.read({ from: 'epoch' }))
      for (const { seq, type } of events) {
        end.lastSeq = seq;
        if (type === 'turn-ended' || type === 'turn-failed' || type === 'run-ended') end.lastTurnEnd = seq;
      }
    return end;
  } catch (error) {
    if (isMissingSession(error)) return end;
    throw error;
  } finally {
    await log?.close();
  }
}

/** The broadcasters of a server. */
export type Broadcasters = {
  /** Yields the messages of a run or session after a sequence number, until the signal aborts or the run has ended. */
  subscribe(target: BroadcastTarget, from: number, signal: AbortSignal): AsyncIterable<readonly SessionMessage[]>;
  counts(): { readonly subscribers: number; readonly broadcasters: number };
};

type BroadcasterEntry = { readonly broadcaster: SessionBroadcaster; subscribers: number };

/** Creates an empty set of broadcasters. */
export function createBroadcasters(store: Store, notify: (message: string) => void): Broadcasters {
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
