// The control thread of a server or worker: reports that the main thread is blocked, obeys the kill switch in its place, and ends the process if it stays blocked.
import { parentPort } from 'node:worker_threads';
import { errorMessage, escapeInvisibleLine, type FleetStore } from '../../core/index.ts';
import type { WorkerStatus } from '../../fleet/index.ts';
import { openFleetStore } from '../../stores/index.ts';
import type { ApiServer } from '../http/server-options.ts';
import { endProcess } from './end-process.ts';
import { beatMs, createMainThreadObserver, formatBlocked, type MainThreadState } from './main-thread.ts';
import type { ControlThreadData, FromControlThread, ToControlThread } from './protocol.ts';

/** Milliseconds between two heartbeats of the worker registry that are sent in place of the main thread. */
const heartbeatMs = 3000;

/** Runs the control thread until the main thread closes it. */
export async function runControlThread(data: ControlThreadData): Promise<void> {
  const port = parentPort;
  if (!port) throw new TypeError('The control thread needs a main thread.');
  const post = (message: FromControlThread): void => port.postMessage(message);
  let status: WorkerStatus | undefined;
  let state: MainThreadState = { blocked: false, blockedMs: 0 };
  let store: Promise<FleetStore> | undefined;
  let server: ApiServer | undefined;
  let isEnding = false;

  /** A worker opens the store here only when its main thread is blocked, so that it uses no second connection before. */
  function openStore(): Promise<FleetStore> {
    store ??= openFleetStore(data.store);
    // After a failure the next caller tries again.
    store.catch(() => (store = undefined));
    return store;
  }

  async function end(reason: string): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    await endProcess(`${formatBlocked(state)} ${reason} ${formatRuns(status)}`);
  }

  /** The kill switch promises that runs stop, and a blocked main thread cannot stop them. */
  async function obeyKillSwitch(): Promise<void> {
    if (status === undefined || status.runs.length === 0) return;
    const { stopped, reason } = await (await openStore()).killSwitch.status();
    if (stopped && state.blocked)
      await end(`The kill switch is on${reason ? ` (${reason})` : ''}: the process is ended.`);
  }

  async function sendHeartbeat(): Promise<void> {
    if (status) await (await openStore()).workers.heartbeat({ ...status.entry, blockedMs: state.blockedMs });
  }

  const keepObeying = createSingleFlight(obeyKillSwitch, 0);
  const keepSending = createSingleFlight(sendHeartbeat, heartbeatMs);
  const observe = createMainThreadObserver(new Int32Array(data.beats));
  const timer = setInterval(() => {
    state = observe();
    if (!state.blocked || isEnding) return;
    keepObeying();
    keepSending();
    if (data.watchdogMs > 0 && state.blockedMs >= data.watchdogMs)
      void end('The process is ended, so that it can be started again.');
  }, beatMs);

  async function close(): Promise<void> {
    clearInterval(timer);
    await server?.close(1000);
    await (await store?.catch(() => undefined))?.close();
    port?.close();
  }

  port.on('message', (message: ToControlThread) => {
    if (message.type === 'status') ({ status } = message);
    else void close().finally(() => process.exit());
  });
  try {
    if (data.listen) {
      const { listenForControl } = await import('./listener.ts');
      server = await listenForControl(await openStore(), data.listen, () => ({ ...state, runs: status?.runs ?? [] }));
    }
    post({ type: 'ready', url: server?.url });
  } catch (error) {
    post({ type: 'failed', message: errorMessage(error) });
    await close();
  }
}

/** Returns a function that starts the work, unless it is in progress or started less than `everyMs` ago. Failures are ignored: it is called again. */
function createSingleFlight(work: () => Promise<void>, everyMs: number): () => void {
  let isActive = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (isActive || performance.now() - startedAt < everyMs) return;
    isActive = true;
    startedAt = performance.now();
    work()
      .catch(() => undefined)
      .finally(() => (isActive = false));
  };
}

function formatRuns(status: WorkerStatus | undefined): string {
  const runs = status?.runs ?? [];
  return runs.length === 0 ? 'No run was executing.' : `Executing: ${runs.map(escapeInvisibleLine).join(', ')}.`;
}
