// Conformance tests of run queues for workers: one run at a time per session, within the limits, and nothing lost after failures.
import assert from 'node:assert/strict';
import type { FleetRun, FleetStore, RunSettlement, WorkOptions } from '../../src/core/index.ts';
import { drainStore, endedResult, type RegisterConformanceTest } from './queue-conformance.ts';

const waitingResult: RunSettlement = { type: 'waiting', pendingApprovals: [] };

/** A worker that runs during the test; `end` stops it and waits for it. */
function startTestWorker(
  { queue }: FleetStore,
  handle: WorkOptions['handle'],
  more: Partial<WorkOptions> = {},
): { readonly done: Promise<void>; end(): Promise<void> } {
  const control = new AbortController();
  const done = queue.work({ worker: 'w', concurrency: 100, signal: control.signal, handle, ...more });
  return {
    done,
    async end() {
      control.abort();
      await done;
    },
  };
}

/** Waits until a condition holds; the timeout of the test ends it. */
async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Counts how many runs of a group are active at once, and keeps each for a moment so that others could start. */
function createConcurrencyMeter(): {
  readonly most: ReadonlyMap<string, number>;
  readonly enter: (kind: string) => Promise<void>;
} {
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  return {
    most,
    async enter(kind) {
      now.set(kind, (now.get(kind) ?? 0) + 1);
      most.set(kind, Math.max(most.get(kind) ?? 0, now.get(kind) ?? 0));
      await new Promise((resolve) => setTimeout(resolve, 30));
      now.set(kind, (now.get(kind) ?? 1) - 1);
    },
  };
}

const isEnded = async ({ queue }: FleetStore, id: string): Promise<boolean> =>
  (await queue.run(id))?.status === 'ended';

/** Registers the tests of workers. */
export function workerConformance(register: RegisterConformanceTest): void {
  register('[A71, A116] many workers share the runs: each run is handled once', async (open) => {
    const stores = [await open(), await open()];
    const [first] = stores;
    assert.ok(first);
    await first.queue.enqueue(Array.from({ length: 120 }, (_, i) => ({ id: `r${i}`, prompt: `${i}` })));
    const handled: string[] = [];
    const workers = stores.flatMap((store, s) =>
      [1, 2].map((w) =>
        startTestWorker(
          store,
          async ({ id, worker }) => {
            handled.push(id);
            assert.equal(worker, `w${s}${w}`);
            await new Promise(setImmediate);
            return endedResult(id);
          },
          { drain: true, concurrency: 5, worker: `w${s}${w}` },
        ),
      ),
    );
    await Promise.all(workers.map(({ done }) => done));
    assert.equal(new Set(handled).size, 120);
    assert.equal(handled.length, 120);
    assert.deepEqual(await first.queue.depth(), { queued: 0, running: 0, waiting: 0 });
  });

  register(
    '[A56] a run that rests holds no worker, is not claimed before its time, and then continues by itself',
    async (open) => {
      const store = await open();
      const { queue } = store;
      await queue.enqueue([
        { id: 'rests', prompt: '' },
        { id: 'next', prompt: '' },
      ]);
      const restEnd = Date.now() + 1500;
      const claimed: string[] = [];
      let resumedAt = 0;
      const worker = startTestWorker(
        store,
        async ({ id, attempts }) => {
          claimed.push(`${id} ${attempts}`);
          if (id === 'rests' && attempts === 1) return { type: 'released', notBefore: new Date(restEnd).toISOString() };
          if (id === 'rests') resumedAt = Date.now();
          return endedResult(id);
        },
        { concurrency: 1 },
      );
      await waitUntil(() => isEnded(store, 'next'));
      const resting = await queue.run('rests');
      assert.deepEqual(
        [resting?.status, resting?.notBefore, resting?.started !== undefined, claimed],
        ['queued', new Date(restEnd).toISOString(), true, ['rests 1', 'next 1']],
      );
      assert.deepEqual(await queue.depth(), { queued: 1, running: 0, waiting: 0 }, 'it does not count as a backlog');
      await waitUntil(() => isEnded(store, 'rests'));
      await worker.end();
      assert.deepEqual([claimed.at(-1), claimed.length, resumedAt >= restEnd], ['rests 2', 3, true]);
      assert.ok(((await queue.run('rests'))?.outcome?.text ?? '') === 'rests');
    },
  );

  register(
    '[A56] a worker that drains the queue does not wait for a run that rests; a cancellation ends it at once',
    async (open) => {
      const store = await open();
      const { queue } = store;
      await queue.enqueue([{ id: 'rests', prompt: '' }]);
      const notBefore = '2999-01-01T00:00:00.000Z';
      const handled = await drainStore(store, () => ({ type: 'released', notBefore }));
      assert.equal(handled.length, 1);
      assert.equal((await queue.cancel('rests', 'Not needed.'))?.outcome?.reason, 'cancelled');
    },
  );

  register(
    '[A56] a run that is woken while it is about to rest is queued at once, to read its message',
    async (open) => {
      const store = await open();
      const { queue } = store;
      await queue.enqueue([{ id: 'woken', prompt: '' }]);
      const worker = startTestWorker(store, async ({ id, attempts }) => {
        if (attempts > 1) return endedResult(id);
        await queue.wake(id);
        return { type: 'released', notBefore: '2999-01-01T00:00:00.000Z' };
      });
      await waitUntil(() => isEnded(store, 'woken'));
      await worker.end();
      assert.equal((await queue.run('woken'))?.attempts, 2);
    },
  );

  register('[A71] a run that is enqueued while a worker waits is started at once, by any process', async (open) => {
    const store = await open();
    const other = await open();
    const worker = startTestWorker(store, async () => endedResult());
    for (const [i, { queue }] of [store, other, store].entries()) {
      await queue.enqueue([{ id: `r${i}`, prompt: '' }]);
      await waitUntil(() => isEnded(other, `r${i}`));
    }
    await worker.end();
  });

  register('a worker keeps its concurrency limit, and claims nothing after it is stopped', async (open) => {
    const store = await open();
    await store.queue.enqueue(Array.from({ length: 9 }, (_, i) => ({ id: `r${i}`, prompt: '' })));
    const { most, enter } = createConcurrencyMeter();
    let handledCount = 0;
    const worker = startTestWorker(
      store,
      async () => {
        handledCount += 1;
        await enter('all');
        if (handledCount === 4) void worker.end();
        return endedResult();
      },
      { concurrency: 2 },
    );
    await worker.done;
    assert.equal(most.get('all'), 2);
    const { queued, running } = await store.queue.depth();
    assert.equal(running, 0, 'running runs are settled');
    assert.equal(queued, 9 - handledCount);
    assert.ok(handledCount < 9);
  });

  register('a session has one started run at a time, also while that run waits', async (open) => {
    const store = await open();
    const { queue } = store;
    await queue.enqueue([
      { id: 'a', prompt: '', session: 's' },
      { id: 'b', prompt: '', session: 's', priority: -1 },
      { id: 'c', prompt: '', session: 't' },
    ]);
    const seen: string[] = [];
    const { most, enter } = createConcurrencyMeter();
    const worker = startTestWorker(store, async ({ id, session, attempts }) => {
      seen.push(id);
      await enter(session);
      return id === 'a' && attempts === 1 ? waitingResult : endedResult();
    });
    await waitUntil(() => isEnded(store, 'c'));
    await waitUntil(async () => (await queue.run('a'))?.status === 'waiting');
    await queue.enqueue([{ id: 'd', prompt: '' }]);
    await waitUntil(() => isEnded(store, 'd'));
    assert.ok(!seen.includes('b'), 'it waits for the waiting run');
    await queue.wake('a');
    await waitUntil(() => isEnded(store, 'b'));
    await worker.end();
    assert.ok(seen.indexOf('b') > seen.lastIndexOf('a'));
    assert.equal(most.get('s'), 1);
  });

  register('a released run is queued as it is, and another worker continues it', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: 'w', settings: { a: 1 } }]);
    const runs = await drainStore(store, ({ attempts }) => (attempts < 3 ? { type: 'released' } : endedResult('done')));
    assert.deepEqual(
      runs.map(({ id, attempts, settings }) => [id, attempts, settings]),
      [1, 2, 3].map((attempt) => ['one', attempt, { a: 1 }]),
    );
    assert.equal((await store.queue.run('one'))?.outcome?.text, 'done');
  });

  register(
    '[A52] a run whose handler throws is tried again, and ended with a reason after ten failures',
    async (open) => {
      const store = await open();
      await store.queue.enqueue([
        { id: 'once', prompt: '' },
        { id: 'always', prompt: '' },
      ]);
      const runs = await drainStore(store, ({ id, attempts }) => {
        if (id === 'always' || attempts === 1) throw new Error(`no luck with ${id}`);
        return endedResult('lucky');
      });
      const once = await store.queue.run('once');
      assert.deepEqual([once?.attempts, once?.outcome?.text], [2, 'lucky']);
      const always = await store.queue.run('always');
      assert.equal(runs.filter(({ id }) => id === 'always').length, 10);
      assert.deepEqual([always?.status, always?.outcome?.reason], ['ended', 'provider-error']);
      assert.match(always?.outcome?.detail ?? '', /no luck with always/);
    },
  );

  register('a running run gets a message that it is cancelled', async (open) => {
    const store = await open();
    const other = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '', session: 's' }]);
    const worker = startTestWorker(store, async () => {
      await waitUntil(async () => (await store.inbox.read('s', 0)).length > 0);
      return endedResult('', { reason: 'cancelled' });
    });
    await waitUntil(async () => (await store.queue.run('one'))?.status === 'running');
    assert.equal((await other.queue.cancel('one', 'enough'))?.status, 'running');
    await waitUntil(() => isEnded(store, 'one'));
    await worker.end();
    assert.deepEqual(
      (await store.inbox.read('s', 0)).map(({ message }) => message.type),
      ['cancel'],
    );
  });

  register('[A89, A117] the end of a run wakes its parent with a message, whatever its outcome', async (open) => {
    const store = await open();
    const { queue, inbox } = store;
    await queue.enqueue([{ id: 'parent', prompt: '', session: 'ps' }]);
    const deliveries: string[][] = [];
    const worker = startTestWorker(store, async ({ id, attempts }) => {
      if (id !== 'parent') return endedResult();
      if (attempts === 1)
        await queue.enqueue([
          { id: 'child', prompt: '', parent: 'parent' },
          { id: 'dropped', prompt: '', parent: 'parent', notBefore: '2090-01-01T00:00:00.000Z' },
        ]);
      const received = (await inbox.read('ps', 0)).map(({ message }) =>
        message.type === 'ended' ? message.run : message.type,
      );
      deliveries.push(received);
      return received.length < 2 ? waitingResult : endedResult();
    });
    await waitUntil(() => isEnded(store, 'child'));
    await waitUntil(
      async () => (await queue.run('parent'))?.status === 'waiting' && deliveries.at(-1)?.[0] === 'child',
    );
    await queue.cancel('dropped', 'not needed');
    await waitUntil(() => isEnded(store, 'parent'));
    await worker.end();
    assert.deepEqual(deliveries.at(-1), ['child', 'dropped']);
  });

  register('a run that another version has started is left to that version', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'old', prompt: '' }]);
    const first = await drainStore(store, () => waitingResult, { version: '1' });
    assert.equal(first[0]?.version, '1');
    await store.queue.wake('old');
    await store.queue.enqueue([{ id: 'new', prompt: '' }]);
    const names = (runs: readonly FleetRun[]): readonly string[] => runs.map(({ id }) => id);
    assert.deepEqual(names(await drainStore(store, () => endedResult(), { version: '2' })), ['new']);
    assert.deepEqual(names(await drainStore(store, () => endedResult(), { version: '1' })), ['old']);
  });

  register('[A116] a worker without a version claims runs of any version, and keeps their version', async (open) => {
    const store = await open();
    const { queue } = store;
    for (const version of ['1', '2']) {
      await queue.enqueue([{ id: `of ${version}`, prompt: '' }]);
      await drainStore(store, () => waitingResult, { version });
      await queue.wake(`of ${version}`);
    }
    await queue.enqueue([{ id: 'fresh', prompt: '' }]);
    const leaving = await drainStore(store, ({ attempts, id }) =>
      id !== 'fresh' && attempts < 3 ? { type: 'released' } : endedResult(),
    );
    assert.deepEqual(leaving.map(({ id }) => id).toSorted(), ['fresh', 'of 1', 'of 1', 'of 2', 'of 2']);
    assert.deepEqual(await Promise.all(['of 1', 'of 2', 'fresh'].map(async (id) => (await queue.run(id))?.version)), [
      '1',
      '2',
      undefined,
    ]);
    await queue.setLimits({ tenantConcurrency: 1 });
    await queue.enqueue([{ id: 'bound', prompt: '' }]);
    await drainStore(store, () => waitingResult, { version: '3' });
    await queue.wake('bound');
    assert.deepEqual(
      (await drainStore(store)).map(({ id }) => id),
      ['bound'],
      'also within limits',
    );
  });

  register('[A71] concurrency limits hold over all workers, also per tenant', async (open) => {
    const stores = [await open(), await open()];
    const [first] = stores;
    assert.ok(first);
    await first.queue.setLimits({ concurrency: 3, tenantConcurrency: 2 });
    assert.deepEqual(await stores[1]?.queue.limits(), { concurrency: 3, tenantConcurrency: 2 });
    const tenants = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'c', 'c'];
    await first.queue.enqueue(tenants.map((tenant) => ({ prompt: '', tenant })));
    const { most, enter } = createConcurrencyMeter();
    const handle: WorkOptions['handle'] = async ({ tenant }) => {
      await Promise.all([enter('all'), enter(tenant)]);
      return endedResult();
    };
    await Promise.all(stores.map((store) => startTestWorker(store, handle, { drain: true }).done));
    assert.ok((most.get('all') ?? 9) <= 3);
    for (const tenant of ['a', 'b', 'c']) assert.ok((most.get(tenant) ?? 9) <= 2);
    await first.queue.setLimits({});
    assert.deepEqual(await first.queue.limits(), {});
    await first.queue.enqueue(tenants.map(() => ({ prompt: '' })));
    const free = createConcurrencyMeter();
    await startTestWorker(first, async () => (await free.enter('all'), endedResult()), { drain: true }).done;
    assert.ok((free.most.get('all') ?? 0) > 3, 'limits that were removed do not apply');
  });

  register('[A71] a rate limit holds over all workers', async (open) => {
    const stores = [await open(), await open()];
    const ms = 400;
    await stores[0]?.queue.setLimits({ rate: { runs: 3, ms } });
    await stores[0]?.queue.enqueue(Array.from({ length: 7 }, () => ({ prompt: '' })));
    const handle: WorkOptions['handle'] = async () => endedResult();
    await Promise.all(stores.map((store) => startTestWorker(store, handle, { drain: true }).done));
    const begun = (await stores[0]?.queue.list())
      ?.map(({ started = '' }) => Date.parse(started))
      .toSorted((a, b) => a - b);
    assert.equal(begun?.length, 7);
    for (const [i, time] of begun?.entries() ?? [])
      if (i >= 3) assert.ok(time - (begun?.[i - 3] ?? 0) >= ms, `run ${i + 1} was started too soon`);
  });

  register('[A95] while the kill switch is on no run is claimed, and all continue once it is off', async (open) => {
    const store = await open();
    const other = await open();
    await store.killSwitch.stop('a test', 'me');
    let handledCount = 0;
    const worker = startTestWorker(store, async () => ((handledCount += 1), endedResult()));
    await other.queue.enqueue([{ id: 'one', prompt: '' }]);
    // Long enough to detect a wrong claim most of the time.
    for (let looks = 0; looks < 20; looks++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual([handledCount, (await other.queue.run('one'))?.status], [0, 'queued']);
    await other.killSwitch.resume('me');
    await waitUntil(() => isEnded(other, 'one'));
    await worker.end();
  });
}
