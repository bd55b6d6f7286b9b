// A SQLite store in a temporary directory, and functions that change its file as other programs might.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { FleetStore } from '../../src/core/index.ts';
import { openSqlite } from '../../src/stores/sqlite/store.ts';

/** The path of a new file; its directory is removed with the test. */
export function createSqlitePath(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'fairlead-sqlite-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'fleet.sqlite');
}

/** Opens the store in a file with short retries; it is closed with the test. */
export async function openSqliteStore(t: TestContext, file: string): Promise<FleetStore> {
  const store = await openSqlite(file, { retryMs: 1, pollMs: 10 });
  t.after(() => store.close());
  return store;
}

/** Changes the file as another program would. */
export function executeSql(file: string, sql: string): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec(sql);
  db.close();
}

/** How many rows a table has. */
export function countRows(file: string, table: string): number {
  const db = new DatabaseSync(file);
  const { count } = db.prepare(`SELECT count(*) AS count FROM ${table}`).get() ?? {};
  db.close();
  return Number(count);
}
