// Tests of orchestration runs: each child run is started once by any worker, limits apply to the whole tree, and a cancel reaches all children.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { zeroUsage, type FleetRun, type FleetStore, type RunSettlement } from '../core/index.ts';
import { openFleetStore } from '../stores/index.ts';
import { createOrchestrationHandler, type Orchestration } from './orchestrator.ts';
import type { RunHandler } from './run-handler.ts';
import { planOrchestration } from './plan/index.ts';
import { startWorker } from './worker.ts';

async function storeFor(t: TestContext): Promise<FleetStore> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

/** A run handler that answers by run and records the runs it handled. */
const answeringHandler =
  (seen: FleetRun[], answer: (run: FleetRun) => string): RunHandler =>
  async (run): Promise<RunSettlement> => {
    seen.push(run);
    const spent = { ...zeroUsage, usd: 0.25, input: 10 };
    return { type: 'completed', outcome: { reason: 'answered', text: answer(run), spent } };
  };

const plan = JSON.stringify({
  steps: [
    { id: 'a', task: 'Look at A.', after: [] },
    { id: 'b', task: 'Look at B.', after: [] },
    { id: 'both', task: 'Compare.', after: ['a', 'b'] },
  ],
});

const byName = ({ id }: FleetRun): string => (id.endsWith('/plan-1') ? plan : `answer of ${id}`);

test('[A89, A117] a plan is executed by workers that share only the store, step by step, and its outcome sums up all costs', async (t) => {
  const store = await storeFor(t);
  await store.queue.enqueue([{ id: 'p', prompt: 'Compare A and B.', kind: 'plan', settings: { limits: { usd: 4 } } }]);
  const seen: FleetRun[] = [];
  // Each worker does one round and ends: its memory is lost.
  for (let round = 0; round < 20 && (await store.queue.run('p'))?.status !== 'ended'; round++) {
    const drivers = { plan: createOrchestrationHandler(planOrchestration), run: answeringHandler(seen, byName) };
    await startWorker({ store, handlers: drivers, drain: true, concurrency: 1 }).done;
  }
  const { status, outcome } = (await store.queue.run('p')) ?? {};
  assert.deepEqual([status, outcome?.reason, outcome?.text], ['ended', 'answered', 'answer of p/answer']);
  assert.deepEqual(seen.map(({ id }) => id).toSorted(), [
    'p/answer',
    'p/plan-1',
    'p/step-a-1',
    'p/step-b-1',
    'p/step-both-1',
  ]);
  assert.deepEqual([outcome?.spent.usd, outcome?.spent.input], [1.25, 50]);
  const most = (name: string): unknown => seen.find(({ id }) => id === `p/${name}`)?.settings['limits'];
  assert.deepEqual([most('plan-1'), most('step-a-1')], [{ usd: 2 }, { usd: 0.9375 }]);
  const events = await Array.fromAsync((await store.sessions.reader('p')).read());
  const told = events
    .flat()
    .flatMap((event) => (event.type === 'annotation-added' ? [JSON.stringify(event.value)] : []));
  assert.ok(told.length > 1 && new Set(told).size === told.length, told.join('\n'));
  assert.match(told.at(-1) ?? '', /"both"[^}]*"status":"done"/);
});

test('[A60] child runs never share more than the limit of their parent: a child cannot ask for more, and what an active one may spend is kept for it', async (t) => {
  const store = await storeFor(t);
  await store.queue.enqueue([{ id: 'p', prompt: 'x', kind: 'two', settings: { limits: { usd: 4 } } }]);
  const conduct: Orchestration = (_run, children) => {
    const name = children.has('one') ? 'two' : 'one';
    const settings = name === 'one' ? { limits: { usd: 100 } } : {};
    return { type: 'go-on', start: [{ name, prompt: 'Do it.', settings }], expected: name === 'one' ? 1 : 0 };
  };
  const waiting: RunHandler = async () => ({ type: 'waiting', pendingApprovals: [] });
  const handlers = { two: createOrchestrationHandler(conduct), run: waiting };
  await startWorker({ store, handlers, drain: true }).done;
  await store.queue.wake('p');
  await startWorker({ store, handlers, drain: true }).done;
  const limits = async (id: string): Promise<unknown> => (await store.queue.run(id))?.settings['limits'];
  assert.deepEqual([await limits('p/one'), await limits('p/two')], [{ usd: 2 }, { usd: 2 }]);
});

test('[A117] a coordinator that dies after it started its child runs starts none of them again', async (t) => {
  const store = await storeFor(t);
  await store.queue.enqueue([{ id: 'p', prompt: 'x', kind: 'twice' }]);
  let deaths = 0;
  const conduct: Orchestration = (_run, children) =>
    [...children.values()].some(({ status }) => status === 'ended')
      ? { type: 'end', outcome: { reason: 'answered', text: 'done' } }
      : { type: 'go-on', start: [{ name: 'one', prompt: 'Once.' }] };
  const dying: RunHandler = async (run, context) => {
    const settlement = await createOrchestrationHandler(conduct)(run, context);
    if (deaths++ === 0) throw new Error('died');
    return settlement;
  };
  const seen: FleetRun[] = [];
  const worker = startWorker({ store, handlers: { twice: dying, run: answeringHandler(seen, byName) }, drain: true });
  await worker.done;
  while ((await store.queue.run('p'))?.status !== 'ended')
    await startWorker({ store, handlers: { twice: dying, run: answeringHandler(seen, byName) }, drain: true }).done;
  assert.deepEqual([seen.length, deaths > 1], [1, true]);
});

test('[A89] a cancelled plan cancels its child runs', async (t) => {
  const store = await storeFor(t);
  await store.queue.enqueue([{ id: 'p', prompt: 'x', kind: 'plan' }]);
  const waiting: RunHandler = async () => ({ type: 'waiting', pendingApprovals: [] });
  const drivers = { plan: createOrchestrationHandler(planOrchestration), run: waiting };
  await startWorker({ store, handlers: drivers, drain: true }).done;
  assert.equal((await store.queue.run('p/plan-1'))?.status, 'waiting');
  await store.inbox.send('p', { type: 'cancel' });
  await store.queue.wake('p');
  await startWorker({ store, handlers: drivers, drain: true }).done;
  const [parent, child] = await Promise.all([store.queue.run('p'), store.queue.run('p/plan-1')]);
  assert.deepEqual(
    [parent?.outcome?.reason, child?.status, child?.outcome?.reason],
    ['cancelled', 'ended', 'cancelled'],
  );
});

test('a run of another tenant is not a child of a plan, whatever its id, and a plan does not wait for it', async (t) => {
  const store = await storeFor(t);
  const strange = { tenant: 'mallory', notBefore: '2090-01-01T00:00:00.000Z' };
  await store.queue.enqueue([
    { id: 'p', prompt: 'x', kind: 'plan' },
    { id: 'p/plan-1', prompt: 'x', parent: 'p', ...strange },
    { id: 'q', prompt: 'x', kind: 'plan' },
    { id: 'q/plan-1', prompt: 'x', ...strange },
    { id: 'r', prompt: 'x', kind: 'plan' },
    { id: 'z-answer', prompt: 'x', parent: 'r', notBefore: strange.notBefore },
  ]);
  const worker = startWorker({
    store,
    handlers: { plan: createOrchestrationHandler(planOrchestration), run: answeringHandler([], byName) },
  });
  t.after(async () => {
    worker.abort();
    await worker.done;
  });
  for (const id of ['p', 'q', 'r'])
    while ((await store.queue.run(id))?.status !== 'ended') await new Promise((resolve) => setTimeout(resolve, 10));
  const codes = await Promise.all(['p', 'q', 'r'].map(async (id) => (await store.queue.run(id))?.outcome?.error?.code));
  assert.deepEqual(codes, ['fleet/taken', 'fleet/taken', undefined]);
  assert.equal((await store.queue.run('r'))?.outcome?.text, 'answer of r/answer');
});

test('[A89] a client that names a plan as the parent of a thousand runs does not hide its child runs', async (t) => {
  const store = await storeFor(t);
  await store.queue.enqueue([{ id: 'p', prompt: 'x', kind: 'plan' }]);
  const waiting: RunHandler = async () => ({ type: 'waiting', pendingApprovals: [] });
  const handlers = { plan: createOrchestrationHandler(planOrchestration), run: waiting };
  await startWorker({ store, handlers, drain: true }).done;
  const notBefore = '2090-01-01T00:00:00.000Z';
  const strange = Array.from({ length: 1001 }, (_, i) => ({ id: `z${i}`, prompt: 'x', parent: 'p', notBefore }));
  await store.queue.enqueue(strange);
  await store.queue.wake('p');
  await store.inbox.send('p', { type: 'cancel' });
  await startWorker({ store, handlers, drain: true }).done;
  assert.equal((await store.queue.run('p/plan-1'))?.status, 'ended');
});

test('a cancel message ends the plan that it names and no other, and is cleared', async (t) => {
  const store = await storeFor(t);
  await store.queue.enqueue([
    { id: 'a', prompt: 'x', kind: 'plan', session: 's' },
    { id: 'b', prompt: 'x', kind: 'plan', session: 's' },
  ]);
  await store.inbox.send('s', { type: 'cancel', run: 'a' });
  await startWorker({
    store,
    handlers: { plan: createOrchestrationHandler(planOrchestration), run: answeringHandler([], byName) },
    drain: true,
  }).done;
  const [a, b] = await Promise.all([store.queue.run('a'), store.queue.run('b')]);
  assert.deepEqual([a?.outcome?.reason, b?.outcome?.reason], ['cancelled', 'answered']);
  assert.deepEqual(await store.inbox.read('s', 0), []);
});
