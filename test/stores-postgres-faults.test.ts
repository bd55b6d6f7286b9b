// PostgreSQL store under faults: the server stops, many processes compete, or the database is not as expected.
import assert from 'node:assert/strict';
import test, { after, type TestContext } from 'node:test';
import { Client } from 'pg';
import { zeroUsage, type FleetStore, type RunSettlement, type WorkOptions } from '../src/core/index.ts';
import { migrations } from '../src/stores/postgres/migrations.ts';
import type { FleetStoreOptions } from '../src/stores/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { spawnScriptedWorker, startScriptedWorker } from './support/scripted-worker.ts';
import { startPostgresStores } from './support/postgres-stores.ts';

const postgres = await startPostgresStores();
const skip = postgres.skip === undefined ? {} : { skip: postgres.skip };
after(() => postgres.close());

async function openTestStore(t: TestContext, url: string, options: FleetStoreOptions = {}): Promise<FleetStore> {
  const store = await openPostgres(url, { retryMs: 1, ...options });
  t.after(() => store.close());
  return store;
}

/** Executes a statement as another program would. */
async function executeSql(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const createAnnotation = (value: number) => ({ type: 'annotation-added', key: 'n', value }) as const;
const endedSettlement: RunSettlement = {
  type: 'completed',
  outcome: { reason: 'answered', text: '', spent: zeroUsage },
};
const restingSettlement: RunSettlement = { type: 'waiting', pendingApprovals: [] };

async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

function startWork(store: FleetStore, handle: WorkOptions['handle'], more: Partial<WorkOptions> = {}) {
  const control = new AbortController();
  const done = store.queue.work({ worker: 'w', concurrency: 4, signal: control.signal, handle, ...more });
  return {
    done,
    async end() {
      control.abort();
      await done;
    },
  };
}

async function readValues({ sessions }: FleetStore, session: string): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for await (const events of (await sessions.reader(session)).read())
    for (const event of events) if (event.type === 'annotation-added') values.push(event.value);
  return values;
}

const testPostgres = (title: string, work: (t: TestContext) => Promise<void>): void =>
  void test(title, { timeout: 120_000, ...skip }, work);

testPostgres('[A116] five processes that open an empty database at the same time all open it', async (t) => {
  const url = await postgres.empty();
  const actors = await Promise.all(Array.from({ length: 5 }, () => spawnScriptedWorker(t, url, 10_000)));
  for (const actor of actors) actor.send('go');
  for (const actor of actors) assert.equal(await actor.waitForLine(''), 'ready');
  const versions = await executeSql(url, 'SELECT version FROM fairlead.version');
  assert.deepEqual(versions, [{ version: migrations.length }]);
  await Promise.all(actors.map((actor) => actor.close()));
});

testPostgres('[A116] a store of an earlier version is migrated with its data', async (t) => {
  const url = await postgres.fresh(t);
  const before = await openTestStore(t, url);
  await before.queue.enqueue([{ id: 'kept', prompt: 'Stay.', tenant: 'acme' }]);
  await (await before.sessions.open('kept')).close();
  await executeSql(
    url,
    `DROP FUNCTION fairlead.hold; DROP INDEX fairlead.runs_begun; DROP INDEX fairlead.runs_tenant;
     ALTER TABLE fairlead.sessions DROP COLUMN tenant; ALTER TABLE fairlead.runs DROP COLUMN losses;
     DROP FUNCTION fairlead.bury(text, text, integer); UPDATE fairlead.version SET version = 1`,
  );
  const { queue, ledger, sessions } = await openTestStore(t, url);
  assert.equal((await sessions.find('kept'))?.tenant, 'acme', 'a session gets the tenant of its runs');
  assert.equal((await queue.run('kept'))?.prompt, 'Stay.');
  assert.equal(await ledger.reserve('acme', 'h', { usd: 1, tokens: 1 }), undefined);
  assert.deepEqual(await executeSql(url, 'SELECT version FROM fairlead.version'), [{ version: migrations.length }]);
});

testPostgres(
  '[A116] a store of a later version, a wrong password and a missing server are each reported',
  async (t) => {
    const url = await postgres.fresh(t);
    await executeSql(url, 'UPDATE fairlead.version SET version = version + 1');
    await assert.rejects(openPostgres(url), { code: 'store/newer-version', message: /knows versions up to/ });
    await executeSql(url, `UPDATE fairlead.version SET version = ${migrations.length}`);
    const wrong = new URL(url);
    wrong.password = 'not-the-secret';
    await assert.rejects(openPostgres(wrong.href), ({ code, message }: { code: string; message: string }) => {
      assert.equal(code, 'store/refused');
      assert.doesNotMatch(message, /not-the-secret/);
      return true;
    });
    const store = await openTestStore(t, url);
    await postgres.stop();
    try {
      await assert.rejects(store.ping(), { code: 'store/unreachable', retry: true });
      const { stopped, reason: why } = await store.killSwitch.status();
      assert.equal(stopped, true, 'an unreadable kill switch counts as stopped');
      assert.match(why ?? '', /cannot be read/);
    } finally {
      await postgres.restart();
    }
    await waitUntil(() =>
      store.ping().then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await store.killSwitch.status()).stopped, false);
  },
);

testPostgres('[A52] a durable write in any part of a store makes all writes before it durable', async (t) => {
  const store = await openTestStore(t, await postgres.fresh(t));
  const log = await store.sessions.open('one');
  const other = await store.sessions.open('two');
  const ways: readonly (() => Promise<unknown>)[] = [
    () => other.append(0, [createAnnotation(0)], { durable: true }),
    () => store.ledger.reserve('acme', 'h', { usd: 1, tokens: 1 }),
    () => store.queue.enqueue([{ prompt: '' }]),
  ];
  for (const [i, settle] of ways.entries()) {
    await log.append(i, [createAnnotation(i)]);
    await settle();
    await postgres.restart();
    assert.deepEqual(
      await readValues(store, 'one'),
      Array.from({ length: i + 1 }, (_, value) => value),
    );
  }
});

testPostgres(
  '[A52] appends continue while the server is stopped and started: each is there once, none is lost',
  async (t) => {
    const store = await openTestStore(t, await postgres.fresh(t));
    const log = await store.sessions.open('one');
    let count = 0;
    const stop = new AbortController();
    const writing = (async () => {
      while (!stop.signal.aborted) {
        await log.append(count, [createAnnotation(count + 1)], { durable: true });
        count += 1;
      }
    })();
    for (let restarts = 0; restarts < 2; restarts++) {
      const before = count;
      await waitUntil(() => count > before + 20);
      await postgres.restart();
      const since = count;
      await waitUntil(() => count > since + 5);
    }
    stop.abort();
    await writing;
    assert.deepEqual(
      await readValues(store, 'one'),
      Array.from({ length: count }, (_, i) => i + 1),
    );
  },
);

testPostgres(
  '[A52, A71, A111] work continues while the server is stopped and started: each effect once, no run lost',
  async (t) => {
    const url = await postgres.fresh(t);
    const store = await openTestStore(t, url);
    const runs = await store.queue.enqueue(Array.from({ length: 80 }, (_, i) => ({ id: `r${i}`, prompt: '' })));
    const actors = [await startScriptedWorker(t, url, 10_000), await startScriptedWorker(t, url, 10_000)];
    for (const actor of actors) actor.send('drain');
    const isDone = async (wanted: number): Promise<boolean> =>
      (await store.queue.list({ status: 'ended', limit: 200 })).length >= wanted;
    await waitUntil(() => isDone(10));
    await postgres.restart();
    await waitUntil(() => isDone(40));
    await postgres.restart();
    for (const actor of actors) assert.equal(await actor.waitForLine(''), 'drained');
    for (const { id, session } of runs) {
      assert.equal((await store.queue.run(id))?.outcome?.reason, 'answered');
      const dones: string[] = [];
      for await (const events of (await store.sessions.reader(session)).read())
        for (const event of events) if (event.type === 'annotation-added' && event.key === 'done') dones.push(event.id);
      assert.equal(dones.length, 1, `${id} was handled ${dones.length} times`);
    }
    await Promise.all(actors.map((actor) => actor.close()));
  },
);

testPostgres(
  '[A116] a worker whose heartbeats are too late releases its runs, and they are handled again',
  async (t) => {
    const url = await postgres.fresh(t);
    const store = await openTestStore(t, url, { leaseMs: 500 });
    await store.queue.enqueue([{ id: 'one', prompt: '' }]);
    let lost = false;
    const worker = startWork(store, async ({ attempts }, signal) => {
      if (attempts === 1) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        lost = true;
      }
      return endedSettlement;
    });
    await waitUntil(async () => (await store.queue.run('one'))?.status === 'running');
    await postgres.stop();
    await waitUntil(() => lost);
    await postgres.restart();
    await waitUntil(async () => (await store.queue.run('one').catch(() => undefined))?.status === 'ended');
    assert.ok(((await store.queue.run('one'))?.attempts ?? 0) > 1, 'a late settlement changes nothing');
    await worker.end();
  },
);

testPostgres(
  '[A71, A111] two versions of the program work side by side, each on the runs that it has started',
  async (t) => {
    const url = await postgres.fresh(t);
    const [first, second] = [await openTestStore(t, url), await openTestStore(t, url)];
    await first.queue.enqueue(['a', 'b', 'c', 'd'].map((id) => ({ id, prompt: '' })));
    const had = new Map<string, string[]>();
    const handle: WorkOptions['handle'] = async ({ id, attempts, version = '' }) => {
      had.set(id, [...(had.get(id) ?? []), version]);
      return attempts === 1 ? restingSettlement : endedSettlement;
    };
    const workers = [
      startWork(first, handle, { version: '1', concurrency: 1, worker: 'w1' }),
      startWork(second, handle, { version: '2', concurrency: 1, worker: 'w2' }),
    ];
    await waitUntil(async () => (await first.queue.depth()).waiting === 4);
    for (const id of ['a', 'b', 'c', 'd']) await second.queue.wake(id);
    await waitUntil(async () => (await first.queue.list({ status: 'ended' })).length === 4);
    for (const [id, versions] of had) assert.equal(new Set(versions).size, 1, `${id}: ${versions.join(' ')}`);
    await Promise.all(workers.map((worker) => worker.end()));
  },
);

testPostgres('[A71] a schedule fires once over all workers, and once for all missed times', async (t) => {
  const url = await postgres.fresh(t);
  const stores = [await openTestStore(t, url), await openTestStore(t, url)];
  await stores[0]?.queue.setSchedule({ name: 'nightly', cron: '0 3 * * *', run: { prompt: 'tidy', tenant: 'acme' } });
  await executeSql(url, `UPDATE fairlead.schedules SET next = ${Date.UTC(2026, 0, 5, 3)}`);
  const handled: string[] = [];
  const handle: WorkOptions['handle'] = async ({ id, prompt }) => (handled.push(`${id} ${prompt}`), endedSettlement);
  await Promise.all(stores.map((store) => startWork(store, handle, { drain: true }).done));
  assert.deepEqual(handled, ['nightly@2026-01-05T03:00:00.000Z tidy']);
  const [row] = await executeSql(url, 'SELECT next FROM fairlead.schedules');
  assert.ok(Number(row?.['next']) > Date.now());
});

testPostgres('[A71] queued runs whose workflows DBOS has lost are still handled', async (t) => {
  const url = await postgres.fresh(t);
  const store = await openTestStore(t, url);
  await store.queue.enqueue(['a', 'b', 'c'].map((id) => ({ id, prompt: '' })));
  await executeSql(url, "DELETE FROM fairlead_dbos.workflow_status WHERE workflow_uuid IN ('a#1', 'c#1')");
  const worker = startWork(store, async () => endedSettlement, { drain: true });
  await worker.done;
  for (const id of ['a', 'b', 'c']) assert.equal((await store.queue.run(id))?.attempts, 1, id);
});

testPostgres('[A66] DBOS rows of ended runs are deleted', async (t) => {
  const url = await postgres.fresh(t);
  const store = await openTestStore(t, url);
  await store.queue.enqueue(Array.from({ length: 30 }, () => ({ prompt: '' })));
  await startWork(store, async () => endedSettlement, { drain: true }).done;
  // Their outcomes may not be written yet.
  const rows = async (): Promise<number> => {
    await executeSql(url, "UPDATE fairlead_dbos.workflow_status SET completed_at = 1 WHERE status = 'SUCCESS'");
    const counts = ['status', 'input', 'output'].map((name) => `(SELECT count(*) FROM fairlead_dbos.workflow_${name})`);
    return Number((await executeSql(url, `SELECT ${counts.join('+')} AS count`))[0]?.['count']);
  };
  assert.ok((await rows()) > 0);
  const worker = startWork(store, async () => endedSettlement);
  await waitUntil(async () => (await rows()) === 0);
  await worker.end();
  assert.equal((await store.queue.list({ status: 'ended' })).length, 30, 'our messages are received');
});

testPostgres('a process that works on the queue of a second database is refused with one sentence', async (t) => {
  const [one, other] = [
    await openTestStore(t, await postgres.fresh(t)),
    await openTestStore(t, await postgres.fresh(t)),
  ];
  await startWork(one, async () => endedSettlement, { drain: true }).done;
  await assert.rejects(startWork(other, async () => endedSettlement, { drain: true }).done, {
    code: 'store/one-queue',
    message: /already works on the queue of a database other than/,
  });
  await other.queue.enqueue([{ id: 'r', prompt: '' }]);
  assert.equal((await other.queue.run('r'))?.status, 'queued', 'all other operations are permitted');
  await one.close();
  await startWork(other, async () => endedSettlement, { drain: true }).done;
  assert.equal((await other.queue.run('r'))?.status, 'ended');
});

test(
  '[A116] a worker that was suspended past its lease takes no session back, and works again afterwards',
  skip,
  async (t) => {
    const url = await postgres.fresh(t);
    const [sleeper, heir] = [await openTestStore(t, url), await openTestStore(t, url)];
    await (await sleeper.sessions.open('before')).close();
    await executeSql(url, "SELECT fairlead.bury(token, '{}') FROM fairlead.presences");
    const log = await heir.sessions.open('one', { force: true });
    await assert.rejects(sleeper.sessions.open('one', { force: true }), { code: 'store/fenced' });
    await log.append(0, [createAnnotation(1)], { durable: true });
    const other = await sleeper.sessions.open('another', { force: true });
    await other.append(0, [createAnnotation(1)], { durable: true });
    await Promise.all([log.close(), other.close()]);
  },
);
