// Runs heavy work on untrusted data in a worker thread: it can be terminated at any time, and a crash does not affect the main thread.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { FairleadError, errorMessage, type Json } from '../core/index.ts';

/** How a thread runs. */
export type WorkerThreadOptions = {
  readonly signal: AbortSignal;
  /** Milliseconds until it is terminated. */
  readonly timeoutMs: number;
  /** Max milliseconds until the thread calls `started`; with it, `timeoutMs` counts from that call, so that a slow start of the thread is not time of the task. */
  readonly startTimeoutMs?: number;
  /** Max memory in megabytes. */
  readonly maxMegabytes?: number;
  /** Answers requests of the running thread. */
  readonly onRequest?: (question: Json) => Promise<Json>;
};

type WorkerMessage =
  | { readonly type: 'started' }
  | { readonly type: 'ended'; readonly value: Json }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'asked'; readonly id: number; readonly question: Json };

/** Runs a task in the thread of a module and returns its result. The thread has no environment and prints nothing. */
export async function runInWorkerThread(module: string, task: Json, options: WorkerThreadOptions): Promise<Json> {
  const { signal, timeoutMs, startTimeoutMs, maxMegabytes = 256, onRequest } = options;
  signal.throwIfAborted();
  const worker = new Worker(new URL(module), {
    workerData: { fairlead: module, task },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: maxMegabytes, maxYoungGenerationSizeMb: 32 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Json>();
  const rejectAfter = (ms: number, verb: string): NodeJS.Timeout =>
    setTimeout(
      () => reject(workerError('thread/timeout', `It did not ${verb} within ${ms / 1000} s, so it was stopped.`)),
      ms,
    );
  let timer = startTimeoutMs === undefined ? rejectAfter(timeoutMs, 'finish') : rejectAfter(startTimeoutMs, 'start');
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  worker.on('error', (error) => reject(workerError('thread/failed', `It failed: ${errorMessage(error)}`)));
  worker.on('exit', () => reject(workerError('thread/failed', 'It ended without a result.')));
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'ended') resolve(message.value);
    else if (message.type === 'failed') reject(workerError('thread/failed', message.why));
    else if (message.type === 'started') {
      clearTimeout(timer);
      timer = rejectAfter(timeoutMs, 'finish');
    } else void reply(message);
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
  }

  async function reply({ id, question }: WorkerMessage & { readonly type: 'asked' }): Promise<void> {
    try {
      worker.postMessage({ id, value: (await onRequest?.(question)) ?? null }, []);
    } catch (error) {
      worker.postMessage({ id, failed: errorMessage(error) }, []);
    }
  }
}

const workerError = (code: string, message: string): FairleadError =>
  new FairleadError(code, message, { blame: 'tool' });

/** What a thread can do besides its task. */
export type WorkerContext = {
  readonly request: (question: Json) => Promise<Json>;
  /** Says that everything is loaded, and that the task begins now. */
  readonly started: () => void;
};

/** In the worker thread of this module, runs its task; elsewhere does nothing. A module with a thread calls it once, at its end. */
export function serveWorkerThread(
  module: string,
  work: (task: Json, context: WorkerContext) => Json | Promise<Json>,
): void {
  const port = parentPort;
  const data = workerData as { readonly fairlead?: string; readonly task: Json } | null;
  if (isMainThread || !port || data?.fairlead !== module) return;
  const pendingRequests = new Map<
    number,
    { readonly resolve: (value: Json) => void; readonly reject: (error: Error) => void }
  >();
  port.on(
    'message',
    ({ id, value, failed }: { readonly id: number; readonly value?: Json; readonly failed?: string }) => {
      const pending = pendingRequests.get(id);
      pendingRequests.delete(id);
      if (failed === undefined) pending?.resolve(value ?? null);
      else pending?.reject(new Error(failed));
    },
  );
  let nextId = 0;
  const request = (question: Json): Promise<Json> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      pendingRequests.set(id, { resolve, reject });
      port.postMessage({ type: 'asked', id, question } satisfies WorkerMessage);
    });
  const post = (message: WorkerMessage): void => port.postMessage(message);
  Promise.resolve()
    .then(() => work(data.task, { request, started: () => post({ type: 'started' }) }))
    .then(
      (value) => post({ type: 'ended', value }),
      (error: unknown) => post({ type: 'failed', why: errorMessage(error) }),
    );
}
