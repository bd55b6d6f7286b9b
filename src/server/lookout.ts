// One follower of a session for all who watch it: what happens is read and written down once, and each watcher takes it at its own pace.
import { setTimeout as pause } from 'node:timers/promises';
import { FairleadError, errorMessage, type Event, type FleetRun, type FleetStore, type Log } from '../core/index.ts';
import { newShelf, type Keeping, type Shelf } from './shelf.ts';
import { newSpeech, type Speech } from './speech.ts';
import { frameOf } from './sse.ts';

/** What is watched: a run until it has ended, or a session for as long as somebody wants to. */
export type Sight = { readonly session: string; readonly run?: string };

/** What a lookout shows, as frames of a stream of events. */
export type Lookout = {
  /** Everything after a seq, and what comes, until the signal aborts or the run has ended. Several frames may come at once. */
  frames(from: number, signal: AbortSignal): AsyncIterable<string>;
  close(): Promise<void>;
};

type Store = Pick<FleetStore, 'sessions' | 'queue' | 'partialText'>;

/** A lookout from the inside. */
type Post = {
  readonly store: Store;
  readonly sight: Sight;
  readonly tell: (sentence: string) => void;
  readonly shelf: Shelf;
  readonly speech: Speech;
  readonly ended: AbortSignal;
  /** The seq of the last event that was read. */
  tail: number;
  /** Whether the run has ended and all of it was shown. */
  over: boolean;
  /** Looks at the run at once instead of in a while. */
  soon: () => void;
};

const usual: Keeping = { items: 4096, chars: 4_000_000 };

/** Watches a sight, reading from a seq on. */
export function lookout(
  store: Store,
  sight: Sight,
  begin: number,
  tell: (sentence: string) => void,
  keeping: Keeping = usual,
): Lookout {
  const ended = new AbortController();
  const shelf = newShelf(begin, keeping);
  const speech = newSpeech(shelf);
  const post: Post = {
    store,
    sight,
    tell,
    shelf,
    speech,
    ended: ended.signal,
    tail: begin,
    over: false,
    soon: () => {},
  };
  const ready = beginWhereItIs(post);
  const unlisten = store.partialText.subscribe(sight.session, (text) => speech.say(text));
  const work = ready.then(() => Promise.all([follow(post), lookAtRun(post)]));
  return {
    async *frames(from, signal) {
      await ready;
      yield* shownAfter(post, from, signal);
    },
    async close() {
      ended.abort();
      unlisten();
      post.soon();
      shelf.wake();
      await work;
    },
  };
}

/** A client may say that it saw more than there is: nothing is covered beyond what there is. */
async function beginWhereItIs(post: Post): Promise<void> {
  if (post.tail === 0) return post.speech.begin(0, 0);
  const { tail, settled } = await endOf(post.store, post.sight.session).catch(() => ({ tail: post.tail, settled: 0 }));
  post.tail = Math.min(post.tail, tail);
  post.shelf.covered = post.tail;
  post.speech.begin(post.tail, settled);
}

async function follow(post: Post): Promise<void> {
  const { store, sight, tell, ended } = post;
  for (let troubles = 0; !ended.aborted;) {
    let log: Log | undefined;
    try {
      log = await store.sessions.reader(sight.session);
      for await (const event of log.follow(post.tail, ended)) {
        seen(post, event);
        troubles = 0;
      }
    } catch (error) {
      if (!isAbsent(error)) {
        troubles++;
        tell(`A session cannot be followed: ${errorMessage(error)}`);
      }
    } finally {
      await log?.close().catch(() => {});
    }
    await pause(Math.min(100 * 2 ** troubles, 5000), undefined, { signal: ended }).catch(() => {});
  }
}

function seen(post: Post, event: Event): void {
  if (event.seq <= post.tail) return;
  post.tail = event.seq;
  post.speech.before(event);
  post.shelf.put({ frame: frameOf('event', event, event.seq), seq: event.seq });
  post.speech.after(event);
  if (event.type === 'run-started' || event.type === 'run-ended' || event.type === 'approval-requested') post.soon();
}

/** Shows the run whenever it stands otherwise; and its end, once all that it did was shown. */
async function lookAtRun(post: Post): Promise<void> {
  const { store, sight, shelf, tell, ended } = post;
  for (let shown = ''; !ended.aborted && !post.over;) {
    const nudged = Promise.withResolvers<void>();
    post.soon = nudged.resolve;
    let waitMs = shown === '' ? 100 : 500;
    try {
      const run = await currentRun(store, sight);
      const told = run && JSON.stringify([run.id, run.status, run.attempts, run.questions.map(({ call }) => call)]);
      const isOver = run?.id === sight.run && run?.status === 'ended';
      // All that a run did is in the log before the queue says that it has ended.
      if (isOver && post.tail < (await endOf(store, sight.session)).tail) waitMs = 20;
      else if (told !== undefined) {
        // A run that was taken and waits again was left in the middle of what it said.
        if (run?.status === 'queued' && run.attempts > 0) post.speech.takeBack();
        if (told !== shown) shelf.put({ frame: frameOf('run', run) });
        shown = told;
        post.over = isOver;
      }
    } catch (error) {
      tell(`A run cannot be looked at: ${errorMessage(error)}`);
    }
    const timer = setTimeout(post.soon, waitMs);
    if (!post.over && !ended.aborted) await nudged.promise;
    clearTimeout(timer);
  }
  if (post.over) shelf.put({ frame: frameOf('end', { run: sight.run }) });
}

async function currentRun({ queue }: Store, { run, session }: Sight): Promise<FleetRun | undefined> {
  return run === undefined ? (await queue.list({ session, most: 1 }))[0] : queue.run(run);
}

async function* shownAfter(post: Post, from: number, signal: AbortSignal): AsyncGenerator<string> {
  const { shelf, speech } = post;
  let seq = from;
  /** Whether this one was told all that is not settled: who comes late, or falls back, is told it in one go. */
  let isAbreast = false;
  let fell = false;
  let resume = (): void => {};
  const stop = (): void => resume();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (let place = -1; !signal.aborted;) {
      if (shelf.isPast(place)) {
        for await (const event of missed(post, seq, signal)) {
          seq = event.seq;
          yield frameOf('event', event, seq);
        }
        place = shelf.placeAfter(seq);
        fell ||= isAbreast;
        isAbreast = false;
      }
      const taken = shelf.take(place, seq, isAbreast);
      ({ place, seq } = taken);
      const text = taken.text === '' && !isAbreast ? speech.soFar(fell) : taken.text;
      isAbreast ||= taken.text === '';
      if (text !== '') yield text;
      else if (post.over || post.ended.aborted) return;
      else {
        const { promise, resolve } = shelf.wait();
        resume = resolve;
        await promise;
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The events after a seq that the shelf no longer holds, or never did, out of the log. */
async function* missed({ store, sight, shelf }: Post, from: number, signal: AbortSignal): AsyncGenerator<Event> {
  if (from >= shelf.covered) return;
  const log = await store.sessions.reader(sight.session);
  const enough = new AbortController();
  try {
    for await (const event of log.follow(from, AbortSignal.any([signal, enough.signal]))) {
      yield event;
      if (event.seq >= shelf.covered) return;
    }
  } finally {
    enough.abort();
    await log.close();
  }
}

const isAbsent = (error: unknown): boolean => error instanceof FairleadError && error.code === 'store/no-session';

/** The seq of the last event of a session, and of the last that settled what was said; 0 where there is none. */
async function endOf(
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
    if (isAbsent(error)) return end;
    throw error;
  } finally {
    await log?.close();
  }
}
