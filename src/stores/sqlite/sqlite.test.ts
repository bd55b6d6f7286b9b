// SQLite store: expired leases, shared transactions, schedules and pruning.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { startScriptedWorker } from '../../../test/support/scripted-worker.ts';
import { executeSql, countRows, openSqliteStore, createSqlitePath } from '../../../test/support/sqlite-store.ts';
import { FairleadError, zeroUsage, type FleetStore, type Log } from '../../core/index.ts';
import { openSqlite } from './store.ts';

const annotation = { type: 'annotation-added', key: 'k', value: 1 } as const;

async function drain({ queue }: FleetStore): Promise<readonly string[]> {
  const handled: string[] = [];
  await queue.work({
    worker: 'w',
    concurrency: 4,
    drain: true,
    signal: new AbortController().signal,
    async handle({ id, prompt }) {
      handled.push(`${id} ${prompt}`);
      return { type: 'completed', outcome: { reason: 'answered', text: '', spent: zeroUsage } };
    },
  });
  return handled;
}

test('[A52] an event that was changed in the database is reported', async (t) => {
  const file = createSqlitePath(t);
  const store = await openSqliteStore(t, file);
  const log = await store.sessions.open('one');
  await log.append(0, [annotation, annotation, annotation]);
  const read = async (): Promise<void> => {
    for await (const events of log.read()) assert.ok(events.length > 0);
  };
  await read();
  executeSql(file, `UPDATE events SET fact = '{"type":"annotation-added","key":7}' WHERE seq = 2`);
  await assert.rejects(read, { code: 'store/damaged', message: 'Event 2 of session one has no valid "key".' });
  executeSql(file, "UPDATE events SET fact = '{' WHERE seq = 2");
  await assert.rejects(read, { code: 'store/damaged', message: 'Event 2 of session one is not JSON.' });
  executeSql(file, 'DELETE FROM events WHERE seq = 2');
  await assert.rejects(read, { code: 'store/damaged', message: 'Event 2 of session one is missing.' });
  executeSql(file, 'UPDATE events SET jump = 3 WHERE seq = 3');
  await assert.rejects(read, { code: 'store/damaged', message: /^Event 3 .* follows an event that comes after it/ });
  executeSql(file, 'DELETE FROM events');
  await assert.rejects(read, { code: 'store/damaged', message: 'Event 1 of session one is missing.' });
});

test('[A95] a kill switch that is missing, unreadable, or in a removed file counts as stopped', async (t) => {
  const file = createSqlitePath(t);
  const { killSwitch } = await openSqliteStore(t, file);
  const stopped = async (): Promise<boolean> => (await killSwitch.status()).stopped;
  assert.equal(await stopped(), false);
  for (const value of ['{', '{}', 'null', '{"stopped":0}', '[]', '""']) {
    executeSql(file, `UPDATE control SET value = '${value}' WHERE name = 'standing'`);
    assert.equal(await stopped(), true, value);
  }
  await killSwitch.resume('me');
  assert.equal(await stopped(), false);
  executeSql(file, "DELETE FROM control WHERE name = 'standing'");
  assert.equal(await stopped(), true);
  await killSwitch.resume('me');
  assert.equal(await stopped(), false);
  fs.renameSync(file, `${file}.away`);
  assert.equal(await stopped(), true);
  fs.renameSync(`${file}.away`, file);
  assert.equal(await stopped(), false);
});

/** The number of transactions in the write-ahead log: the last frame of each has the size of the database. */
function countCommits(file: string): number {
  const wal = fs.readFileSync(`${file}-wal`);
  const page = wal.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + 24 <= wal.length; at += 24 + page) if (wal.readUInt32BE(at + 4) > 0) commits += 1;
  return commits;
}

test('[A66] the concurrent writes of a hundred runs share a few transactions', async (t) => {
  const file = createSqlitePath(t);
  const store = await openSqliteStore(t, file);
  const logs: readonly Log[] = await Promise.all(Array.from({ length: 100 }, (_, i) => store.sessions.open(`s${i}`)));
  executeSql(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  await Promise.all(logs.map((log) => log.append(0, [annotation], { durable: true })));
  const commits = countCommits(file);
  assert.ok(commits > 0 && commits <= 3, `${commits} transactions for 100 appends`);
  await Promise.all(logs.map((log) => log.close()));
});

test('a failed write is rolled back alone, without the others of its transaction', async (t) => {
  const { sessions, queue } = await openSqliteStore(t, createSqlitePath(t));
  const log = await sessions.open('a');
  const none = undefined as unknown as string;
  const results = await Promise.allSettled([
    log.append(0, [annotation]),
    queue.enqueue([
      { id: 'sound', prompt: '' },
      { id: 'not sound', prompt: none },
    ]),
    log.append(7, [annotation]),
    log.append(1, [annotation]),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await queue.list(), []);
});

test('[A116] a process without heartbeats loses its sessions and runs before it notices', async (t) => {
  const file = createSqlitePath(t);
  const silent = await openSqlite(file, { leaseMs: 600_000 });
  t.after(() => silent.close());
  const other = await openSqliteStore(t, file);
  const log = await silent.sessions.open('s');
  await silent.queue.enqueue([{ id: 'r', prompt: '' }]);
  const late = Promise.withResolvers<void>();
  const end = new AbortController();
  const begun = Promise.withResolvers<void>();
  const working = silent.queue.work({
    worker: 'silent',
    concurrency: 1,
    signal: end.signal,
    async handle() {
      begun.resolve();
      await late.promise;
      return { type: 'completed', outcome: { reason: 'answered', text: 'late', spent: zeroUsage } };
    },
  });
  await begun.promise;
  end.abort();
  await assert.rejects(other.sessions.open('s'), { code: 'store/locked' });
  executeSql(file, "UPDATE presences SET beat = '000000000000001'");
  assert.deepEqual(await drain(other), ['r ']);
  await assert.rejects(log.append(0, [annotation]), { code: 'store/fenced' });
  late.resolve();
  await working;
  assert.equal((await other.queue.run('r'))?.outcome?.text, '', 'a late settlement changes nothing');
  await (await other.sessions.open('s')).close();
});

test('[A116] a process that has ended on this machine is not waited for, however long its lease', async (t) => {
  const file = createSqlitePath(t);
  const { sessions } = await openSqliteStore(t, file);
  const worker = await startScriptedWorker(t, file, 3_600_000);
  assert.equal(await worker.ask('open'), 'opened');
  await assert.rejects(sessions.open('one'), { code: 'store/locked' });
  await worker.kill();
  await (await sessions.open('two')).close();
  assert.equal((await sessions.list()).find(({ session }) => session === 'one')?.holder, undefined);
  const presences = countRows(file, 'presences');
  await (await sessions.open('one')).close();
  assert.equal(presences, 1, 'the next writer has cleaned up');
});

test('[A71] fault 19: a writer waits for another process that has locked the database, without blocking the event loop', async (t) => {
  const file = createSqlitePath(t);
  const { queue } = await openSqliteStore(t, file);
  const db = new DatabaseSync(file);
  db.exec('BEGIN IMMEDIATE');
  let done = false;
  const writing = queue.enqueue([{ id: 'one', prompt: '' }]).then(() => (done = true));
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(done, false);
  assert.equal(await queue.run('one'), undefined, 'reads continue meanwhile');
  db.exec('COMMIT');
  await writing;
  db.close();
});

test('[A71] a schedule fires once over all workers, and once for all missed times', async (t) => {
  const file = createSqlitePath(t);
  const stores = [await openSqliteStore(t, file), await openSqliteStore(t, file)];
  await stores[0]?.queue.setSchedule({ name: 'nightly', cron: '0 3 * * *', run: { prompt: 'tidy', tenant: 'acme' } });
  const missed = Date.UTC(2026, 0, 5, 3);
  executeSql(file, `UPDATE schedules SET next = ${missed}`);
  const handled = (await Promise.all(stores.map(drain))).flat();
  assert.deepEqual(handled, ['nightly@2026-01-05T03:00:00.000Z tidy']);
  assert.equal((await stores[0]?.queue.list())?.[0]?.tenant, 'acme');
  const db = new DatabaseSync(file);
  const next = Number(db.prepare('SELECT next FROM schedules').get()?.['next']);
  db.close();
  assert.ok(next > Date.now() && new Date(next).getUTCHours() === 3);
});

test('[A116] a worker that was suspended before it opened a session does not take it from the worker that has its run now', async (t) => {
  const file = createSqlitePath(t);
  const [sleeper, heir] = [await openSqliteStore(t, file), await openSqliteStore(t, file)];
  await sleeper.queue.enqueue([{ id: 'one', prompt: '' }]);
  const slept = Promise.withResolvers<unknown>();
  const end = new AbortController();
  const done = sleeper.queue.work({
    worker: 'sleeper',
    concurrency: 1,
    signal: end.signal,
    async handle() {
      executeSql(file, "UPDATE presences SET beat = '0'");
      let log: Log | undefined;
      await heir.queue.work({
        worker: 'heir',
        concurrency: 1,
        drain: true,
        signal: AbortSignal.timeout(30_000),
        async handle() {
          log = await heir.sessions.open('one', { force: true });
          slept.resolve(await sleeper.sessions.open('one', { force: true }).catch((error: unknown) => error));
          await log.append(0, [annotation]);
          return { type: 'completed', outcome: { reason: 'answered', text: 'by the heir', spent: zeroUsage } };
        },
      });
      end.abort();
      return { type: 'released' };
    },
  });
  await done;
  const error = await slept.promise;
  assert.ok(error instanceof FairleadError && error.code === 'store/fenced', String(error));
  const run = await heir.queue.run('one');
  assert.deepEqual([run?.outcome?.text, run?.attempts], ['by the heir', 2]);
  await (await sleeper.sessions.open('another', { force: true })).close();
});

test('old runs, sessions, messages and reservations are deleted; spending stays', async (t) => {
  const file = createSqlitePath(t);
  const store = await openSqliteStore(t, file);
  await store.queue.enqueue([
    { id: 'old', prompt: '' },
    { id: 'old again', prompt: '', session: 'kept' },
    { id: 'new', prompt: '' },
    { id: 'new again', prompt: '', session: 'kept' },
  ]);
  for (const session of ['old', 'new', 'talk', 'kept']) {
    const log = await store.sessions.open(session);
    await log.append(0, [annotation]);
    await log.close();
    await store.inbox.send(session, { type: 'cancel' });
  }
  await drain(store);
  await store.ledger.setBudget({ tenant: 'acme', period: 'ever', usd: 9 });
  await store.ledger.reserve('acme', 'never-settled', { usd: 2, tokens: 1 });
  executeSql(file, "UPDATE runs SET ended = 1 WHERE id LIKE 'old%'; UPDATE holds SET day = '2020-01-01'");
  executeSql(file, "UPDATE sessions SET changed = '2020-01-01T00:00:00.000Z' WHERE session <> 'new'");
  executeSql(file, "UPDATE letters SET time = 1 WHERE session <> 'new'");
  assert.equal(await store.prune(new Date(Date.now() - 1000).toISOString()), 2);
  assert.deepEqual(
    (await store.queue.list()).map(({ id }) => id),
    ['new again', 'new'],
  );
  assert.deepEqual((await store.sessions.list()).map(({ session }) => session).toSorted(), ['kept', 'new', 'talk']);
  assert.deepEqual([(await store.inbox.read('old', 0)).length, (await store.inbox.read('new', 0)).length], [0, 1]);
  const [budget] = await store.ledger.budgets();
  assert.deepEqual([budget?.spent.usd, budget?.reserved.usd], [2, 0]);
  assert.equal(await store.prune(new Date(0).toISOString()), 0);
});
