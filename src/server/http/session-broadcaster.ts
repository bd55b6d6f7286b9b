// One follower of a session for all who watch it: what happens is read and written down once, and each watcher takes it at its own pace.
import { setTimeout as pause } from 'node:timers/promises';
import { FairleadError, errorMessage, type Event, type FleetRun, type FleetStore, type Log } from '../../core/index.ts';
import { createReplayBuffer, type BufferLimits, type ReplayBuffer } from './replay-buffer.ts';
import { createPartialTextBuffer, type PartialTextBuffer } from './partial-text.ts';
import { formatSseFrame } from './sse.ts';

/** What is watched: a run until it has ended, or a session for as long as somebody wants to. */
export type BroadcastTarget = { readonly session: string; readonly run?: string };

/** What a lookout shows, as frames of a stream of events. */
export type SessionBroadcaster = {
  /** Everything after a seq, and what comes, until the signal aborts or the run has ended. Several frames may come at once. */
  frames(from: number, signal: AbortSignal): AsyncIterable<string>;
  close(): Promise<void>;
};

type Store = Pick<FleetStore, 'sessions' | 'queue' | 'partialText'>;

/** A lookout from the inside. */
type BroadcasterState = {
  readonly store: Store;
  readonly target: BroadcastTarget;
  readonly notify: (sentence: string) => void;
  readonly buffer: ReplayBuffer;
  readonly partialText: PartialTextBuffer;
  readonly ended: AbortSignal;
  /** The seq of the last event that was read. */
  tail: number;
  /** Whether the run has ended and all of it was shown. */
  isFinished: boolean;
  /** Looks at the run at once instead of in a while. */
  pollNow: () => void;
};

const defaultBufferLimits: BufferLimits = { items: 4096, chars: 4_000_000 };

/** Watches a sight, reading from a seq on. */
export function createSessionBroadcaster(
  store: Store,
  sight: BroadcastTarget,
  begin: number,
  tell: (sentence: string) => void,
  keeping: BufferLimits = defaultBufferLimits,
): SessionBroadcaster {
  const ended = new AbortController();
  const shelf = createReplayBuffer(begin, keeping);
  const speech = createPartialTextBuffer(shelf);
  const post: BroadcasterState = {
    store,
    target: sight,
    notify: tell,
    buffer: shelf,
    partialText: speech,
    ended: ended.signal,
    tail: begin,
    isFinished: false,
    pollNow: () => {},
  };
  const ready = clampStart(post);
  const unlisten = store.partialText.subscribe(sight.session, (text) => speech.append(text));
  const work = ready.then(() => Promise.all([followLog(post), pollRun(post)]));
  return {
    async *frames(from, signal) {
      await ready;
      yield* streamFrames(post, from, signal);
    },
    async close() {
      ended.abort();
      unlisten();
      post.pollNow();
      shelf.wake();
      await work;
    },
  };
}

/** A client may say that it saw more than there is: nothing is covered beyond what there is. */
async function clampStart(post: BroadcasterState): Promise<void> {
  if (post.tail === 0) return post.partialText.setStart(0, 0);
  const { tail, settled } = await findSessionEnd(post.store, post.target.session).catch(() => ({
    tail: post.tail,
    settled: 0,
  }));
  post.tail = Math.min(post.tail, tail);
  post.buffer.coveredAfter = post.tail;
  post.partialText.setStart(post.tail, settled);
}

async function followLog(post: BroadcasterState): Promise<void> {
  const { store, target, notify, ended } = post;
  for (let troubles = 0; !ended.aborted;) {
    let log: Log | undefined;
    try {
      log = await store.sessions.reader(target.session);
      for await (const event of log.follow(post.tail, ended)) {
        publishEvent(post, event);
        troubles = 0;
      }
    } catch (error) {
      if (!isMissingSession(error)) {
        troubles++;
        notify(`A session cannot be followed: ${errorMessage(error)}`);
      }
    } finally {
      await log?.close().catch(() => {});
    }
    await pause(Math.min(100 * 2 ** troubles, 5000), undefined, { signal: ended }).catch(() => {});
  }
}

function publishEvent(post: BroadcasterState, event: Event): void {
  if (event.seq <= post.tail) return;
  post.tail = event.seq;
  post.partialText.beforeEvent(event);
  post.buffer.append({ frame: formatSseFrame('event', event, event.seq), seq: event.seq });
  post.partialText.afterEvent(event);
  if (event.type === 'run-started' || event.type === 'run-ended' || event.type === 'approval-requested') post.pollNow();
}

/** Shows the run whenever it stands otherwise; and its end, once all that it did was shown. */
async function pollRun(post: BroadcasterState): Promise<void> {
  const { store, target, buffer, notify, ended } = post;
  for (let shown = ''; !ended.aborted && !post.isFinished;) {
    const nudged = Promise.withResolvers<void>();
    post.pollNow = nudged.resolve;
    let waitMs = shown === '' ? 100 : 500;
    try {
      const run = await currentRun(store, target);
      const told =
        run && JSON.stringify([run.id, run.status, run.attempts, run.pendingApprovals.map(({ call }) => call)]);
      const isOver = run?.id === target.run && run?.status === 'ended';
      // All that a run did is in the log before the queue says that it has ended.
      if (isOver && post.tail < (await findSessionEnd(store, target.session)).tail) waitMs = 20;
      else if (told !== undefined) {
        // A run that was taken and waits again was left in the middle of what it said.
        if (run?.status === 'queued' && run.attempts > 0) post.partialText.retract();
        if (told !== shown) buffer.append({ frame: formatSseFrame('run', run) });
        shown = told;
        post.isFinished = isOver;
      }
    } catch (error) {
      notify(`A run cannot be looked at: ${errorMessage(error)}`);
    }
    const timer = setTimeout(post.pollNow, waitMs);
    if (!post.isFinished && !ended.aborted) await nudged.promise;
    clearTimeout(timer);
  }
  if (post.isFinished) buffer.append({ frame: formatSseFrame('end', { run: target.run }) });
}

async function currentRun({ queue }: Store, { run, session }: BroadcastTarget): Promise<FleetRun | undefined> {
  return run === undefined ? (await queue.list({ session, limit: 1 }))[0] : queue.run(run);
}

async function* streamFrames(post: BroadcasterState, from: number, signal: AbortSignal): AsyncGenerator<string> {
  const { buffer, partialText } = post;
  let seq = from;
  /** Whether this one was told all that is not settled: who comes late, or falls back, is told it in one go. */
  let isAbreast = false;
  let fell = false;
  let resume = (): void => {};
  const stop = (): void => resume();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let place = -1; !signal.aborted;) {
      if (buffer.isEvicted(place)) {
        for await (const event of readMissedEvents(post, seq, signal)) {
          seq = event.seq;
          yield formatSseFrame('event', event, seq);
        }
        place = buffer.positionAfter(seq);
        fell ||= isAbreast;
        isAbreast = false;
      }
      const taken = buffer.read(place, seq, isAbreast);
      ({ position: place, seq } = taken);
      const text = taken.text === '' && !isAbreast ? partialText.snapshot(fell) : taken.text;
      isAbreast ||= taken.text === '';
      if (text !== '') yield text;
      else if (post.isFinished || post.ended.aborted) return;
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

/** The events after a seq that the shelf no longer holds, or never did, out of the log. */
async function* readMissedEvents(
  { store, target, buffer }: BroadcasterState,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<Event> {
  if (from >= buffer.coveredAfter) return;
  const log = await store.sessions.reader(target.session);
  const enough = new AbortController();
  try {
    for await (const event of log.follow(from, AbortSignal.any([signal, enough.signal]))) {
      yield event;
      if (event.seq >= buffer.coveredAfter) return;
    }
  } finally {
    enough.abort();
    await log.close();
  }
}

const isMissingSession = (error: unknown): boolean =>
  error instanceof FairleadError && error.code === 'store/no-session';

/** The seq of the last event of a session, and of the last that settled what was said; 0 where there is none. */
async function findSessionEnd(
  { sessions }: Pick<FleetStore, 'sessions'>,
  session: string,
): Promise<{ readonly tail: number; readonly settled: number }> {
  let log: Log | undefined;
  const end = { tail: 0, settled: 0 };
  try {
    log = await sessions.reader(session);
    for await (const events of log.read({ from: 'epoch' }))
      for (const { seq, type } of events) {
        end.tail = seq;
        if (type === 'turn-ended' || type === 'turn-failed' || type === 'run-ended') end.settled = seq;
      }
    return end;
  } catch (error) {
    if (isMissingSession(error)) return end;
    throw error;
  } finally {
    await log?.close();
  }
}
