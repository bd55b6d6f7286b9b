// A worker: takes runs from the queue and works on them, heeds the kill-switch, and hands over when it is told to end.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  FairleadError,
  isObject,
  errorMessage,
  zeroUsage,
  toFailure,
  type Chunk,
  type FleetRun,
  type FleetStore,
  type JsonObject,
  type RunSettlement,
} from '../core/index.ts';
import { createInboxDispatcher, type InboxDispatcher } from './inbox-dispatcher.ts';
import type { RunHandler } from './run-handler.ts';
import { pruneDaily } from './retention.ts';
import { formatStoppedMessage, watchKillSwitch, type KillSwitchWatcher } from './kill-switch.ts';

/** What a worker is started with. */
export type WorkerOptions = {
  readonly store: FleetStore;
  /** Who works on the runs of each kind. */
  readonly handlers: Readonly<Record<string, RunHandler>>;
  /** Runs at a time; 4 unless given. */
  readonly concurrency?: number;
  /** What its id begins with; the machine's name unless given. */
  readonly name?: string;
  /** The version of the program: runs that another one began are left to it. */
  readonly version?: string;
  /** Ends once nothing is left that could be begun now and nothing is under way, and while the fleet is stopped. */
  readonly drain?: boolean;
  /** Milliseconds that the steps under way have to end once it is told to stop; 10,000 unless given. */
  readonly graceMs?: number;
  /** Days that runs are kept once they have ended, for the whole fleet; 30 unless given, and for ever where it is infinite. */
  readonly keepDays?: number;
  /** Sees what the models say before it is settled. */
  readonly onChunk?: (run: FleetRun, chunk: Chunk) => void;
  /** Sees what came of working on a run, before it is written down. */
  readonly onSettled?: (run: FleetRun, settlement: RunSettlement) => void;
  /** What others are told of it beside its runs. */
  readonly info?: () => JsonObject;
  /** Says what a person should know, a sentence each. */
  readonly notify?: (sentence: string) => void;
};

/** A worker that works. */
export type Worker = {
  readonly id: string;
  /** How many runs it has. */
  readonly running: number;
  /** Settles once it has ended. */
  readonly done: Promise<void>;
  /** Takes no more, and hands over what it has once the steps under way are done, or the grace is over. */
  stop(): void;
  /** Hands over at once. */
  abort(): void;
};

/** Where the runs of a worker are worked on. */
type WorkerContext = {
  readonly id: string;
  readonly options: WorkerOptions;
  readonly stopSignal: AbortSignal;
  readonly killSwitch: KillSwitchWatcher;
  readonly inboxDispatcher: InboxDispatcher;
  /** The runs that are under way, each by what cuts it off. */
  readonly activeRuns: Set<AbortController>;
};

/** Milliseconds between two signs of life. */
const heartbeatMs = 3000;

/** Starts a worker. */
export function startWorker(options: WorkerOptions): Worker {
  assertWorkerOptions(options);
  const { store, graceMs = 10_000, keepDays = 30, notify } = options;
  const leave = new AbortController();
  const held = new Set<AbortController>();
  const cutAll = (why: string): void => {
    for (const cut of held) cut.abort(createLeftError(why));
  };
  let wasStopped = false;
  const standing = watchKillSwitch(store.killSwitch, {
    onChange({ stopped, reason: why }) {
      if (stopped || wasStopped) notify?.(stopped ? formatStoppedMessage(why) : 'The fleet goes on.');
      if (stopped) cutAll(formatStoppedMessage(why));
      wasStopped = stopped;
    },
  });
  const id = `${options.name ?? hostname()}-${crypto.randomUUID().slice(0, 8)}`;
  const bench: WorkerContext = {
    id,
    options,
    stopSignal: leave.signal,
    killSwitch: standing,
    inboxDispatcher: createInboxDispatcher(store.inbox),
    activeRuns: held,
  };
  const ended = new AbortController();
  const beating = sendHeartbeats(bench, ended.signal);
  const forgetting = pruneDaily({ store, killSwitch: standing, keepDays, notify }, ended.signal);
  let grace: ReturnType<typeof setTimeout> | undefined;
  const finish = async (): Promise<void> => {
    clearTimeout(grace);
    standing.close();
    ended.abort();
    await Promise.all([bench.inboxDispatcher.close(), beating, forgetting]);
  };
  return {
    id,
    get running() {
      return held.size;
    },
    done: claimRuns(bench).then(finish),
    stop() {
      if (leave.signal.aborted) return;
      leave.abort();
      grace = setTimeout(() => cutAll(endingReason), graceMs);
    },
    abort() {
      this.stop();
      cutAll(endingReason);
    },
  };
}

/** Whoever writes plain JavaScript is told here what is missing. */
function assertWorkerOptions({ store, handlers }: Partial<WorkerOptions> = {}): void {
  const missing = isObject(store) ? (isObject(handlers) ? undefined : 'drivers, by the kind of run') : 'a store';
  if (missing !== undefined)
    throw new FairleadError('fleet/bad-option', `A worker needs ${missing}.`, { blame: 'user' });
}

const endingReason = 'The worker is ending.';

const createLeftError = (why: string): FairleadError =>
  new FairleadError('run/left', why, { blame: 'user', retry: true });

/** Takes runs while the fleet goes on, until told to leave; a store that is away is waited for. */
async function claimRuns(bench: WorkerContext): Promise<void> {
  const { id, options, stopSignal, killSwitch } = bench;
  const { store, concurrency = 4, drain = false, version, notify } = options;
  const drive = (run: FleetRun, lost: AbortSignal): Promise<RunSettlement> => handleRun(bench, run, lost);
  for (let troubles = 0; !stopSignal.aborted;) {
    if ((await killSwitch.status()).stopped) {
      if (drain && (await isStopped(store))) return;
      await killSwitch.waitUntilActive(drain ? AbortSignal.any([stopSignal, AbortSignal.timeout(1000)]) : stopSignal);
      continue;
    }
    const signal = AbortSignal.any([stopSignal, killSwitch.activeSignal]);
    try {
      await store.queue.work({
        worker: id,
        concurrency,
        signal,
        drain,
        handle: drive,
        ...(version ? { version } : {}),
      });
      troubles = 0;
      if (drain && !signal.aborted) return;
    } catch (error) {
      notify?.(`The queue cannot be worked on: ${errorMessage(error)}`);
      await pause(Math.min(250 * 2 ** troubles++, 5000), undefined, { signal: stopSignal }).catch(() => undefined);
    }
  }
}

/** Whether the kill-switch itself says so: a store that is away says nothing, and comes back. */
const isStopped = ({ killSwitch }: FleetStore): Promise<boolean> =>
  killSwitch.status().then(
    ({ stopped }) => stopped,
    () => false,
  );

async function handleRun(bench: WorkerContext, run: FleetRun, lost: AbortSignal): Promise<RunSettlement> {
  const { options, stopSignal, killSwitch, activeRuns } = bench;
  const cut = new AbortController();
  const quit = (): void => cut.abort(createLeftError('Another worker has this run now.'));
  lost.addEventListener('abort', quit, { once: true });
  if (lost.aborted) quit();
  activeRuns.add(cut);
  try {
    if (stopSignal.aborted || (await killSwitch.status()).stopped) return { type: 'released' };
    const settlement = await invokeHandler(bench, run, lost, cut.signal);
    if (!lost.aborted) options.onSettled?.(run, settlement);
    return settlement;
  } finally {
    activeRuns.delete(cut);
    lost.removeEventListener('abort', quit);
  }
}

/** What came of working on a run. What cannot be mended by another attempt ends it. */
async function invokeHandler(
  bench: WorkerContext,
  run: FleetRun,
  lost: AbortSignal,
  signal: AbortSignal,
): Promise<RunSettlement> {
  const { id, options, stopSignal, killSwitch, inboxDispatcher } = bench;
  const { store, handlers } = options;
  const driver = Object.hasOwn(handlers, run.kind) ? handlers[run.kind] : undefined;
  try {
    if (!driver) throw new FairleadError('store/no-driver', `Nobody here works on "${run.kind}".`, { blame: 'store' });
    return await driver(run, {
      store,
      worker: id,
      signal,
      stopSignal,
      leaseLost: lost,
      gate: async () => {
        const { stopped, reason: why } = await killSwitch.status();
        return stopped ? { type: 'deny', reason: formatStoppedMessage(why) } : { type: 'allow' };
      },
      assertNotStopped: () => killSwitch.assertNotStopped(),
      onInboxMessage: (session, heard) => inboxDispatcher.subscribe(session, heard),
      onChunk: (chunk) => options.onChunk?.(run, chunk),
    });
  } catch (error) {
    if (signal.aborted) return { type: 'released' };
    options.notify?.(`${run.id}: ${errorMessage(error)}`);
    if (!(error instanceof FairleadError) || error.retry || error.blame === 'store') throw error;
    const outcome = { reason: 'provider-error', detail: error.message, error: toFailure(error), text: '' } as const;
    return { type: 'completed', outcome: { ...outcome, spent: zeroUsage } };
  }
}

/** Gives signs of life until the signal aborts. One that is not heard is made up for by the next. */
async function sendHeartbeats({ id, options, activeRuns }: WorkerContext, signal: AbortSignal): Promise<void> {
  const { workers } = options.store;
  const { version = '', info } = options;
  const me = { worker: id, host: hostname(), pid: process.pid, version, startedAt: new Date().toISOString() };
  while (!signal.aborted) {
    await workers.heartbeat({ ...me, running: activeRuns.size, info: info?.() ?? {} }).catch(() => undefined);
    await pause(heartbeatMs, undefined, { signal }).catch(() => undefined);
  }
  await workers.deregister(id).catch(() => undefined);
}
