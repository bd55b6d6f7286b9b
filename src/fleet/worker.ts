// A worker: takes runs from the queue and works on them, heeds the kill-switch, carries letters, and hands over when it is told to end.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  FairleadError,
  messageOf,
  noSpending,
  toFailure,
  type Chunk,
  type FleetRun,
  type FleetStore,
  type JsonObject,
  type Settlement,
  type Standing,
} from '../core/index.ts';
import type { Driver } from './driver.ts';
import { watchSwitch } from './kill-switch.ts';

/** What a worker is started with. */
export type WorkerOptions = {
  readonly store: FleetStore;
  /** Who works on the runs of each kind. */
  readonly drivers: Readonly<Record<string, Driver>>;
  /** Runs at a time; 4 unless given. */
  readonly concurrency?: number;
  /** What its id begins with; the machine's name unless given. */
  readonly name?: string;
  /** The version of the program: runs that another one began are left to it. */
  readonly version?: string;
  /** Ends once the queue is empty and nothing is under way. */
  readonly drain?: boolean;
  /** Milliseconds that the steps under way have to end once it is told to stop; 10,000 unless given. */
  readonly graceMs?: number;
  /** Sees what the models say before it is settled, and when a run is taken and let go. */
  readonly live?: (run: FleetRun, chunk: Chunk) => void;
  readonly settled?: (run: FleetRun, settlement: Settlement) => void;
  /** What others are told of it beside its runs. */
  readonly about?: () => JsonObject;
  /** Says what a person should know, a sentence each. */
  readonly tell?: (sentence: string) => void;
};

/** A worker that works. */
export type Worker = {
  readonly id: string;
  /** How many runs it has. */
  readonly running: number;
  /** Settles once it has ended; fails where it cannot work at all. */
  readonly done: Promise<void>;
  /** Takes no more, and hands over what it has once the steps under way are done, or the grace is over. */
  stop(): void;
  /** Hands over at once. */
  cut(): void;
};

type Held = { readonly run: FleetRun; readonly cut: AbortController };

/** Milliseconds between two signs of life. */
const beatMs = 3000;

/** Starts a worker. */
export function startWorker(options: WorkerOptions): Worker {
  const { store, concurrency = 4, version = '', graceMs = 10_000, tell = () => {} } = options;
  const id = `${options.name ?? hostname()}-${crypto.randomUUID().slice(0, 8)}`;
  const held = new Set<Held>();
  const leave = new AbortController();
  const over = new AbortController();
  const ears = new Map<string, Set<() => void>>();
  let round = new AbortController();
  let going = Promise.withResolvers<void>();

  const cutAll = (why: string): void => {
    const left = new FairleadError('run/left', why, { blame: 'user', retry: true });
    for (const { cut } of held) cut.abort(left);
  };
  const changed = ({ stopped, why }: Standing): void => {
    if (!stopped) {
      going.resolve();
      return;
    }
    going = Promise.withResolvers<void>();
    tell(`The fleet is stopped${why === undefined ? '.' : `: ${why}`}`);
    round.abort();
    cutAll('The fleet was stopped.');
  };
  const standing = watchSwitch(store.killSwitch, { changed });

  async function drive(run: FleetRun, lost: AbortSignal): Promise<Settlement> {
    const cut = new AbortController();
    const quit = (): void =>
      cut.abort(new FairleadError('run/left', 'Another has this run now.', { blame: 'harness' }));
    if (lost.aborted) quit();
    lost.addEventListener('abort', quit, { once: true });
    const mine: Held = { run, cut };
    held.add(mine);
    try {
      await standing.mustGo();
      const driver = Object.hasOwn(options.drivers, run.kind) ? options.drivers[run.kind] : undefined;
      if (!driver)
        throw new FairleadError('store/no-driver', `Nobody here works on runs of the kind ${run.kind}.`, {
          blame: 'store',
        });
      const settlement = await driver(run, {
        store,
        worker: id,
        signal: cut.signal,
        leave: leave.signal,
        lost,
        gate: async () => {
          const { stopped } = await standing.standing();
          return stopped ? { type: 'deny', reason: 'The fleet is stopped.' } : { type: 'allow' };
        },
        mustGo: () => standing.mustGo(),
        hear,
        live: (chunk) => options.live?.(run, chunk),
      });
      options.settled?.(run, settlement);
      return settlement;
    } catch (error) {
      if (cut.signal.aborted || (error instanceof FairleadError && error.code === 'run/left')) return { type: 'left' };
      const settlement = hopeless(error);
      tell(`${run.id}: ${messageOf(error)}`);
      if (!settlement) throw error;
      options.settled?.(run, settlement);
      return settlement;
    } finally {
      held.delete(mine);
      lost.removeEventListener('abort', quit);
    }
  }

  function hear(session: string, heard: () => void): () => void {
    const all = ears.get(session) ?? new Set();
    ears.set(session, all.add(heard));
    return () => {
      all.delete(heard);
      if (all.size === 0 && ears.get(session) === all) ears.delete(session);
    };
  }

  async function carry(): Promise<void> {
    while (!over.signal.aborted) {
      try {
        for await (const session of store.inbox.watch(over.signal))
          for (const heard of ears.get(session) ?? []) heard();
      } catch {
        // The store is away: whoever comes back to it reads what came meanwhile.
      }
      await pause(200, undefined, { signal: over.signal }).catch(() => undefined);
      for (const all of ears.values()) for (const heard of all) heard();
    }
  }

  const begun = new Date().toISOString();
  async function beat(): Promise<void> {
    while (!over.signal.aborted) {
      const entry = { worker: id, host: hostname(), pid: process.pid, version, begun, running: held.size };
      await store.roster.beat({ ...entry, about: options.about?.() ?? {} }).catch(() => undefined);
      await pause(beatMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
    await store.roster.leave(id).catch(() => undefined);
  }

  async function takeRuns(): Promise<void> {
    for (let troubles = 0; !leave.signal.aborted;) {
      const { stopped } = await standing.standing();
      if (stopped) {
        await Promise.race([going.promise, left]);
        continue;
      }
      round = new AbortController();
      const signal = AbortSignal.any([leave.signal, round.signal]);
      try {
        const { drain = false } = options;
        await store.queue.work({ worker: id, concurrency, signal, drain, drive, ...(version ? { version } : {}) });
        troubles = 0;
        if (drain && !signal.aborted) return;
      } catch (error) {
        tell(`The queue cannot be worked on: ${messageOf(error)}`);
        await pause(Math.min(250 * 2 ** troubles++, 5000), undefined, { signal: leave.signal }).catch(() => undefined);
      }
    }
  }

  const left = new Promise<void>((resolve) => leave.signal.addEventListener('abort', () => resolve(), { once: true }));
  const besides = Promise.all([carry(), beat()]);
  const finish = async (): Promise<void> => {
    standing.close();
    over.abort();
    await besides;
  };
  const done = takeRuns().then(finish, async (error: unknown) => {
    await finish();
    throw error;
  });
  let grace: ReturnType<typeof setTimeout> | undefined;
  void done.catch(() => undefined).finally(() => clearTimeout(grace));
  return {
    id,
    get running() {
      return held.size;
    },
    done,
    stop() {
      if (leave.signal.aborted) return;
      leave.abort();
      grace = setTimeout(() => cutAll('The worker is ending.'), graceMs);
    },
    cut() {
      this.stop();
      cutAll('The worker is ending.');
    },
  };
}

/** An end for a run that would fail in the same way again; nothing where another attempt may help. */
function hopeless(error: unknown): Settlement | undefined {
  if (!(error instanceof FairleadError) || error.retry || error.blame === 'store') return undefined;
  const outcome = { reason: 'provider-error', detail: error.message, error: toFailure(error), text: '' } as const;
  return { type: 'ended', outcome: { ...outcome, spent: noSpending } };
}
