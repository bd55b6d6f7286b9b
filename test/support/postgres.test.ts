// The PostgreSQL of the tests is a real one: it keeps what was committed, and none is left behind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { findBinaries } from './postgres-binaries.ts';
import { startPostgres, type Postgres } from './postgres.ts';

const server = await startPostgres();
const skip = typeof server === 'string' && server;
const running = (): Postgres => (typeof server === 'string' ? assert.fail(server) : server);

async function ask(url: string, text: string): Promise<readonly unknown[]> {
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

test('what was committed is there after the server was stopped at once and started again', { skip }, async () => {
  const postgres = running();
  const url = await postgres.database();
  await ask(url, 'CREATE TABLE kept (word text)');
  await ask(url, `INSERT INTO kept VALUES ('here')`);
  const { pid } = postgres;
  await postgres.stop();
  await assert.rejects(ask(url, 'SELECT 1'), /ECONNREFUSED/);
  await postgres.restart();
  assert.notEqual(postgres.pid, pid);
  assert.deepEqual(await ask(url, 'SELECT word FROM kept'), ['here']);
  assert.deepEqual(await ask(url, `SELECT setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit')`), [
    'on',
    'on',
  ]);
});

test('databases do not see each other, and none is had without the password', { skip }, async () => {
  const [one, other] = [await running().database(), await running().database()];
  await ask(one, 'CREATE TABLE mine (word text)');
  await assert.rejects(ask(other, 'SELECT * FROM mine'), /does not exist/);
  await assert.rejects(ask(one.replace(/:[0-9a-f]+@/, ':wrong@'), 'SELECT 1'), /password authentication failed/);
});

test('a process that is killed leaves no server and no data behind', { skip, timeout: 60_000 }, async (t) => {
  const program = path.join(import.meta.dirname, 'postgres-holder.ts');
  const holder = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  const line = await createInterface({ input: holder.stdout })[Symbol.asyncIterator]().next();
  const { pid, place } = JSON.parse(String(line.value)) as { readonly pid: number; readonly place: string };
  assert.ok(isAlive(pid) && existsSync(place));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  while (isAlive(pid) || existsSync(place)) await delay(20, undefined, { signal: t.signal });
});

test('closed, its data is deleted, also when it was stopped before', { skip }, async () => {
  const postgres = running();
  const { pid } = postgres;
  const [place] = await ask(postgres.url, 'SHOW data_directory');
  await postgres.stop();
  await postgres.close();
  assert.ok(!isAlive(pid));
  assert.ok(!existsSync(path.dirname(String(place))));
});

test('where no PostgreSQL can be had, the reason says what was tried', () => {
  assert.match(String(findBinaries(['/nowhere/bin'])), /^no PostgreSQL can run here: \/nowhere\/bin \(.*ENOENT/);
  assert.equal(findBinaries([]), 'no PostgreSQL can run here: none is installed');
});
