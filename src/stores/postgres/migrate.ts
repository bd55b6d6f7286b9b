// Migrates the tables of a PostgreSQL store: one process at a time, under an advisory lock.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { FairleadError } from '../../core/index.ts';
import type { PostgresContext } from './context.ts';
import { newerVersionError } from '../store-errors.ts';
import { endClient } from './close-connections.ts';
import { parsePostgresLocation } from './location.ts';
import { migrations, schemas } from './migrations.ts';
import { toPostgresError } from './errors.ts';

/** A lock number derived from a name, so that it does not collide with locks of other programs. */
const lockSql = "SELECT pg_try_advisory_xact_lock(hashtextextended('fairlead migrations', 0)) AS ok";
const versionSql = 'SELECT version FROM fairlead.version';
/** How long a migration step may take, and how long another process is waited for, in milliseconds. */
const migrationTimeoutMs = 300_000;

/** Creates or migrates the tables. */
export async function migratePostgres({ db }: PostgresContext): Promise<void> {
  const readVersion = (sql: string): Promise<number> =>
    db.one<{ version: number }>(sql).then(
      (row) => row?.version ?? 0,
      (error: unknown) => {
        if (isSchemaMissing(error)) return 0;
        throw error;
      },
    );
  const version = await readVersion(versionSql);
  if (version > migrations.length)
    throw newerVersionError(`The store in ${db.description}`, version, migrations.length);
  if (version === migrations.length) return;
  const { default: pg } = await import('pg');
  const { url } = parsePostgresLocation(db.location);
  const client = new pg.Client({
    connectionString: url,
    application_name: 'fairlead migrations',
    connectionTimeoutMillis: 5000,
    query_timeout: migrationTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await acquireMigrationLock(client, db.description);
    const { migrateDbos } = await import('./dbos-engine.ts');
    await migrateDbos(db.location);
    await applyMigrations(client);
    await client.query('COMMIT');
  } catch (error) {
    throw toPostgresError(error, db.description);
  } finally {
    await endClient(client);
  }
}

/**
 * Begins a transaction that holds the lock: behind a pooler, the statements of a session share a connection only within a transaction. Polls:
 * a session that waits inside a statement would block the concurrent index builds of DBOS, and so deadlock.
 */
async function acquireMigrationLock(client: Client, database: string): Promise<void> {
  for (const end = performance.now() + migrationTimeoutMs; performance.now() < end; await sleep(50)) {
    await client.query('BEGIN');
    // DBOS migrates on connections of its own in the meantime.
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const { rows } = await client.query<{ ok: boolean }>(lockSql);
    if (rows[0]?.ok) return;
    await client.query('ROLLBACK');
  }
  throw new FairleadError('store/busy', `Timed out waiting for another process to migrate ${database}.`, {
    blame: 'store',
    retry: true,
    hint: 'Look for a session named "fairlead migrations" in pg_stat_activity, and end it.',
  });
}

async function applyMigrations(client: Client): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schemas.store}`);
  await client.query('CREATE TABLE IF NOT EXISTS fairlead.version (version integer NOT NULL)');
  const { rows } = await client.query<{ version: number }>(versionSql);
  const found = rows[0]?.version ?? 0;
  for (const step of migrations.slice(found)) await client.query(step);
  await client.query('DELETE FROM fairlead.version');
  await client.query('INSERT INTO fairlead.version (version) VALUES ($1)', [Math.max(found, migrations.length)]);
}

/** Whether an error says that the table or the schema does not exist: the store is new. */
function isSchemaMissing(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && (cause.code === '42P01' || cause.code === '3F000');
}
