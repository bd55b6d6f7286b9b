// Conformance tests of run queues: runs are added once, listed, woken, cancelled and counted.
import assert from 'node:assert/strict';
import {
  type FleetRun,
  type FleetStore,
  type RunOutcome,
  type RunSettlement,
  zeroUsage,
} from '../../src/core/index.ts';

/** Registers a test that opens a store. */
export type RegisterConformanceTest = (title: string, work: (open: () => Promise<FleetStore>) => Promise<void>) => void;

/** A settlement that ends a run. */
export const endedResult = (text = '', more: Partial<RunOutcome> = {}): RunSettlement => ({
  type: 'completed',
  outcome: { reason: 'answered', text, spent: zeroUsage, ...more },
});

/** Handles runs one at a time until the queue is empty, and returns them in the order of their claims. */
export async function drainStore(
  { queue }: FleetStore,
  handle: (run: FleetRun) => RunSettlement = () => endedResult(),
  more: { readonly worker?: string; readonly version?: string } = {},
): Promise<readonly FleetRun[]> {
  const handled: FleetRun[] = [];
  await queue.work({
    worker: 'w',
    concurrency: 1,
    drain: true,
    signal: new AbortController().signal,
    ...more,
    async handle(run) {
      handled.push(run);
      return handle(run);
    },
  });
  return handled;
}

const runIds = (runs: readonly FleetRun[]): readonly string[] => runs.map(({ id }) => id);
const approvalQuestions = [{ call: 'c', tool: 'send', question: 'May I?' }];
const waitingResult: RunSettlement = { type: 'waiting', pendingApprovals: approvalQuestions };

/** Registers the tests of the queue. */
export function queueConformance(register: RegisterConformanceTest): void {
  register('[A91] a run is stored as it was given, with default values', async (open) => {
    const { queue } = await open();
    const [plain, full] = await queue.enqueue([
      { prompt: 'do it' },
      {
        id: 'mine',
        prompt: 'do that',
        kind: 'plan',
        settings: { model: 'm', deep: [1, { a: null }] },
        session: 's',
        tenant: 'acme',
        priority: 5,
        notBefore: '2030-01-01T00:00:00.000Z',
        parent: 'p',
      },
    ]);
    assert.ok(plain && full);
    const { id, queued, ...rest } = plain;
    assert.equal(new Date(queued).toISOString(), queued);
    assert.deepEqual(rest, {
      prompt: 'do it',
      kind: 'run',
      settings: {},
      session: id,
      tenant: 'default',
      priority: 0,
      status: 'queued',
      attempts: 0,
      pendingApprovals: [],
    });
    assert.deepEqual(full, {
      id: 'mine',
      prompt: 'do that',
      kind: 'plan',
      settings: { model: 'm', deep: [1, { a: null }] },
      session: 's',
      tenant: 'acme',
      priority: 5,
      notBefore: '2030-01-01T00:00:00.000Z',
      parent: 'p',
      status: 'queued',
      attempts: 0,
      queued: full.queued,
      pendingApprovals: [],
    });
    const other = await open();
    assert.deepEqual(await other.queue.run('mine'), full);
    assert.deepEqual(await other.queue.run(id), plain);
    assert.equal(await other.queue.run('none'), undefined);
  });

  register('[A91] enqueueing a known id returns the existing run', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: 'first' }]);
    await drainStore(store);
    const other = await open();
    const [again, fresh] = await other.queue.enqueue([
      { id: 'one', prompt: 'second' },
      { id: 'two', prompt: 'x' },
      { id: 'two', prompt: 'y' },
    ]);
    assert.deepEqual([again?.prompt, again?.status, fresh?.prompt], ['first', 'ended', 'x']);
    assert.equal((await store.queue.list()).length, 2);
  });

  register(
    '[A91] many runs are added in order, and one with an invalid time is refused with all of them',
    async (open) => {
      const { queue } = await open();
      const runs = Array.from({ length: 450 }, (_, i) => ({ id: `r${i}`, prompt: '' }));
      assert.deepEqual(runIds(await queue.enqueue(runs)), runIds(await queue.list({ limit: 500 })).toReversed());
      const soon = queue.enqueue([{ prompt: '' }, { prompt: '', notBefore: 'soon' }]);
      await assert.rejects(soon, { code: 'queue/bad-time' });
      assert.equal((await queue.depth()).queued, 450);
    },
  );

  register('runs are claimed by priority, then by age', async (open) => {
    const store = await open();
    await store.queue.enqueue([
      { id: 'a', prompt: '' },
      { id: 'b', prompt: '', priority: 1 },
    ]);
    await store.queue.enqueue([
      { id: 'c', prompt: '', priority: 1 },
      { id: 'd', prompt: '', priority: -1 },
      { id: 'e', prompt: '' },
    ]);
    assert.deepEqual(runIds(await drainStore(store)), ['b', 'c', 'a', 'e', 'd']);
  });

  register('a run is not claimed before its time', async (open) => {
    const store = await open();
    const notBefore = new Date(Date.now() + 700).toISOString();
    await store.queue.enqueue([
      { id: 'later', prompt: '', notBefore, priority: 9 },
      { id: 'now', prompt: '' },
    ]);
    const times = new Map<string, number>();
    const over = new AbortController();
    await store.queue.work({
      worker: 'w',
      concurrency: 1,
      signal: over.signal,
      async handle({ id }) {
        if (times.set(id, Date.now()).size === 2) over.abort();
        return endedResult();
      },
    });
    assert.ok(times.has('now'));
    assert.ok((times.get('later') ?? 0) >= Date.parse(notBefore));
  });

  register(
    '[A85] draining does not wait for runs that are due later, of another version, or blocked by such a run',
    async (open) => {
      const store = await open();
      const { queue } = store;
      await queue.enqueue([{ id: 'old', prompt: '', session: 's' }]);
      const over = new AbortController();
      const left = { worker: 'w', concurrency: 1, version: '1', signal: over.signal };
      await queue.work({ ...left, handle: async () => (over.abort(), { type: 'released' }) });
      await queue.enqueue([
        { id: 'behind', prompt: '', session: 's' },
        { id: 'later', prompt: '', notBefore: '2999-01-01T00:00:00.000Z' },
        { id: 'asks', prompt: '', session: 't' },
      ]);
      assert.deepEqual(runIds(await drainStore(store, () => waitingResult, { version: '2' })), ['asks']);
      await queue.enqueue([{ id: 'waits', prompt: '', session: 't' }]);
      assert.deepEqual(runIds(await drainStore(store, () => endedResult(), { version: '2' })), []);
      assert.deepEqual(runIds(await drainStore(store, () => endedResult(), { version: '1' })), ['old', 'behind']);
    },
  );

  register('[A92] an ended run has its outcome, its worker and its times', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    const outcome: RunOutcome = {
      reason: 'money-budget',
      detail: 'too dear',
      text: 'half an answer',
      error: { code: 'x/y', message: 'm', blame: 'provider', retry: false },
      spent: { ...zeroUsage, usd: 0.5, input: 3 },
    };
    const [handled] = await drainStore(store, () => ({ type: 'completed', outcome }), { worker: 'kim', version: '7' });
    assert.deepEqual([handled?.status, handled?.worker, handled?.attempts], ['running', 'kim', 1]);
    const run = await (await open()).queue.run('one');
    assert.deepEqual(run?.outcome, outcome);
    assert.deepEqual([run?.status, run?.worker, run?.version, run?.attempts], ['ended', 'kim', '7', 1]);
    const { queued, started = '', ended: end = '' } = run ?? { queued: '' };
    assert.ok(Date.parse(queued) <= Date.parse(started) && Date.parse(started) <= Date.parse(end));
  });

  register('[A112] a waiting run shows its questions, and continues once it is woken', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    await drainStore(store, () => waitingResult);
    const { queue } = await open();
    const waiting = await queue.run('one');
    assert.deepEqual([waiting?.status, waiting?.pendingApprovals], ['waiting', approvalQuestions]);
    assert.deepEqual(await drainStore(store), [], 'a waiting run is not claimed');
    await queue.wake('one');
    assert.deepEqual([(await queue.run('one'))?.status, (await queue.run('one'))?.pendingApprovals], ['queued', []]);
    await queue.wake('one');
    const [again] = await drainStore(store);
    assert.equal(again?.attempts, 2);
    await queue.wake('one');
    await queue.wake('none');
    assert.equal((await queue.run('one'))?.status, 'ended', 'an ended run stays ended');
  });

  register('[A112] a run that is woken just before it waits does not wait', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    let handledCount = 0;
    await store.queue.work({
      worker: 'w',
      concurrency: 1,
      drain: true,
      signal: new AbortController().signal,
      async handle() {
        handledCount += 1;
        if (handledCount === 1) await store.queue.wake('one');
        return handledCount < 3 ? waitingResult : endedResult();
      },
    });
    assert.equal(handledCount, 2, 'woken once, it is handled once more, and then it waits');
    assert.equal((await store.queue.run('one'))?.status, 'waiting');
  });

  register('a run that no worker handles is cancelled at once, and stays cancelled', async (open) => {
    const store = await open();
    const { queue } = store;
    await queue.enqueue([
      { id: 'rests', prompt: '' },
      { id: 'waits', prompt: '', notBefore: '2090-01-01T00:00:00.000Z' },
    ]);
    const end = new AbortController();
    await queue.work({
      worker: 'w',
      concurrency: 1,
      signal: end.signal,
      async handle() {
        end.abort();
        return waitingResult;
      },
    });
    for (const id of ['waits', 'rests']) {
      const run = await queue.cancel(id, 'not wanted');
      assert.deepEqual([run?.status, run?.outcome?.reason, run?.outcome?.detail], ['ended', 'cancelled', 'not wanted']);
      assert.deepEqual([run?.pendingApprovals, run?.outcome?.text, run?.outcome?.spent], [[], '', zeroUsage]);
      assert.equal((await queue.cancel(id, 'again'))?.outcome?.detail, 'not wanted');
    }
    assert.equal(await queue.cancel('none', ''), undefined);
    assert.deepEqual(await drainStore(store), []);
  });

  register('[A92] runs are listed latest first, filtered and paged', async (open) => {
    const store = await open();
    const { queue } = store;
    for (const i of [1, 2, 3, 4, 5])
      await queue.enqueue([
        { id: `r${i}`, prompt: '', tenant: i % 2 ? 'odd' : 'even', session: `s${i % 2}`, parent: `p${i > 3}` },
      ]);
    assert.deepEqual(runIds(await queue.list()), ['r5', 'r4', 'r3', 'r2', 'r1']);
    assert.deepEqual(runIds(await queue.list({ limit: 2 })), ['r5', 'r4']);
    assert.deepEqual(runIds(await queue.list({ limit: 2, before: 'r4' })), ['r3', 'r2']);
    assert.deepEqual(runIds(await queue.list({ tenant: 'odd', before: 'r5' })), ['r3', 'r1']);
    assert.deepEqual(runIds(await queue.list({ session: 's0' })), ['r4', 'r2']);
    assert.deepEqual(runIds(await queue.list({ parent: 'ptrue' })), ['r5', 'r4']);
    await drainStore(store, ({ id }) => (id === 'r3' ? waitingResult : endedResult()));
    assert.deepEqual(runIds(await queue.list({ status: 'waiting' })), ['r3']);
    assert.deepEqual(runIds(await queue.list({ status: 'ended', tenant: 'even' })), ['r4', 'r2']);
  });

  register('[A92] the depth of a queue counts queued, running and waiting runs', async (open) => {
    const store = await open();
    const { queue } = store;
    assert.deepEqual(await queue.depth(), { queued: 0, running: 0, waiting: 0 });
    const [first] = await queue.enqueue([{ prompt: '' }, { prompt: '' }, { prompt: '' }]);
    assert.deepEqual(await queue.depth(), { queued: 3, running: 0, waiting: 0, oldest: first?.queued });
    let seen: unknown;
    await drainStore(store, () => waitingResult);
    await queue.enqueue([{ id: 'last', prompt: '' }]);
    await queue.work({
      worker: 'w',
      concurrency: 1,
      drain: true,
      signal: new AbortController().signal,
      async handle() {
        seen = await queue.depth();
        return endedResult();
      },
    });
    assert.deepEqual(seen, { queued: 0, running: 1, waiting: 3 });
  });
}
