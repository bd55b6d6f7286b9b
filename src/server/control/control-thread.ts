// Starts the control thread of a server or worker, which user input cannot block, and starts it again if it fails.
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { FairleadError, errorMessage } from '../../core/index.ts';
import type { WorkerStatus } from '../../fleet/index.ts';
import { getKeyList } from '../http/key-lists.ts';
import type { ApiKey, ApiKeys } from '../http/keys.ts';
import { beatMs } from './main-thread.ts';
import type { ControlListenOptions, ControlThreadData, FromControlThread, ToControlThread } from './protocol.ts';

/** The options of a control thread. */
export type ControlThreadOptions = {
  /** The location of the store, as in `openFleetStore`: the thread has its own connection. */
  readonly store: string;
  /** Seconds without an answer of the main thread after which the process is ended with exit code 9; 30 by default, 0 for never. */
  readonly watchdogSeconds?: number;
  /** The listener for health and the kill switch, on loopback; without it there is none. */
  readonly listen?: Omit<ControlListenOptions, 'keys'> & { readonly keys: ApiKeys };
  /** Called with messages for the user. */
  readonly notify?: (message: string) => void;
};

/** A running control thread. */
export type ControlThread = {
  /** Resolves with the URL of the listener, if there is one; rejects if the thread cannot start. */
  readonly ready: Promise<string | undefined>;
  /** Tells the thread what the worker of this process is doing: the option `onStatus` of a worker. */
  readonly report: (status: WorkerStatus) => void;
  /** Ends the thread. */
  close(): Promise<void>;
};

/** The watchdog of a control thread, in seconds. */
export const defaultWatchdogSeconds = 30;

const restartMs = 1000;
const maxRestartMs = 60_000;
const closeTimeoutMs = 3000;

/** Starts the control thread of this process. */
export function startControlThread(options: ControlThreadOptions): ControlThread {
  const { watchdogSeconds = defaultWatchdogSeconds, notify } = options;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const listen = options.listen && { ...options.listen, keys: requireKeyList(options.listen.keys) };
  const beating = setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
  let status: WorkerStatus | undefined;
  let isClosed = false;
  let isListening = false;
  let failures = 0;
  let thread: Worker | undefined;
  let restart: NodeJS.Timeout | undefined;
  const { promise: ready, resolve, reject } = Promise.withResolvers<string | undefined>();
  let port = listen?.port ?? 0;

  function start(): void {
    const data: ControlThreadData = {
      fairlead: import.meta.url,
      beats: beats.buffer,
      usesCompileCache: getCompileCacheDir() !== undefined,
      store: options.store,
      watchdogMs: watchdogSeconds * 1000,
      ...(listen ? { listen: { ...listen, port } } : {}),
    };
    const started = new Worker(new URL(import.meta.url), { workerData: data, execArgv: [] });
    let failure = 'it ended';
    thread = started;
    if (status) report(status);
    started.on('message', (message: FromControlThread) => {
      if (message.type === 'failed') {
        failure = message.message;
        return;
      }
      // The same port after a restart.
      if (message.url !== undefined) port = Number(new URL(message.url).port);
      isListening = message.url !== undefined;
      failures = 0;
      // Only until here: it must not keep a process running that has nothing else to do.
      started.unref();
      resolve(message.url);
    });
    started.on('error', (error) => (failure = errorMessage(error)));
    started.on('exit', () => {
      if (thread === started) thread = undefined;
      isListening = false;
      if (isClosed) return;
      reject(createStartError(failure));
      notify?.(`The control thread failed and is started again: ${failure}`);
      restart = setTimeout(start, Math.min(restartMs * 2 ** failures++, maxRestartMs)).unref();
    });
  }

  function report(now: WorkerStatus): void {
    status = now;
    thread?.postMessage({ type: 'status', status: now } satisfies ToControlThread, []);
  }

  start();
  // The caller may not wait for it; a failure is reported by `notify` too.
  ready.catch(() => {});
  return {
    ready,
    report,
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(restart);
      if (isListening && thread) await endRequests(thread);
      await thread?.terminate();
      clearInterval(beating);
    },
  };
}

/** Waits until the active requests have their responses and the store is closed, up to a time. */
async function endRequests(thread: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, closeTimeoutMs);
  thread.once('exit', () => resolve());
  thread.postMessage({ type: 'close' } satisfies ToControlThread, []);
  await promise;
  clearTimeout(timer);
}

/** Functions cannot be given to a thread. */
function requireKeyList(keys: ApiKeys): readonly ApiKey[] {
  const list = getKeyList(keys);
  if (list) return list;
  throw new FairleadError('server/control-keys', 'The control thread needs keys of createApiKeys or loadApiKeys.', {
    blame: 'user',
  });
}

const createStartError = (reason: string): FairleadError =>
  new FairleadError('server/control-thread', `The control thread cannot start: ${reason}`, { blame: 'user' });

if (!isMainThread && (workerData as Partial<ControlThreadData> | null)?.fairlead === import.meta.url) {
  // A thread does not use the compile cache of its program by itself.
  if ((workerData as ControlThreadData).usesCompileCache) enableCompileCache();
  void import('./thread.ts').then(({ runControlThread }) => runControlThread(workerData as ControlThreadData));
}
