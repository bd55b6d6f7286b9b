// The timeout of a worker thread counts from the moment at which its task begins.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { runInWorkerThread, serveWorkerThread } from './worker-thread.ts';

type Task = { readonly loadMs: number; readonly runMs: number };

const run = (task: Task, limits: { readonly timeoutMs: number; readonly startTimeoutMs?: number }): Promise<unknown> =>
  runInWorkerThread(import.meta.url, task, { signal: new AbortController().signal, ...limits });

if (isMainThread) {
  test('[attack 17] a slow start of the thread is not time of its task, and is bounded too', async () => {
    const slowLoad = { loadMs: 1500, runMs: 0 };
    assert.equal(await run(slowLoad, { timeoutMs: 1000, startTimeoutMs: 30_000 }), 'done');
    await assert.rejects(run(slowLoad, { timeoutMs: 1000 }), /It did not finish within 1 s, so it was stopped/);
    await assert.rejects(
      run({ loadMs: 60_000, runMs: 0 }, { timeoutMs: 1000, startTimeoutMs: 500 }),
      /It did not start within 0\.5 s/,
    );
    await assert.rejects(
      run({ loadMs: 0, runMs: 60_000 }, { timeoutMs: 500, startTimeoutMs: 30_000 }),
      /It did not finish within 0\.5 s/,
    );
  });
}

serveWorkerThread(import.meta.url, async (task, { started }) => {
  const { loadMs, runMs } = task as Task;
  await pause(loadMs);
  started();
  await pause(runMs);
  return 'done';
});
