// The database transactions of a run, counted.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Client } from 'pg';
import { resolveAgent } from '../src/agent/index.ts';
import { createAgentRunHandler, startWorker } from '../src/fleet/index.ts';
import { openPostgres } from '../src/stores/postgres/store.ts';
import { scriptedProvider } from '../src/testing/index.ts';
import { startPostgresStores } from './support/postgres-stores.ts';

const postgres = await startPostgresStores();
after(() => postgres.close());
const skip = postgres.skip === undefined ? {} : { skip: postgres.skip };

/** The transactions of a database, after all connections have closed and reported. */
async function countTransactions(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const one = async (sql: string): Promise<number> => Number((await client.query(`${sql} AS n`)).rows[0]?.n);
  const others =
    'SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid())';
  while ((await one(others)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const count = await one('SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())');
  await client.end();
  return count;
}

/** Handles `runs` runs of one turn, 50 in parallel, and returns their transactions. */
async function measureTransactionsPerRun(url: string, runs: number): Promise<number> {
  const before = await countTransactions(url);
  const store = await openPostgres(url);
  try {
    await store.queue.enqueue(Array.from({ length: runs }, () => ({ prompt: 'Say yes.' })));
    const parts = resolveAgent({ provider: scriptedProvider(() => 'Yes.'), system: 'You are a test.' });
    const run = createAgentRunHandler(async () => ({ parts, close: async () => {} }));
    await startWorker({ store, handlers: { run }, concurrency: 50, drain: true }).done;
    const ended = await store.queue.list({ status: 'ended', limit: 1000 });
    assert.equal(ended.filter(({ outcome }) => outcome?.text === 'Yes.').length, runs);
  } finally {
    await store.close();
  }
  return (await countTransactions(url)) - before;
}

test('[A66] parallel runs share their transactions', { timeout: 120_000, ...skip }, async (t) => {
  const [few, many] = [
    await measureTransactionsPerRun(await postgres.fresh(t), 50),
    await measureTransactionsPerRun(await postgres.fresh(t), 200),
  ];
  const each = (many - few) / 150;
  t.diagnostic(`${each.toFixed(2)} transactions per run`);
  // A single run needs more than ten; together two each, plus the periodic queries of a worker.
  assert.ok(each < 6, `${each.toFixed(2)} transactions per run`);
});
