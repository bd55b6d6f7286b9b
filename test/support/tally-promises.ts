// What every queue promises of its counts and its clock: tallies of what ended, and runs that come again.
import assert from 'node:assert/strict';
import { noSpending } from '../../src/core/index.ts';
import { drain, ended, type RegisterPromise } from './queue-promises.ts';

/** Registers the promises of a queue's tallies and schedules. */
export function tallyPromises(promise: RegisterPromise): void {
  promise('[A94] a tally says what ended when, for what reason, at what cost and how fast', async (open) => {
    const store = await open();
    const { queue } = store;
    const from = Date.now();
    await queue.enqueue(Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, words: '' })));
    await queue.cancel('t19', '');
    const spent = { ...noSpending, usd: 0.5, input: 2, output: 1 };
    await drain(store, ({ id }) => ended('', id === 't0' ? { reason: 'abstained', spent } : { spent }));
    const day = 86_400_000;
    const tallies = await queue.tally(new Date(from - day).toISOString(), new Date(from + day).toISOString(), day);
    assert.deepEqual(
      tallies.map((tally) => tally.from),
      [new Date(from - day).toISOString(), new Date(from).toISOString()],
    );
    const [empty, today] = tallies;
    assert.deepEqual(
      [empty?.ended, empty?.reasons, empty?.waited, empty?.took, empty?.usd],
      [0, {}, undefined, undefined, 0],
    );
    assert.deepEqual([today?.ended, today?.reasons], [20, { answered: 18, abstained: 1, cancelled: 1 }]);
    assert.deepEqual([today?.usd, today?.tokens], [9.5, 57]);
    const runs = (await queue.list({ status: 'ended' })).filter(({ started }) => started !== undefined);
    const waits = runs
      .map(({ queued, started = '' }) => Date.parse(started) - Date.parse(queued))
      .toSorted((a, b) => a - b);
    assert.deepEqual(today?.waited, [waits[9], waits[18], waits[18]], 'by nearest rank of the 19 that were begun');
    await assert.rejects(queue.tally(new Date(from).toISOString(), new Date(from + day).toISOString(), 0));
  });

  promise('schedules are kept, changed and taken away by their names; what is no schedule is refused', async (open) => {
    const { queue } = await open();
    const nightly = { name: 'nightly', cron: '0 3 * * *', run: { words: 'tidy up', tenant: 'acme' } };
    await queue.schedule(nightly);
    await queue.schedule({ ...nightly, name: 'hourly', cron: '5 * * * *' });
    await queue.schedule({ ...nightly, cron: '0 4 * * *' });
    const other = await open();
    assert.deepEqual(await other.queue.schedules(), [
      { ...nightly, name: 'hourly', cron: '5 * * * *' },
      { ...nightly, cron: '0 4 * * *' },
    ]);
    await other.queue.schedule({ name: 'hourly' });
    assert.deepEqual(await queue.schedules(), [{ ...nightly, cron: '0 4 * * *' }]);
    await assert.rejects(queue.schedule({ ...nightly, cron: 'every night' }), { code: 'queue/bad-cron' });
    await assert.rejects(queue.schedule({ ...nightly, cron: '0 0 31 2 *' }), { code: 'queue/bad-cron' });
  });
}
