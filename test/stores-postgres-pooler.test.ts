// The PostgreSQL store behind a pooler in transaction mode: every statement may use another connection of the server.
import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import { Client } from 'pg';
import { FairleadError } from '../src/core/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { parsePostgresLocation } from '../src/stores/postgres/location.ts';
import { findNoPgBouncer, startPgBouncer } from './support/pgbouncer.ts';
import { startPostgresStores } from './support/postgres-stores.ts';
import { processConformance } from './support/process-conformance.ts';
import { drainStore, endedResult } from './support/queue-conformance.ts';
import { storeConformance } from './support/store-conformance.ts';

const postgres = await startPostgresStores();
const noPgBouncer = findNoPgBouncer();
const skip = postgres.skip ?? noPgBouncer;
const options = skip === undefined ? {} : { skip };
const pooler = skip === undefined ? await startPgBouncer(await postgres.empty()) : undefined;
after(async () => {
  await pooler?.close();
  await postgres.close();
});

/** The location of an empty store behind the pooler, with the address for notifications. */
async function createLocation(t: TestContext): Promise<string> {
  const direct = await postgres.fresh(t);
  return `${pooler?.url(direct) ?? ''}?direct=${new URL(direct).host}`;
}

storeConformance(
  'pgbouncer',
  async (t) => {
    const location = await createLocation(t);
    return async () => {
      const store = await openPostgres(location, { retryMs: 1 });
      t.after(() => store.close());
      return store;
    };
  },
  options,
);

const onRequest = process.env['FAIRLEAD_TEST_RUNS'] === undefined ? { skip: 'takes long: set FAIRLEAD_TEST_RUNS' } : {};
processConformance('pgbouncer', createLocation, { ...onRequest, ...options });

test(
  'pgbouncer: [A116] without a direct address the pooler is found, the tables are created, and runs end',
  options,
  async (t) => {
    const direct = await postgres.empty();
    const location = pooler?.url(direct) ?? '';
    const [one, other] = [await openPostgres(location), await openPostgres(location)];
    t.after(() => Promise.all([one.close(), other.close()]));
    await one.queue.enqueue([{ prompt: 'a' }, { prompt: 'b' }, { prompt: 'c' }]);
    const handled = await drainStore(other, () => endedResult('done'));
    assert.deepEqual(
      handled.map(({ prompt }) => prompt),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(await one.queue.depth(), { queued: 0, running: 0, waiting: 0 });
    assert.deepEqual(await readServerSessions(t, location), new Set(['on on 0 0']));
  },
);

/** The settings and the numbers of channels and advisory locks of each session of the server behind a pooler: so many transactions at once use all its sessions. */
async function readServerSessions(t: TestContext, location: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const processes = new Set<number>();
  for (let i = 0; i < 12; i++) {
    const client = new Client({ connectionString: location });
    await client.connect();
    t.after(() => client.end());
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number; session: string }>(
      `SELECT pg_backend_pid() AS pid, concat_ws(' ', current_setting('enable_seqscan'), current_setting('synchronous_commit'),
        (SELECT count(*) FROM pg_listening_channels()),
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())) AS session`,
    );
    for (const { pid, session } of rows) {
      processes.add(pid);
      found.add(session);
    }
  }
  assert.equal(processes.size, 12);
  return found;
}

test('a location names the server behind a pooler, and a mode of TLS has no warning of the driver', () => {
  assert.deepEqual(parsePostgresLocation('postgres://u:p%40w@pool:6432/db?direct=db.internal:5432'), {
    url: 'postgres://u:p%40w@pool:6432/db',
    directUrl: 'postgres://u:p%40w@db.internal:5432/db',
  });
  assert.deepEqual(
    parsePostgresLocation('postgres://u@pool/db?direct=[::1]:5433').directUrl,
    'postgres://u@[::1]:5433/db',
  );
  assert.equal(
    parsePostgresLocation('postgres:///db?host=/run/pooler&port=6432&user=u&direct=db:5432').directUrl,
    'postgres://db:5432/db?user=u',
  );
  assert.deepEqual(parsePostgresLocation('postgres://h/db?sslmode=require').url, 'postgres://h/db?sslmode=verify-full');
  for (const same of [
    'postgres://h/db?sslmode=require&uselibpqcompat=true',
    'postgres://h/db?sslmode=no-verify',
    'postgres://h1:1,h2:2/db',
  ])
    assert.deepEqual(parsePostgresLocation(same), { url: same });
  for (const direct of ['', 'user:secret@host', 'host/db', 'host:port'])
    assert.throws(
      () => parsePostgresLocation(`postgres://h/db?direct=${direct}`),
      (error) => error instanceof FairleadError && error.code === 'store/no-location' && !/secret/.test(error.message),
    );
});
