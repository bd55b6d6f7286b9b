// The PostgreSQL server of the tests: durable, and removed afterwards.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

const server = await startPostgres();
const skip = typeof server === 'string' && server;
const getServer = (): PostgresServer => (typeof server === 'string' ? assert.fail(server) : server);

async function queryDatabase(url: string, text: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows.flatMap((row) => Object.values(row));
  } finally {
    await client.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('committed data survives an immediate stop and a restart of the server', { skip }, async () => {
  const postgres = getServer();
  const url = await postgres.createDatabase();
  await queryDatabase(url, 'CREATE TABLE kept (word text)');
  await queryDatabase(url, `INSERT INTO kept VALUES ('here')`);
  const { pid } = postgres;
  await postgres.stop();
  await assert.rejects(queryDatabase(url, 'SELECT 1'), /ECONNREFUSED/);
  await postgres.restart();
  assert.notEqual(postgres.pid, pid);
  assert.deepEqual(await queryDatabase(url, 'SELECT word FROM kept'), ['here']);
  assert.deepEqual(
    await queryDatabase(url, `SELECT setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit')`),
    ['on', 'on'],
  );
});

test('databases are separate, and need the password', { skip }, async () => {
  const [one, other] = [await getServer().createDatabase(), await getServer().createDatabase()];
  await queryDatabase(one, 'CREATE TABLE mine (word text)');
  await assert.rejects(queryDatabase(other, 'SELECT * FROM mine'), /does not exist/);
  await assert.rejects(
    queryDatabase(one.replace(/:[0-9a-f]+@/, ':wrong@'), 'SELECT 1'),
    /password authentication failed/,
  );
});

test('a process that is killed leaves no server and no data behind', { skip, timeout: 60_000 }, async (t) => {
  const program = path.join(import.meta.dirname, 'postgres-child.ts');
  const holder = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  const line = await createInterface({ input: holder.stdout })[Symbol.asyncIterator]().next();
  const { pid, place } = JSON.parse(String(line.value)) as { readonly pid: number; readonly place: string };
  assert.ok(isAlive(pid) && existsSync(place));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  while (isAlive(pid) || existsSync(place)) await delay(20, undefined, { signal: t.signal });
});

test('closing deletes the data, also if the server was stopped before', { skip }, async () => {
  const postgres = getServer();
  const { pid } = postgres;
  const [place] = await queryDatabase(postgres.url, 'SHOW data_directory');
  await postgres.stop();
  await postgres.close();
  assert.ok(!isAlive(pid));
  assert.ok(!existsSync(path.dirname(String(place))));
});

test('without PostgreSQL, the reason says what was tried', () => {
  assert.match(
    String(findPostgresBinaries(['/nowhere/bin'])),
    /^no PostgreSQL can run here: \/nowhere\/bin \(.*ENOENT/,
  );
  assert.equal(findPostgresBinaries([]), 'no PostgreSQL can run here: none is installed');
});
