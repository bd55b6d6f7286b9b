// What every queue promises of the runs in it: kept once, listed, woken, cancelled, counted.
import assert from 'node:assert/strict';
import type { FleetRun, FleetStore, RunOutcome, RunSettlement } from '../../src/core/index.ts';
import { zeroUsage } from '../../src/core/index.ts';

/** Registers a promise as a test. */
export type RegisterConformanceTest = (title: string, work: (open: () => Promise<FleetStore>) => Promise<void>) => void;

/** A settlement that ends a run. */
export const endedResult = (text = '', more: Partial<RunOutcome> = {}): RunSettlement => ({
  type: 'completed',
  outcome: { reason: 'answered', text, spent: zeroUsage, ...more },
});

/** Works on what is in the queue until it is empty, one run at a time, and gives the runs as they were handed out. */
export async function drainStore(
  { queue }: FleetStore,
  drive: (run: FleetRun) => RunSettlement = () => endedResult(),
  more: { readonly worker?: string; readonly version?: string } = {},
): Promise<readonly FleetRun[]> {
  const driven: FleetRun[] = [];
  await queue.work({
    worker: 'w',
    concurrency: 1,
    drain: true,
    signal: new AbortController().signal,
    ...more,
    async handle(run) {
      driven.push(run);
      return drive(run);
    },
  });
  return driven;
}

const runIds = (runs: readonly FleetRun[]): readonly string[] => runs.map(({ id }) => id);
const approvalQuestions = [{ call: 'c', tool: 'send', question: 'May I?' }];
const suspendedResult: RunSettlement = { type: 'waiting', pendingApprovals: approvalQuestions };

/** Registers the promises of a queue's rows. */
export function queueConformance(promise: RegisterConformanceTest): void {
  promise('[A91] a run is kept as it was given, with what was left out filled in', async (open) => {
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

  promise('[A91] a run of an id that is known is the one that is there, as it stands', async (open) => {
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

  promise(
    '[A91] many runs are added in their order, and one whose time is none is refused with all of them',
    async (open) => {
      const { queue } = await open();
      const runs = Array.from({ length: 450 }, (_, i) => ({ id: `r${i}`, prompt: '' }));
      assert.deepEqual(runIds(await queue.enqueue(runs)), runIds(await queue.list({ limit: 500 })).toReversed());
      const soon = queue.enqueue([{ prompt: '' }, { prompt: '', notBefore: 'soon' }]);
      await assert.rejects(soon, { code: 'queue/bad-time' });
      assert.equal((await queue.depth()).queued, 450);
    },
  );

  promise('runs are handed out by priority, then by age', async (open) => {
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

  promise('a run is not handed out before its time', async (open) => {
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

  promise(
    '[A85] who drains a queue does not wait for what begins later, is of another version, or waits behind such',
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
      assert.deepEqual(runIds(await drainStore(store, () => suspendedResult, { version: '2' })), ['asks']);
      await queue.enqueue([{ id: 'waits', prompt: '', session: 't' }]);
      assert.deepEqual(runIds(await drainStore(store, () => endedResult(), { version: '2' })), []);
      assert.deepEqual(runIds(await drainStore(store, () => endedResult(), { version: '1' })), ['old', 'behind']);
    },
  );

  promise('[A92] a run that has ended says how, who had it and when', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    const outcome: RunOutcome = {
      reason: 'money-budget',
      detail: 'too dear',
      text: 'half an answer',
      error: { code: 'x/y', message: 'm', blame: 'provider', retry: false },
      spent: { ...zeroUsage, usd: 0.5, input: 3 },
    };
    const [driven] = await drainStore(store, () => ({ type: 'completed', outcome }), { worker: 'kim', version: '7' });
    assert.deepEqual([driven?.status, driven?.worker, driven?.attempts], ['running', 'kim', 1]);
    const run = await (await open()).queue.run('one');
    assert.deepEqual(run?.outcome, outcome);
    assert.deepEqual([run?.status, run?.worker, run?.version, run?.attempts], ['ended', 'kim', '7', 1]);
    const { queued, started = '', ended: end = '' } = run ?? { queued: '' };
    assert.ok(Date.parse(queued) <= Date.parse(started) && Date.parse(started) <= Date.parse(end));
  });

  promise('[A112] a run that rests shows what it waits for, and goes on once it is woken', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    await drainStore(store, () => suspendedResult);
    const { queue } = await open();
    const waiting = await queue.run('one');
    assert.deepEqual([waiting?.status, waiting?.pendingApprovals], ['waiting', approvalQuestions]);
    assert.deepEqual(await drainStore(store), [], 'nobody is handed a run that rests');
    await queue.wake('one');
    assert.deepEqual([(await queue.run('one'))?.status, (await queue.run('one'))?.pendingApprovals], ['queued', []]);
    await queue.wake('one');
    const [again] = await drainStore(store);
    assert.equal(again?.attempts, 2);
    await queue.wake('one');
    await queue.wake('none');
    assert.equal((await queue.run('one'))?.status, 'ended', 'what has ended stays so');
  });

  promise('[A112] a run that is woken just before it rests does not rest', async (open) => {
    const store = await open();
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    let drives = 0;
    await store.queue.work({
      worker: 'w',
      concurrency: 1,
      drain: true,
      signal: new AbortController().signal,
      async handle() {
        drives += 1;
        if (drives === 1) await store.queue.wake('one');
        return drives < 3 ? suspendedResult : endedResult();
      },
    });
    assert.equal(drives, 2, 'woken once, it is worked on once more, and then it rests');
    assert.equal((await store.queue.run('one'))?.status, 'waiting');
  });

  promise('a run that nobody works on is cancelled at once, and stays cancelled', async (open) => {
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
        return suspendedResult;
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

  promise('[A92] runs are listed the latest first, by what is asked for, page by page', async (open) => {
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
    await drainStore(store, ({ id }) => (id === 'r3' ? suspendedResult : endedResult()));
    assert.deepEqual(runIds(await queue.list({ status: 'waiting' })), ['r3']);
    assert.deepEqual(runIds(await queue.list({ status: 'ended', tenant: 'even' })), ['r4', 'r2']);
  });

  promise('[A92] the depth of a queue counts what waits, is under way and rests', async (open) => {
    const store = await open();
    const { queue } = store;
    assert.deepEqual(await queue.depth(), { queued: 0, running: 0, waiting: 0 });
    const [first] = await queue.enqueue([{ prompt: '' }, { prompt: '' }, { prompt: '' }]);
    assert.deepEqual(await queue.depth(), { queued: 3, running: 0, waiting: 0, oldest: first?.queued });
    let seen: unknown;
    await drainStore(store, () => suspendedResult);
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
