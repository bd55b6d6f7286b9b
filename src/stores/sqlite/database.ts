// Opens the database file: makes it if there is none, refuses what is not ours, and brings its tables up to date.
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { applicationId, migrations } from './migrations.ts';
import { foreignTrouble, isBusy, newerTrouble, sqliteTrouble } from './trouble.ts';

type Values = readonly SQLInputValue[];

/** A database that is open. Its statements are prepared once and kept. */
export type Database = {
  readonly file: string;
  readonly db: DatabaseSync;
  /** The first row, if there is one; the tables are strict, so a row is what its table says. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  one<Row>(sql: string, ...values: Values): Row | undefined;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  all<Row>(sql: string, ...values: Values): readonly Row[];
  /** The rows one by one; to be stepped through before the same statement is used again. */
  each<Row>(sql: string, ...values: Values): Iterable<Row>;
  /** Runs a statement, and answers how many rows it changed. */
  run(sql: string, ...values: Values): number;
  /** Whether the file is still the one that was opened. */
  isInPlace(): boolean;
  close(): void;
};

/** How long a call may block the whole process for another one's commit; whoever needs more waits without blocking. */
const blockMs = 5;
const patienceMs = 15_000;

/** Opens a database file. */
export async function openDatabase(name: string): Promise<Database> {
  const file = path.resolve(name);
  try {
    const db = openFile(file);
    try {
      await patiently(() => refuseOthers(db, file));
      await patiently(() => db.exec('PRAGMA journal_mode = WAL'));
      db.exec('PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216');
      await patiently(() => migrate(db, file));
      return databaseOf(db, file);
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw sqliteTrouble(error, file);
  }
}

/** What a session holds is nobody else's to read: a new file is ours alone, and SQLite gives those beside it the same rights. */
export function openFile(file: string): DatabaseSync {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.closeSync(fs.openSync(file, 'a', 0o600));
  } catch {
    // SQLite says in its own words what is wrong with the place.
  }
  return new DatabaseSync(file, { timeout: blockMs });
}

/** Before anything is changed: what is not ours, or is newer than we are, stays as it is. */
function refuseOthers(db: DatabaseSync, file: string): void {
  const version = numberIn(db, 'user_version');
  const mine = numberIn(db, 'application_id') === applicationId;
  const tables = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  if (!mine && (tables !== undefined || version !== 0)) throw foreignTrouble(file);
  if (mine && version > migrations.length) throw newerTrouble(file, version, migrations.length);
}

const numberIn = (db: DatabaseSync, pragma: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

/** In one transaction, and looked at again within it: whoever comes second finds the work done. */
function migrate(db: DatabaseSync, file: string): void {
  db.exec('PRAGMA synchronous = FULL');
  if (numberIn(db, 'user_version') === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    refuseOthers(db, file);
    for (const step of migrations.slice(numberIn(db, 'user_version'))) db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Tries again while another process has the database, without blocking this one for long. */
export async function patiently<T>(work: () => T): Promise<T> {
  for (const end = performance.now() + patienceMs; ;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
      await sleep(1 + Math.random() * 10);
    }
  }
}

function databaseOf(db: DatabaseSync, file: string): Database {
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
    isInPlace: () => fs.statSync(file, { throwIfNoEntry: false })?.ino === inode,
    close() {
      kept.clear();
      if (db.isOpen) db.close();
    },
  };
}
