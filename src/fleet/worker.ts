// Worker: claims runs and handles them, obeys the kill switch, deletes old runs daily, detaches from its runs when it stops, and sends the heartbeat of the worker registry every 3 seconds.
import { hostname } from 'node:os';
import {
  FairleadError,
  isObject,
  errorMessage,
  sleepOn,
  systemPort,
  zeroUsage,
  toFailure,
  type Chunk,
  type FleetRun,
  type FleetStore,
  type JsonObject,
  type ProcessPort,
  type RunSettlement,
  type WorkerInfo,
} from '../core/index.ts';
import { createInboxDispatcher, type InboxDispatcher } from './inbox.ts';
import { findRestEnd } from './rate-limit-rest.ts';
import type { RunHandler } from './run-handler.ts';
import { formatStoppedMessage, watchKillSwitch, type KillSwitchWatcher } from './kill-switch.ts';
import { assertMayContinueSession } from './session-rights.ts';

/** What a worker is doing. */
export type WorkerStatus = {
  /** Its entry in the worker registry. */
  readonly entry: Omit<WorkerInfo, 'lastSeenAt'>;
  /** The ids of its active runs. */
  readonly runs: readonly string[];
};

/** The options of a worker. */
export type WorkerOptions = {
  readonly store: FleetStore;
  /** The handler of each kind of run. */
  readonly handlers: Readonly<Record<string, RunHandler>>;
  /** Concurrent runs; 4 by default. */
  readonly concurrency?: number;
  /** The prefix of its id; the host name by default. */
  readonly name?: string;
  /** The version of the program: runs that another version started are not claimed. */
  readonly version?: string;
  /** Ends when no run is active and none can be started now, or when the fleet is stopped. */
  readonly drain?: boolean;
  /** Milliseconds for the current steps after `stop`; 10,000 by default. */
  readonly graceMs?: number;
  /** Days that ended runs are kept in the store; 30 by default, `Infinity` keeps all. */
  readonly keepDays?: number;
  /** Called with partial output of the models. */
  readonly onChunk?: (run: FleetRun, chunk: Chunk) => void;
  /** Called with the result of a run before it is written to the store. */
  readonly onSettled?: (run: FleetRun, settlement: RunSettlement) => void;
  /** Further data of its heartbeats. */
  readonly info?: () => JsonObject;
  /** Called with each heartbeat, and before a run starts and after it ended: a control thread keeps it in case that this thread is blocked. */
  readonly onStatus?: (status: WorkerStatus) => void;
  /** Called with messages for the user. */
  readonly notify?: (message: string) => void;
  /** The clock, the timers and the random ids; those of this process by default. A simulation replaces them. */
  readonly port?: ProcessPort;
};

/** A running worker. */
export type Worker = {
  readonly id: string;
  /** The number of its active runs. */
  readonly running: number;
  /** Resolves when it has ended. */
  readonly done: Promise<void>;
  /** Claims no more runs, and detaches from its runs after their current steps or after `graceMs`: other workers continue them. */
  stop(): void;
  /** Detaches from its runs at once. */
  abort(): void;
};

/** The state that the runs of a worker share. */
type WorkerContext = {
  readonly id: string;
  readonly startedAt: string;
  readonly options: WorkerOptions;
  readonly port: ProcessPort;
  readonly stopSignal: AbortSignal;
  readonly killSwitch: KillSwitchWatcher;
  readonly inboxDispatcher: InboxDispatcher;
  /** One controller per active run, which aborts it, and the id of the run. */
  readonly activeRuns: Map<AbortController, string>;
};

const workerHeartbeatMs = 3000;

/** Starts a worker. */
export function startWorker(options: WorkerOptions): Worker {
  assertWorkerOptions(options);
  const { store, graceMs = 10_000, keepDays = 30, notify, port = systemPort } = options;
  const stopping = new AbortController();
  const activeRuns = new Map<AbortController, string>();
  const abortRuns = (reason: string): void => {
    for (const controller of activeRuns.keys()) controller.abort(createDetachError(reason));
  };
  let wasStopped = false;
  const killSwitch = watchKillSwitch(store.killSwitch, {
    port,
    onChange({ stopped, reason }) {
      if (stopped || wasStopped) notify?.(stopped ? formatStoppedMessage(reason) : 'Kill switch reset.');
      if (stopped) abortRuns(formatStoppedMessage(reason));
      wasStopped = stopped;
    },
  });
  const id = `${options.name ?? hostname()}-${port.randomId().slice(0, 8)}`;
  const context: WorkerContext = {
    id,
    startedAt: new Date(port.now()).toISOString(),
    options,
    port,
    stopSignal: stopping.signal,
    killSwitch,
    inboxDispatcher: createInboxDispatcher(store.inbox, port),
    activeRuns,
  };
  const ended = new AbortController();
  const heartbeats = sendWorkerHeartbeats(context, ended.signal);
  const pruning = pruneDaily({ store, killSwitch, keepDays, notify, port }, ended.signal);
  let cancelGrace = (): void => {};
  const finish = async (): Promise<void> => {
    cancelGrace();
    killSwitch.close();
    ended.abort();
    await Promise.all([context.inboxDispatcher.close(), heartbeats, pruning]);
  };
  return {
    id,
    get running() {
      return activeRuns.size;
    },
    done: claimRuns(context).then(finish),
    stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      cancelGrace = port.timer(graceMs, () => abortRuns(endingReason));
    },
    abort() {
      this.stop();
      abortRuns(endingReason);
    },
  };
}

/** Reports a missing option to JavaScript callers. */
function assertWorkerOptions({ store, handlers }: Partial<WorkerOptions> = {}): void {
  const missing = isObject(store) ? (isObject(handlers) ? undefined : 'handlers by the kind of run') : 'a store';
  if (missing !== undefined)
    throw new FairleadError('fleet/bad-option', `A worker needs ${missing}.`, { blame: 'user' });
}

const endingReason = 'The worker is stopping.';

/** The abort reason that detaches from a run: the run stays open, and another worker can continue it. */
const createDetachError = (reason: string): FairleadError =>
  new FairleadError('run/left', reason, { blame: 'user', retry: true });

/** Claims runs until the worker stops; waits while the fleet is stopped or the store is unavailable. */
async function claimRuns(context: WorkerContext): Promise<void> {
  const { id, options, port, stopSignal, killSwitch } = context;
  const { store, concurrency = 4, drain = false, version, notify } = options;
  const handle = (run: FleetRun, lost: AbortSignal): Promise<RunSettlement> => handleRun(context, run, lost);
  for (let failures = 0; !stopSignal.aborted;) {
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
        handle,
        ...(version ? { version } : {}),
      });
      failures = 0;
      if (drain && !signal.aborted) return;
    } catch (error) {
      notify?.(`Cannot read the queue: ${errorMessage(error)}`);
      await sleepOn(port, Math.min(250 * 2 ** failures++, 5000), stopSignal);
    }
  }
}

/** Whether the kill switch says that the fleet is stopped; false if the store is unavailable, because it may come back. */
const isStopped = ({ killSwitch }: FleetStore): Promise<boolean> =>
  killSwitch.status().then(
    ({ stopped }) => stopped,
    () => false,
  );

async function handleRun(context: WorkerContext, run: FleetRun, lost: AbortSignal): Promise<RunSettlement> {
  const { options, stopSignal, killSwitch, activeRuns } = context;
  const controller = new AbortController();
  const onLost = (): void => controller.abort(createDetachError('Another worker has taken over this run.'));
  lost.addEventListener('abort', onLost, { once: true });
  if (lost.aborted) onLost();
  activeRuns.set(controller, run.id);
  if (options.onStatus) reportStatus(context);
  try {
    if (stopSignal.aborted || (await killSwitch.status()).stopped) return { type: 'released' };
    const settlement = await invokeHandler(context, run, lost, controller.signal);
    if (!lost.aborted) options.onSettled?.(run, settlement);
    return settlement;
  } finally {
    activeRuns.delete(controller);
    if (options.onStatus) reportStatus(context);
    lost.removeEventListener('abort', onLost);
  }
}

/** Calls the handler of a run. An error that another attempt cannot fix ends the run. */
async function invokeHandler(
  context: WorkerContext,
  run: FleetRun,
  lost: AbortSignal,
  signal: AbortSignal,
): Promise<RunSettlement> {
  const { id, options, port, stopSignal, killSwitch, inboxDispatcher } = context;
  const { store, handlers } = options;
  const handler = Object.hasOwn(handlers, run.kind) ? handlers[run.kind] : undefined;
  try {
    if (!handler)
      throw new FairleadError('fleet/no-handler', `No handler registered for run kind "${run.kind}".`, {
        blame: 'store',
      });
    await assertMayContinueSession(store.queue, run);
    return await handler(run, {
      store,
      worker: id,
      signal,
      stopSignal,
      leaseLost: lost,
      gate: async () => {
        const { stopped, reason } = await killSwitch.status();
        return stopped ? { type: 'deny', reason: formatStoppedMessage(reason) } : { type: 'allow' };
      },
      assertNotStopped: () => killSwitch.assertNotStopped(),
      onInboxMessage: (session, listener) => inboxDispatcher.subscribe(session, listener),
      onChunk: (chunk) => options.onChunk?.(run, chunk),
      port,
    });
  } catch (error) {
    if (signal.aborted) return { type: 'released' };
    const notBefore = findRestEnd(error, run, port);
    if (notBefore !== undefined) return { type: 'released', notBefore };
    options.notify?.(`${run.id}: ${errorMessage(error)}`);
    if (!(error instanceof FairleadError) || error.retry || error.blame === 'store') throw error;
    const outcome = { reason: 'provider-error', detail: error.message, error: toFailure(error), text: '' } as const;
    return { type: 'completed', outcome: { ...outcome, spent: zeroUsage } };
  }
}

/** Reports what the worker is doing, and returns its entry in the worker registry. */
function reportStatus({ id, startedAt, options, activeRuns }: WorkerContext): WorkerStatus['entry'] {
  const { version = '', info, onStatus } = options;
  const entry = {
    worker: id,
    host: hostname(),
    pid: process.pid,
    version,
    startedAt,
    running: activeRuns.size,
    info: info?.() ?? {},
  };
  onStatus?.({ entry, runs: [...activeRuns.values()] });
  return entry;
}

/** Sends heartbeats to the worker registry until the signal aborts. A failed heartbeat is ignored: the next one replaces it. */
async function sendWorkerHeartbeats(context: WorkerContext, signal: AbortSignal): Promise<void> {
  const { workers } = context.options.store;
  while (!signal.aborted) {
    await workers.heartbeat(reportStatus(context)).catch(() => undefined);
    await sleepOn(context.port, workerHeartbeatMs, signal);
  }
  await workers.deregister(context.id).catch(() => undefined);
}

/** The options of retention. */
type RetentionOptions = {
  readonly store: Pick<FleetStore, 'prune'>;
  /** Nothing is deleted while the fleet is stopped: an operator may need it to find out what went wrong. */
  readonly killSwitch: Pick<KillSwitchWatcher, 'waitUntilActive'>;
  /** Days that an ended run is kept. */
  readonly keepDays: number;
  readonly notify?: ((message: string) => void) | undefined;
  readonly port: ProcessPort;
};

const dayMs = 24 * 60 * 60 * 1000;

/** Deletes old runs at once and then daily, until the signal aborts. */
async function pruneDaily(
  { store, killSwitch, keepDays, notify, port }: RetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  for (; !signal.aborted && Number.isFinite(keepDays);) {
    await killSwitch.waitUntilActive(signal);
    if (signal.aborted) return;
    try {
      await store.prune(new Date(Math.max(0, port.now() - keepDays * dayMs)).toISOString());
    } catch (error) {
      notify?.(`Could not delete old runs: ${errorMessage(error)}`);
    }
    await sleepOn(port, dayMs, signal);
  }
}
