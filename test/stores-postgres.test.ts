// Conformance of the PostgreSQL store, against a real PostgreSQL.
import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import { Client } from 'pg';
import type { FleetStore, RunSettlement } from '../src/core/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { damageConformance } from './support/damage-conformance.ts';
import { startLossyProxy } from './support/lossy-proxy.ts';
import { startPostgresStores } from './support/postgres-stores.ts';
import { processConformance } from './support/process-conformance.ts';
import { drainStore, endedResult } from './support/queue-conformance.ts';
import { storeConformance } from './support/store-conformance.ts';

const postgres = await startPostgresStores();
after(() => postgres.close());
const { fresh, skip } = postgres;
const options = skip === undefined ? {} : { skip };

async function createStoreOpener(t: TestContext): Promise<() => Promise<FleetStore>> {
  const url = await fresh(t);
  return async () => {
    const store = await openPostgres(url, { retryMs: 1 });
    t.after(() => store.close());
    return store;
  };
}

storeConformance('postgres', createStoreOpener, options);

processConformance('postgres', fresh, options);

damageConformance(
  'postgres',
  async (t) => {
    const url = await fresh(t);
    const store = await openPostgres(url, { retryMs: 1 });
    t.after(() => store.close());
    const client = new Client({ connectionString: url });
    await client.connect();
    t.after(() => client.end());
    return { store, change: async (sql) => void (await client.query(sql((name) => `fairlead.${name}`))) };
  },
  options,
);

test(
  'postgres: [A53, A116] an append whose reply was lost is there once, and refused if the session was taken over',
  options,
  async (t) => {
    const where = await fresh(t);
    const line = await startLossyProxy(t, where);
    const [mine, other] = [await openPostgres(line.url), await openPostgres(where)];
    t.after(() => Promise.all([mine.close(), other.close()]));
    const log = await mine.sessions.open('one');
    const append = async (after: number, meanwhile: () => Promise<void>): ReturnType<typeof log.append> => {
      const lost = line.dropResponse(`words ${after}`);
      const done = log.append(after, [{ type: 'annotation-added', key: 'k', value: `words ${after}` }], {
        durable: true,
      });
      done.catch(() => {});
      await lost;
      await meanwhile();
      line.restore();
      return done;
    };
    assert.equal((await append(0, async () => {}))[0]?.seq, 1);
    const taken = append(1, async () => (await other.sessions.open('one', { force: true })).close());
    await assert.rejects(taken, { code: 'store/fenced' });
    const [first] = await other.sessions.list();
    assert.equal(first?.events, 2, 'the current owner of the session sees the append');
    await mine.close();
  },
);

test(
  'postgres: [A116] a worker whose connection goes dead still stops when told to, and so does its store',
  // Without timeouts this took two minutes, or did not end.
  { timeout: 60_000, ...options },
  async (t) => {
    const line = await startLossyProxy(t, await fresh(t));
    const store = await openPostgres(line.url, { retryMs: 1, leaseMs: 1000 });
    await store.queue.setLimits({ tenantConcurrency: 50 });
    await store.queue.enqueue(Array.from({ length: 300 }, (_, i) => ({ prompt: '', tenant: `t${i % 3}` })));
    const over = new AbortController();
    const enough = Promise.withResolvers<void>();
    let handledCount = 0;
    const handle = async (): Promise<RunSettlement> => {
      handledCount += 1;
      if (handledCount === 50) enough.resolve();
      return endedResult();
    };
    const done = store.queue.work({ worker: 'w', concurrency: 20, signal: over.signal, handle });
    await enough.promise;
    line.blackhole();
    over.abort();
    await done;
    await store.close();
  },
);

test('postgres: [A116] a worker whose queue could not be started can start it later', options, async (t) => {
  const where = await fresh(t);
  const store = await openPostgres(where);
  t.after(() => store.close());
  const client = new Client({ connectionString: where });
  await client.connect();
  t.after(() => client.end());
  // The version that it writes is deleted at once, as other processes that start do.
  await client.query(
    `CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER gone BEFORE INSERT ON fairlead_dbos.application_versions FOR EACH ROW EXECUTE FUNCTION gone()`,
  );
  await store.queue.enqueue([{ id: 'r', prompt: '' }]);
  await assert.rejects(drainStore(store), { code: 'store/failed', message: /No application versions/ });
  await client.query('DROP FUNCTION gone CASCADE');
  assert.deepEqual(
    (await drainStore(store)).map(({ id }) => id),
    ['r'],
  );
});

test(
  'postgres: [A91] a run whose id the database cannot store is refused, and no run that was enqueued with it',
  options,
  async (t) => {
    const store = await openPostgres(await fresh(t));
    t.after(() => store.close());
    const enqueued = ['a', 'no\u0000thing', 'b'].map((id) => store.queue.enqueue([{ id, prompt: '' }]));
    const found = await Promise.allSettled(enqueued);
    assert.deepEqual(
      found.map((each) => (each.status === 'fulfilled' ? each.value[0]?.id : (each.reason as { code?: string }).code)),
      ['a', 'store/failed', 'b'],
    );
  },
);
