// Brings the tables of a store up to date: one process at a time, whoever comes second finds it done.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { FairleadError } from '../../core/index.ts';
import type { PostgresContext } from './context.ts';
import { endClient } from './timeouts.ts';
import { migrations, schemas } from './migrations.ts';
import { newerStoreError, toPostgresError } from './errors.ts';

/** Asked for by name, so that no other program's lock is meant by chance. */
const lockSql = "SELECT pg_try_advisory_lock(hashtextextended('fairlead migrations', 0)) AS ok";
const versionSql = 'SELECT version FROM fairlead.version';
/** Milliseconds that a step may take, and that another process is waited for. */
const migrationTimeoutMs = 300_000;

/** Makes or updates the tables. */
export async function migratePostgres({ db }: PostgresContext): Promise<void> {
  const version = (sql: string): Promise<number> =>
    db.one<{ version: number }>(sql).then(
      (row) => row?.version ?? 0,
      (error: unknown) => {
        if (isSchemaMissing(error)) return 0;
        throw error;
      },
    );
  const found = await version(versionSql);
  if (found > migrations.length) throw newerStoreError(db.description, found, migrations.length);
  if (found === migrations.length) return;
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: db.url,
    application_name: 'fairlead migrations',
    connectionTimeoutMillis: 5000,
    query_timeout: migrationTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await acquireMigrationLock(client, db.description);
    const { migrateDbos } = await import('./engine.ts');
    await migrateDbos(db.url);
    await applyMigrations(client);
  } catch (error) {
    throw toPostgresError(error, db.description);
  } finally {
    await endClient(client);
  }
}

/** Polled: one that waits within a statement would keep DBOS's own indexes from being built, and so wait for ever. */
async function acquireMigrationLock(client: Client, about: string): Promise<void> {
  for (const end = performance.now() + migrationTimeoutMs; performance.now() < end; await sleep(50)) {
    const { rows } = await client.query<{ ok: boolean }>(lockSql);
    if (rows[0]?.ok) return;
  }
  throw new FairleadError('store/busy', `Another process makes the tables of ${about}, and does not come to an end.`, {
    blame: 'store',
    retry: true,
    hint: 'Look for a session named "fairlead migrations" in pg_stat_activity, and end it.',
  });
}

async function applyMigrations(client: Client): Promise<void> {
  await client.query('BEGIN');
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schemas.ours}`);
  await client.query('CREATE TABLE IF NOT EXISTS fairlead.version (version integer NOT NULL)');
  const { rows } = await client.query<{ version: number }>(versionSql);
  const found = rows[0]?.version ?? 0;
  for (const step of migrations.slice(found)) await client.query(step);
  await client.query('DELETE FROM fairlead.version');
  await client.query('INSERT INTO fairlead.version (version) VALUES ($1)', [Math.max(found, migrations.length)]);
  await client.query('COMMIT');
}

/** No such table or schema: the store is new. */
function isSchemaMissing(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && (cause.code === '42P01' || cause.code === '3F000');
}
