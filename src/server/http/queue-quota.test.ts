// Tests of the bytes that the runs of a tenant may take in the queue.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiFixture, eventually } from '../../../test/support/api-server.ts';
import { createQueueQuota } from './queue-quota.ts';

const keys = { acme: 'a-key-of-the-tenant-acme', bolt: 'a-key-of-the-tenant-bolt' } as const;
const extraKeys = `runner@acme:${keys.acme},runner@bolt:${keys.bolt}`;

test('a tenant whose runs take too many bytes gets 429 until some have ended; others are not affected', async (t) => {
  const api = await createApiFixture(t, { worker: false, extraKeys, bounds: { queuedBytes: 30_000 } });
  const send = async (tenant: keyof typeof keys, body: unknown): Promise<Response> =>
    fetch(`${api.url}/api/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[tenant]}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const large = { prompt: 'x'.repeat(10_000) };
  const statuses = [(await send('acme', large)).status, (await send('acme', large)).status];
  assert.deepEqual(statuses, [202, 202]);
  const refused = await send('acme', large);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.match(
    await refused.text(),
    /The runs of tenant acme that have not ended would take more than 0\.03 MiB\. Wait until some have ended, or cancel some\./,
  );
  const many = { runs: Array.from({ length: 30 }, () => ({ prompt: 'small' })) };
  assert.equal((await send('acme', many)).status, 429, 'many small runs count too');
  assert.equal((await send('bolt', large)).status, 202);
  const runs = await api.store.queue.list({ tenant: 'acme' });
  assert.equal(runs.length, 2, 'a refused run is not queued');
  for (const { id } of runs) await api.store.queue.cancel(id, 'A test.');
  await eventually('a run is accepted again', async () => (await send('acme', large)).status === 202);
});

test('requests at the same time share one read of the store, and together stay within the limit', async () => {
  let reads = 0;
  const openBytes = async (): Promise<number> => {
    reads += 1;
    return 0;
  };
  const quota = createQueueQuota({ openBytes }, 10_000, () => 0);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => quota([{ prompt: 'x'.repeat(1000) }])));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 4);
  assert.equal(reads, 1);
});

test('the location of the store is told to operators without a tenant only', async (t) => {
  const operator = 'a-key-of-an-operator-of-acme';
  const api = await createApiFixture(t, { worker: false, extraKeys: `${extraKeys},operator@acme:${operator}` });
  const readStore = async (key: string): Promise<unknown> => {
    const response = await fetch(`${api.url}/api/me`, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    assert.equal(text.includes('fleet.sqlite'), text.includes('"store"'));
    return (JSON.parse(text) as { store?: string }).store;
  };
  for (const key of [operator, keys.acme]) assert.equal(await readStore(key), undefined);
  for (const as of ['reader', 'runner'] as const)
    assert.equal(((await api.request('GET /api/me', { as })).body as { store?: string }).store, undefined);
  const { store } = (await api.request('GET /api/me', { as: 'operator' })).body as { store?: string };
  assert.equal(store, api.store.description);
});
