// Tests of the worker: claim, settle, release and stop, on a real store with different run handlers.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { resolveAgent, defineTool } from '../agent/index.ts';
import {
  FairleadError,
  zeroUsage,
  type Chunk,
  type FleetRun,
  type FleetStore,
  type RunOutcome,
} from '../core/index.ts';
import { calls, scriptedProvider } from '../testing/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { createAgentRunHandler, type RunHandler } from './run-handler.ts';
import { startWorker, type Worker, type WorkerOptions } from './worker.ts';

const outcome: RunOutcome = { reason: 'answered', text: 'Done.', spent: zeroUsage };
const endingHandler: RunHandler = async () => ({ type: 'completed', outcome });

function startTestWorker(
  t: TestContext,
  store: FleetStore,
  run: RunHandler,
  more: Partial<WorkerOptions> = {},
): Worker {
  const worker = startWorker({ store, handlers: { run }, name: 'w', ...more });
  t.after(async () => {
    worker.abort();
    await worker.done;
  });
  return worker;
}

async function waitForEnd(store: FleetStore, id: string): Promise<FleetRun> {
  for (;;) {
    const run = await store.queue.run(id);
    if (run?.status === 'ended') return run;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a run that cannot succeed ends with the reason, and a run with a temporary failure is retried', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([
    { id: 'bad', prompt: 'bad' },
    { id: 'shaky', prompt: 'shaky' },
    { id: 'store', prompt: 'store' },
  ]);
  const told: string[] = [];
  const driver: RunHandler = async ({ prompt: words, attempts }) => {
    if (words === 'bad')
      throw new FairleadError('coding-agent/no-folder', 'There is no such folder.', { blame: 'user' });
    if (attempts < 3)
      throw words === 'store' ? new FairleadError('store/failed', 'Away.', { blame: 'store' }) : new Error('oops');
    return { type: 'completed', outcome };
  };
  const worker = startTestWorker(t, store, driver, { drain: true, notify: (sentence) => told.push(sentence) });
  await worker.done;
  const bad = await waitForEnd(store, 'bad');
  assert.deepEqual(
    [bad.outcome?.reason, bad.outcome?.error?.code, bad.attempts],
    ['provider-error', 'coding-agent/no-folder', 1],
  );
  assert.deepEqual(
    (await Promise.all(['shaky', 'store'].map((id) => waitForEnd(store, id)))).map((run) => run.attempts),
    [3, 3],
  );
  assert.ok(told.includes('bad: There is no such folder.'));
});

test('[A116] a worker is registered while it works, and removed when it stops', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'one', prompt: 'x' }]);
  const worker = startTestWorker(t, store, endingHandler, { version: '9', info: () => ({ memory: 1 }) });
  await waitForEnd(store, 'one');
  const [entry] = await store.workers.list();
  assert.deepEqual(
    [entry?.worker, entry?.pid, entry?.version, entry?.info],
    [worker.id, process.pid, '9', { memory: 1 }],
  );
  worker.stop();
  await worker.done;
  assert.deepEqual(await store.workers.list(), []);
});

test('[A95] a stopped fleet makes no call: the call of an active run is made after the fleet resumes', async (t) => {
  const store = await openTempFleetStore(t);
  let made = 0;
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'write',
    input: { type: 'object' },
    run: () => `seen ${++made}`,
  });
  const provider = scriptedProvider(async ({ results }) => {
    if (results.length > 0) return `Then ${results.join()}`;
    if (made === 0 && !stopped) {
      stopped = true;
      await store.killSwitch.stop('a test', 'me');
    }
    return calls('look');
  });
  let stopped = false;
  const driver = createAgentRunHandler(async () => ({
    parts: resolveAgent({ provider, system: 'Work.', tools: [look], gates: [slow] }),
    close: async () => {},
  }));
  // The last gate allows the call, but only after the worker has seen the stop.
  const known = Promise.withResolvers<void>();
  const slow = async (): Promise<{ readonly type: 'allow' }> => {
    await known.promise;
    return { type: 'allow' };
  };
  const told = (sentence: string): void => {
    if (sentence.startsWith('The fleet is stopped')) known.resolve();
  };
  startTestWorker(t, store, driver, { notify: told });
  await store.queue.enqueue([{ id: 'one', prompt: 'Look.' }]);
  await known.promise;
  for (let run = await store.queue.run('one'); run?.status !== 'queued'; run = await store.queue.run('one'))
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(made, 0);
  await store.killSwitch.resume('me');
  assert.equal((await waitForEnd(store, 'one')).outcome?.text, 'Then seen 1');
});

test('partial text of a model is published before the turn is recorded', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'one', prompt: 'x' }]);
  const seen: string[] = [];
  const live = ({ id }: FleetRun, chunk: Chunk): void =>
    void (chunk.type === 'part-delta' && seen.push(`${id}: ${chunk.text}`));
  const driver = createAgentRunHandler(async () => ({
    parts: resolveAgent({ provider: scriptedProvider(['Hello.']), system: '' }),
    close: async () => {},
  }));
  await startTestWorker(t, store, driver, { drain: true, onChunk: live }).done;
  assert.equal(seen.join('').replaceAll('one: ', ''), 'Hello.');
});

test('a worker prunes old ended runs only, and none while the fleet is stopped', async (t) => {
  const store = await openTempFleetStore(t);
  await store.queue.enqueue([{ id: 'old', prompt: 'x' }]);
  await startTestWorker(t, store, endingHandler, { drain: true }).done;
  const asked: number[] = [];
  const prune: FleetStore['prune'] = async (before) => {
    asked.push(Date.now() - Date.parse(before));
    return store.prune(before);
  };
  await startTestWorker(t, { ...store, prune }, endingHandler, { drain: true, keepDays: Infinity }).done;
  assert.deepEqual(asked, []);
  await store.killSwitch.stop('Look into it.', 'Ann');
  const worker = startTestWorker(t, { ...store, prune }, endingHandler, { keepDays: 0 });
  while ((await store.workers.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([asked, (await store.queue.list()).length], [[], 1]);
  await store.killSwitch.resume('Ann');
  while ((await store.queue.list()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  worker.stop();
  await startTestWorker(t, { ...store, prune }, endingHandler, { drain: true }).done;
  const day = 24 * 60 * 60 * 1000;
  assert.deepEqual(
    asked.map((ms) => Math.floor(ms / day)),
    [0, 30],
  );
});
