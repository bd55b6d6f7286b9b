// Opens the database file: makes it if there is none, refuses what is not ours, and brings its tables up to date.
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { applicationId, migrations } from './migrations.ts';
import { foreignDatabaseError, isBusy, newerStoreError, toSqliteError } from './errors.ts';

type SqlValues = readonly SQLInputValue[];

/** A database that is open. Its statements are prepared once and kept. */
export type SqliteDatabase = {
  readonly file: string;
  readonly db: DatabaseSync;
  /** The first row, if there is one; the tables are strict, so a row is what its table says. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  one<Row>(sql: string, ...values: SqlValues): Row | undefined;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  all<Row>(sql: string, ...values: SqlValues): readonly Row[];
  /** The rows one by one; to be stepped through before the same statement is used again. */
  each<Row>(sql: string, ...values: SqlValues): Iterable<Row>;
  /** Runs a statement, and answers how many rows it changed. */
  run(sql: string, ...values: SqlValues): number;
  /** Whether the file is still the one that was opened. */
  isSameFile(): boolean;
  close(): void;
};

/** How long a call may block the whole process for another one's commit; whoever needs more waits without blocking. */
const busyTimeoutMs = 5;
const busyRetryMs = 15_000;

/** Opens a database file. */
export async function openSqliteDatabase(name: string): Promise<SqliteDatabase> {
  const file = path.resolve(name);
  try {
    const db = openDatabaseFile(file);
    try {
      await retryWhileBusy(() => assertOwnDatabase(db, file));
      await retryWhileBusy(() => db.exec('PRAGMA journal_mode = WAL'));
      db.exec('PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216');
      await retryWhileBusy(() => migrate(db, file));
      return createSqliteDatabase(db, file);
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw toSqliteError(error, file);
  }
}

/** What a session holds is nobody else's to read: a new file is ours alone, and SQLite gives those beside it the same rights. */
export function openDatabaseFile(file: string): DatabaseSync {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.closeSync(fs.openSync(file, 'a', 0o600));
  } catch {
    // SQLite says in its own words what is wrong with the place.
  }
  return new DatabaseSync(file, { timeout: busyTimeoutMs });
}

/** Before anything is changed: what is not ours, or is newer than we are, stays as it is. */
function assertOwnDatabase(db: DatabaseSync, file: string): void {
  const version = readPragma(db, 'user_version');
  const mine = readPragma(db, 'application_id') === applicationId;
  const tables = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  if (!mine && (tables !== undefined || version !== 0)) throw foreignDatabaseError(file);
  if (mine && version > migrations.length) throw newerStoreError(file, version, migrations.length);
}

const readPragma = (db: DatabaseSync, pragma: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

/** In one transaction, and looked at again within it: whoever comes second finds the work done. */
function migrate(db: DatabaseSync, file: string): void {
  db.exec('PRAGMA synchronous = FULL');
  if (readPragma(db, 'user_version') === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    assertOwnDatabase(db, file);
    for (const step of migrations.slice(readPragma(db, 'user_version'))) db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Tries again while another process has the database, without blocking this one for long. */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  for (const end = performance.now() + busyRetryMs; ;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
      await sleep(1 + Math.random() * 10);
    }
  }
}

function createSqliteDatabase(db: DatabaseSync, file: string): SqliteDatabase {
  const kept = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const inode = fs.statSync(file).ino;
  const prepared = (sql: string): ReturnType<DatabaseSync['prepare']> => {
    const known = kept.get(sql);
    if (known) return known;
    const made = db.prepare(sql);
    kept.set(sql, made);
    return made;
  };
  return {
    file,
    db,
    one: (sql, ...values) => prepared(sql).get(...values) as never,
    all: (sql, ...values) => prepared(sql).all(...values) as never,
    each: (sql, ...values) => prepared(sql).iterate(...values) as never,
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    isSameFile: () => fs.statSync(file, { throwIfNoEntry: false })?.ino === inode,
    close() {
      kept.clear();
      if (db.isOpen) db.close();
    },
  };
}
