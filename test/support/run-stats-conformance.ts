// Conformance tests of run queues for statistics and schedules.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { zeroUsage } from '../../src/core/index.ts';
import { drainStore, endedResult, type RegisterConformanceTest } from './queue-conformance.ts';

/** Registers the tests of statistics and schedules. */
export function runStatsConformance(register: RegisterConformanceTest): void {
  register('[A94] run statistics have counts, reasons, costs and durations per time bucket', async (open) => {
    const store = await open();
    const { queue } = store;
    const from = Date.now();
    await queue.enqueue(Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, prompt: '' })));
    await queue.cancel('t19', '');
    const spent = { ...zeroUsage, usd: 0.5, input: 2, output: 1 };
    await drainStore(store, ({ id }) => endedResult('', id === 't0' ? { reason: 'abstained', spent } : { spent }));
    const day = 86_400_000;
    const stats = await queue.stats(new Date(from - day).toISOString(), new Date(from + day).toISOString(), day);
    assert.deepEqual(
      stats.map((bucket) => bucket.from),
      [new Date(from - day).toISOString(), new Date(from).toISOString()],
    );
    const [empty, today] = stats;
    assert.deepEqual(
      [empty?.ended, empty?.reasons, empty?.queueMs, empty?.durationMs, empty?.usd],
      [0, {}, undefined, undefined, 0],
    );
    assert.deepEqual([today?.ended, today?.reasons], [20, { answered: 18, abstained: 1, cancelled: 1 }]);
    assert.deepEqual([today?.usd, today?.tokens], [9.5, 57]);
    const runs = (await queue.list({ status: 'ended' })).filter(({ started }) => started !== undefined);
    const waits = runs
      .map(({ queued, started = '' }) => Date.parse(started) - Date.parse(queued))
      .toSorted((a, b) => a - b);
    assert.deepEqual(today?.queueMs, [waits[9], waits[18], waits[18]], 'by nearest rank of the 19 that were started');
    await assert.rejects(queue.stats(new Date(from).toISOString(), new Date(from + day).toISOString(), 0));
  });

  register('[A94] the waiting time of a run that is due later counts from then on', async (open) => {
    const { queue } = await open();
    await queue.enqueue([{ id: 'far', prompt: '', notBefore: '2999-01-01T00:00:00.000Z' }]);
    assert.deepEqual(await queue.depth(), { queued: 1, running: 0, waiting: 0 });
    const notBefore = new Date(Date.now() + 700).toISOString();
    const [soon] = await queue.enqueue([{ id: 'soon', prompt: '', notBefore }]);
    // On a slow machine it is queued after its time.
    const ready = [notBefore, soon?.queued ?? ''].toSorted().at(-1) ?? '';
    let oldest: string | undefined;
    for (; oldest === undefined; await pause(10)) oldest = (await queue.depth()).oldest;
    assert.equal(oldest, ready);
    const over = new AbortController();
    await queue.work({
      worker: 'w',
      concurrency: 1,
      signal: over.signal,
      handle: async () => (over.abort(), endedResult()),
    });
    const { started = '' } = (await queue.run('soon')) ?? {};
    const day = 86_400_000;
    const ends = [new Date(Date.now() - day).toISOString(), new Date(Date.now() + day).toISOString()] as const;
    const [today] = await queue.stats(...ends, 2 * day);
    const queueMs = Math.max(0, Date.parse(started) - Date.parse(ready));
    assert.deepEqual(today?.queueMs, [queueMs, queueMs, queueMs]);
  });

  register('schedules are added, changed and removed by name; an invalid one is refused', async (open) => {
    const { queue } = await open();
    const nightly = { name: 'nightly', cron: '0 3 * * *', run: { prompt: 'tidy up', tenant: 'acme' } };
    await queue.setSchedule(nightly);
    await queue.setSchedule({ ...nightly, name: 'hourly', cron: '5 * * * *' });
    await queue.setSchedule({ ...nightly, cron: '0 4 * * *' });
    const other = await open();
    assert.deepEqual(await other.queue.schedules(), [
      { ...nightly, name: 'hourly', cron: '5 * * * *' },
      { ...nightly, cron: '0 4 * * *' },
    ]);
    await other.queue.setSchedule({ name: 'hourly' });
    assert.deepEqual(await queue.schedules(), [{ ...nightly, cron: '0 4 * * *' }]);
    await assert.rejects(queue.setSchedule({ ...nightly, cron: 'every night' }), { code: 'queue/bad-cron' });
    await assert.rejects(queue.setSchedule({ ...nightly, cron: '0 0 31 2 *' }), { code: 'queue/bad-cron' });
  });
}
