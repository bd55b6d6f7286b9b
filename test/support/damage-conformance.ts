// Conformance tests of stores for damaged rows: each is reported with a reason, and the others are not affected.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { FleetStore } from '../../src/core/index.ts';
import { readHealth } from '../../src/fleet/health/index.ts';
import { drainStore, endedResult } from './queue-conformance.ts';

/** A store, and a function that changes its rows as another program would. */
export type DamagedStore = {
  readonly store: FleetStore;
  readonly change: (sql: (table: (name: string) => string) => string) => Promise<void>;
};

/** Registers the tests. */
export function damageConformance(
  name: string,
  fresh: (t: TestContext) => Promise<DamagedStore>,
  options: { readonly skip?: string } = {},
): void {
  const register = (title: string, work: (damaged: DamagedStore) => Promise<void>): void =>
    void test(`${name}: ${title}`, { timeout: 60_000, ...options }, async (t) => work(await fresh(t)));

  register('[A52, A94] a run whose row cannot be read ends with a reason, and the others continue', async (damaged) => {
    const { store, change } = damaged;
    const { queue } = store;
    const broken = ['not json', 'a list', 'a number', 'cut off', 'wordless'];
    const values = ['settings', '[1]', '7', '{"model":', 'null'];
    await queue.enqueue([...broken, 'good', 'better'].map((id) => ({ id, prompt: 'Do it', parent: 'above' })));
    await queue.enqueue([{ id: 'above', prompt: 'Wait', notBefore: '2999-01-01T00:00:00Z' }]);
    for (const [i, id] of broken.entries())
      await change((table) => `UPDATE ${table('runs')} SET settings = '${values[i]}' WHERE id = '${id}'`);
    // A store that keeps prompts as JSON can have a damaged prompt too.
    await change((table) => `UPDATE ${table('runs')} SET words = '{' WHERE id = 'wordless'`);
    assert.equal((await queue.list()).length, 8, 'a list shows them all');
    assert.deepEqual((await drainStore(store)).map(({ id }) => id).toSorted(), ['better', 'good']);
    for (const id of broken) {
      const run = await queue.run(id);
      assert.deepEqual([run?.status, run?.settings, run?.outcome?.reason], ['ended', {}, 'provider-error'], id);
      assert.equal(run?.outcome?.error?.code, 'store/damaged');
      assert.match(run.outcome.detail ?? '', /^The row of this run is damaged: its (settings|prompt) /);
    }
    const messages = await store.inbox.read('above', 0);
    assert.equal(messages.length, 7, 'and the run that waits for it gets a message');
    const { rates } = await readHealth(store, new Date());
    assert.deepEqual([rates.ended, rates.errors.good], [7, 5]);
  });

  register(
    '[A52] a run that was damaged while it waited or after it ended is still listed, and can be cancelled',
    async (damaged) => {
      const { store, change } = damaged;
      const { queue } = store;
      await queue.enqueue(['rests', 'done', 'gone'].map((id) => ({ id, prompt: '' })));
      const rest = { type: 'waiting', pendingApprovals: [{ call: 'c', tool: 't', question: 'May I?' }] } as const;
      await drainStore(store, ({ id }) => (id === 'rests' ? rest : endedResult(`by ${id}`)));
      await change((table) => `UPDATE ${table('runs')} SET questions = '{"call":1}' WHERE id = 'rests'`);
      await change((table) => `UPDATE ${table('runs')} SET outcome = '{' WHERE id = 'done'`);
      await change((table) => `UPDATE ${table('runs')} SET queued = 9000000000000000 WHERE id = 'gone'`);
      assert.equal((await queue.list()).length, 3);
      const [rests, done] = [await queue.run('rests'), await queue.run('done')];
      assert.deepEqual([rests?.status, rests?.pendingApprovals], ['waiting', []]);
      assert.deepEqual([done?.status, done?.outcome?.reason], ['ended', 'provider-error']);
      assert.match(done?.outcome?.detail ?? '', /^The outcome of this run cannot be read/);
      assert.equal((await queue.cancel('rests', 'not wanted'))?.status, 'ended');
    },
  );

  register('[A53] a message that cannot be read becomes empty, and the others are read', async (damaged) => {
    const { store, change } = damaged;
    for (const text of ['one', 'two', 'three']) await store.inbox.send('s', { type: 'steer', text });
    await change((table) => `UPDATE ${table('letters')} SET letter = '{"type":' WHERE letter LIKE '%two%'`);
    const messages = (await store.inbox.read('s', 0)).map(({ message }) => message);
    assert.deepEqual(
      messages.map((message) => ('text' in message ? message.text : message.type)),
      ['one', 'ended', 'three'],
    );
  });

  register('[A85] a schedule that cannot be read becomes a failed run, and delays no other', async (damaged) => {
    const { store, change } = damaged;
    const { queue } = store;
    for (const name of ['good', 'broken', 'timeless'])
      await queue.setSchedule({ name, cron: '0 3 * * *', run: { prompt: name } });
    await change((table) => `UPDATE ${table('schedules')} SET next = 1000`);
    await change((table) => `UPDATE ${table('schedules')} SET run = '{"words":' WHERE name = 'broken'`);
    await change((table) => `UPDATE ${table('schedules')} SET cron = 'now' WHERE name = 'timeless'`);
    assert.equal((await queue.schedules()).length, 3);
    await queue.enqueue([{ id: 'other', prompt: '' }]);
    const names = async (): Promise<readonly string[]> =>
      (await drainStore(store)).map(({ id }) => id.replace(/@.*/, '')).toSorted();
    assert.deepEqual(await names(), ['good', 'other', 'timeless']);
    const [broken] = (await queue.list()).filter(({ id }) => id.startsWith('broken@'));
    assert.deepEqual([broken?.status, broken?.outcome?.error?.code], ['ended', 'store/damaged']);
    assert.deepEqual(await names(), [], 'each of them once');
  });
}
