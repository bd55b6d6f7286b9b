// One follower of a session for all who watch it: what happens is read and written down once, and each watcher takes it at its own pace.
import { setTimeout as pause } from 'node:timers/promises';
import { FairleadError, messageOf, type Event, type FleetRun, type FleetStore, type Log } from '../core/index.ts';

/** What is watched: a run until it has ended, or a session for as long as somebody wants to. */
export type Sight = { readonly session: string; readonly run?: string };

/** A piece of an answer that is not settled. `restarted` takes back what the turn said before. */
export type LiveText = { readonly turn: number; readonly text: string; readonly restarted?: true };

/** One thing to show; `seq` is an event's place. */
type Item = { frame: string; readonly seq?: number; readonly provisional?: true };

/** What a lookout shows, as frames of a stream of events. */
export type Lookout = {
  /** Everything after a seq, and what comes, until the signal aborts or the run has ended. Several frames may come at once. */
  frames(from: number, signal: AbortSignal): AsyncIterable<string>;
  /** Shows a piece that is not settled. */
  say(text: LiveText): void;
  close(): Promise<void>;
};

/** How much a lookout keeps for those who are a little behind; who is further behind reads the log. */
export type Keeping = { readonly items: number; readonly chars: number };

const usual: Keeping = { items: 4096, chars: 4_000_000 };

/** A frame of a stream of events. */
export const frameOf = (event: string, data: unknown, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Watches a sight, reading from a seq on. */
export function lookout(
  store: Pick<FleetStore, 'sessions' | 'queue'>,
  sight: Sight,
  begin: number,
  tell: (sentence: string) => void,
  keeping: Keeping = usual,
): Lookout {
  const ended = new AbortController();
  const items: Item[] = [];
  const waiting = new Set<() => void>();
  let base = 0;
  let chars = 0;
  /** Every event after this one is in `items`, or still to come. */
  let covered = begin;
  let tail = begin;
  let over = false;
  let shown = '';
  let turnText: LiveText | undefined;

  function push(item: Item): void {
    items.push(item);
    chars += item.frame.length;
    while (items.length > keeping.items || (chars > keeping.chars && items.length > 1)) {
      const old = items.shift();
      base++;
      chars -= old?.frame.length ?? 0;
      covered = old?.seq ?? covered;
    }
    wake();
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  function seen(event: Event): void {
    if (event.seq <= tail) return;
    tail = event.seq;
    if (event.type === 'turn-ended' || event.type === 'turn-failed') forgetProvisional();
    push({ frame: frameOf('event', event, event.seq), seq: event.seq });
    if (event.type === 'run-started' || event.type === 'run-ended' || event.type === 'ask-raised') soon();
  }

  /** What was settled need not be shown in pieces to those who come later. */
  function forgetProvisional(): void {
    turnText = undefined;
    for (let i = items.length - 1; i >= 0 && items[i]?.seq === undefined; i--) {
      const item = items[i];
      if (!item?.provisional) continue;
      chars -= item.frame.length;
      item.frame = '';
    }
  }

  /** A client may say that it saw more than there is: then nothing is covered beyond what there is. */
  async function beginWhereItIs(): Promise<void> {
    const end = begin === 0 ? 0 : await tailOf(store, sight.session).catch(() => begin);
    covered = Math.min(begin, end);
    tail = covered;
  }

  async function follow(): Promise<void> {
    await ready;
    for (let waitMs = 100; !ended.signal.aborted; waitMs = Math.min(waitMs * 2, 2000)) {
      let log: Log | undefined;
      try {
        log = await store.sessions.reader(sight.session);
        for await (const event of log.follow(tail, ended.signal)) {
          seen(event);
          waitMs = 100;
        }
      } catch (error) {
        if (!isAbsent(error)) tell(`A session cannot be followed: ${messageOf(error)}`);
        waitMs = isAbsent(error) ? 100 : waitMs;
      } finally {
        await log?.close().catch(() => {});
      }
      await pause(waitMs, undefined, { signal: ended.signal }).catch(() => {});
    }
  }

  let soon: () => void = () => {};
  async function lookAtRun(): Promise<void> {
    await ready;
    while (!ended.signal.aborted && !over) {
      const nudged = Promise.withResolvers<void>();
      soon = nudged.resolve;
      try {
        await showRun();
      } catch (error) {
        tell(`A run cannot be looked at: ${messageOf(error)}`);
      }
      const timer = setTimeout(soon, shown === '' ? 100 : 500);
      if (!over) await nudged.promise;
      clearTimeout(timer);
    }
  }

  async function showRun(): Promise<void> {
    const run = await currentRun();
    if (!run) return;
    const told = JSON.stringify([run.id, run.status, run.attempts, run.questions.map(({ call }) => call)]);
    const isOver = run.id === sight.run && run.status === 'ended';
    // All that a run did is in the log before the queue says that it has ended.
    if (isOver && tail < (await tailOf(store, sight.session))) return void setTimeout(() => soon(), 20);
    if (told !== shown) push({ frame: frameOf('run', run) });
    shown = told;
    if (!isOver) return;
    push({ frame: frameOf('end', { run: run.id }) });
    over = true;
    wake();
  }

  async function currentRun(): Promise<FleetRun | undefined> {
    if (sight.run !== undefined) return store.queue.run(sight.run);
    return (await store.queue.list({ session: sight.session, most: 1 }))[0];
  }

  /** Where in `items` somebody begins who has seen up to this event. */
  function placeAfter(seq: number): number {
    const at = items.findIndex((item) => item.seq !== undefined && item.seq > seq);
    if (at >= 0) return base + at;
    const last = items.findLastIndex((item) => item.seq !== undefined);
    return base + last + 1;
  }

  async function* catchUp(from: number, signal: AbortSignal): AsyncGenerator<{ frame: string; seq: number }> {
    const log = await store.sessions.reader(sight.session);
    const enough = new AbortController();
    try {
      for await (const event of log.follow(from, AbortSignal.any([signal, enough.signal]))) {
        yield { frame: frameOf('event', event, event.seq), seq: event.seq };
        if (event.seq >= covered) return;
      }
    } finally {
      enough.abort();
      await log.close();
    }
  }

  async function* frames(from: number, signal: AbortSignal): AsyncGenerator<string> {
    await ready;
    let last = from;
    let resume = (): void => {};
    const stop = (): void => resume();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (let at = -1; !signal.aborted;) {
        if (at < base && last < covered)
          for await (const { frame, seq } of catchUp(last, signal)) {
            last = seq;
            yield frame;
          }
        if (signal.aborted) return;
        if (at < base) at = placeAfter(last);
        let batch = '';
        for (; at < base + items.length && batch.length < mostAtOnce; at++) {
          const item = items[at - base];
          // A watcher may have seen more than a lookout that began earlier has read.
          if (!item || (item.seq ?? last + 1) <= last) continue;
          batch += item.frame;
          last = item.seq ?? last;
        }
        if (batch !== '') yield batch;
        else if (over) return;
        else if (at >= base + items.length) {
          const { promise, resolve } = Promise.withResolvers<void>();
          resume = resolve;
          waiting.add(resolve);
          await promise;
          waiting.delete(resolve);
        }
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  const ready = beginWhereItIs();
  const work = Promise.all([follow(), lookAtRun()]);
  return {
    frames,
    say(text) {
      if (turnText?.turn === text.turn && text.restarted) forgetProvisional();
      turnText = text;
      push({ frame: frameOf('chunk', text), provisional: true });
    },
    async close() {
      ended.abort();
      soon();
      wake();
      await work;
    },
  };
}

/** Characters that one write takes. */
const mostAtOnce = 65_536;

const isAbsent = (error: unknown): boolean => error instanceof FairleadError && error.code === 'store/no-session';

/** The seq of the last event of a session; 0 where there is none. */
async function tailOf({ sessions }: Pick<FleetStore, 'sessions'>, session: string): Promise<number> {
  let log: Log | undefined;
  try {
    log = await sessions.reader(session);
    let seq = 0;
    for await (const events of log.read({ from: 'epoch' })) seq = events.at(-1)?.seq ?? seq;
    return seq;
  } catch (error) {
    if (isAbsent(error)) return 0;
    throw error;
  } finally {
    await log?.close();
  }
}
