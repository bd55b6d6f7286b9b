// Tests of task runs: their result is recorded once, also after a crash, and what fails has no result.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createFleetRun } from '../../test/support/run-fixture.ts';
import { zeroUsage, type FleetRun, type FleetStore } from '../core/index.ts';
import { createTaskRunHandler, readTaskNotes, type TaskResult } from './task-run-handler.ts';
import type { RunHandlerContext } from './run-handler.ts';

const answered: TaskResult = {
  outcome: { reason: 'answered', text: 'done' },
  result: { report: { outcome: 'verified' } },
  spent: { input: 5, usd: 0.5 },
};

const createContext = (store: FleetStore, more: Partial<RunHandlerContext> = {}): RunHandlerContext => ({
  store,
  worker: 'w',
  signal: new AbortController().signal,
  stopSignal: new AbortController().signal,
  leaseLost: new AbortController().signal,
  gate: { name: 'none', check: () => ({ type: 'allow' }) } as never,
  assertNotStopped: async () => undefined,
  onInboxMessage: () => () => undefined,
  onChunk: () => undefined,
  ...more,
});

const readNotes = async (store: FleetStore, run: FleetRun): ReturnType<typeof readTaskNotes> => {
  const log = await store.sessions.reader(run.session);
  try {
    return await readTaskNotes(log, run);
  } finally {
    await log.close();
  }
};

test('[A90] the result of a task is recorded, and an attempt after a crash does not do it again', async (t) => {
  const store = await openTempFleetStore(t);
  const run = createFleetRun({ id: 'r', prompt: 'q', kind: 'verify', session: 's', attempts: 1 });
  let count = 0;
  const handle = createTaskRunHandler(async (_, { onProgress }) => {
    count += 1;
    onProgress({ stage: 'judges' });
    return answered;
  });
  const settled = await handle(run, createContext(store));
  assert.deepEqual(settled, {
    type: 'completed',
    outcome: { ...answered.outcome, spent: { ...zeroUsage, input: 5, usd: 0.5 } },
  });
  assert.deepEqual((await readNotes(store, run)).result?.['report'], { outcome: 'verified' });
  assert.deepEqual(await handle({ ...run, attempts: 2 }, createContext(store)), settled);
  // A crash of the store can undo the claim, so that the next attempt counts as the first one.
  assert.deepEqual(await handle(run, createContext(store)), settled);
  assert.equal(count, 1);
  // Another run of the session has no result yet.
  assert.deepEqual(await readNotes(store, { ...run, id: 'other' }), {});
});

test('[A90] a task that fails, is detached from or is stopped has no result', async (t) => {
  const store = await openTempFleetStore(t);
  const run = createFleetRun({ id: 'r', prompt: 'q', kind: 'verify', session: 's', attempts: 1 });
  const failing = createTaskRunHandler(() => Promise.reject(new Error('broken')));
  await assert.rejects(failing(run, createContext(store)), /broken/);
  const detached = AbortSignal.abort();
  const working = createTaskRunHandler(async () => answered);
  assert.deepEqual(await working(run, createContext(store, { signal: detached })), { type: 'released' });
  const stopped = (): Promise<void> => Promise.reject(new Error('stopped'));
  await assert.rejects(working(run, createContext(store, { assertNotStopped: stopped })), /stopped/);
  assert.deepEqual(await readNotes(store, run), {});
});

test('[A90] a cancelled task ends as cancelled, before it starts and while it works', async (t) => {
  const store = await openTempFleetStore(t);
  const run = createFleetRun({ id: 'r', prompt: 'q', kind: 'verify', session: 's', attempts: 1 });
  let notify: () => void = () => undefined;
  const waiting = createTaskRunHandler(async (_, { signal }) => {
    await store.inbox.send('s', { type: 'cancel' });
    notify();
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    return answered;
  });
  const onInboxMessage: RunHandlerContext['onInboxMessage'] = (_session, listener) => {
    notify = listener;
    return () => undefined;
  };
  const reasonOf = async (handled: ReturnType<typeof waiting>): Promise<string> => {
    const settled = await handled;
    return settled.type === 'completed' ? settled.outcome.reason : settled.type;
  };
  assert.equal(await reasonOf(waiting(run, createContext(store, { onInboxMessage }))), 'cancelled');
  await store.inbox.send('s', { type: 'cancel' });
  let isDone = false;
  const never = createTaskRunHandler(async () => ((isDone = true), answered));
  assert.equal(await reasonOf(never(run, createContext(store))), 'cancelled');
  assert.equal(isDone, false);
});
