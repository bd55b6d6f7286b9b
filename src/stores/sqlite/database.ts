// Opens the SQLite file of a store: creates it if there is none, rejects files of other programs, and migrates the tables.
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { inTransaction, retryWhileBusy } from '../../core/index.ts';
import { applicationId, migrations } from './migrations.ts';
import { newerVersionError } from '../store-errors.ts';
import { foreignDatabaseError, isBusy, toSqliteError } from './errors.ts';

type SqlValues = readonly SQLInputValue[];

/** An open database. Its statements are prepared once and cached. */
export type SqliteDatabase = {
  readonly file: string;
  readonly db: DatabaseSync;
  /** The first row, if any. `Row` is not checked: the tables are strict. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  one<Row>(sql: string, ...values: SqlValues): Row | undefined;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  all<Row>(sql: string, ...values: SqlValues): readonly Row[];
  /** The rows one by one; must be consumed before the same statement is used again. */
  each<Row>(sql: string, ...values: SqlValues): Iterable<Row>;
  /** Runs a statement, and returns how many rows it changed. */
  run(sql: string, ...values: SqlValues): number;
  /** Whether the path still names the file that was opened. */
  isSameFile(): boolean;
  close(): void;
};

/** How long a call may block the event loop while another process commits; longer waits do not block. */
const busyTimeoutMs = 5;
const busyRetryMs = 15_000;

/** Opens a database file. */
export async function openSqliteDatabase(name: string): Promise<SqliteDatabase> {
  const file = path.resolve(name);
  try {
    const db = openDatabaseFile(file);
    try {
      await retryWhileLocked(() => assertOwnDatabase(db, file));
      await retryWhileLocked(() => db.exec('PRAGMA journal_mode = WAL'));
      db.exec('PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216');
      await retryWhileLocked(() => migrate(db, file));
      return createSqliteDatabase(db, file);
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw toSqliteError(error, file);
  }
}

/** A session may hold secrets: a new file is readable by its owner only, and SQLite gives its side files the same mode. */
export function openDatabaseFile(file: string): DatabaseSync {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.closeSync(fs.openSync(file, 'a', 0o600));
  } catch {
    // SQLite reports the error when it opens the file.
  }
  return new DatabaseSync(file, { timeout: busyTimeoutMs });
}

/** Rejects a database of another program or of a later version, before anything is changed. */
function assertOwnDatabase(db: DatabaseSync, file: string): void {
  const { id, version, tables } = readIdentity(db);
  const isOwn = id === applicationId;
  if (!isOwn && (tables > 0 || version !== 0)) throw foreignDatabaseError(file);
  if (isOwn && version > migrations.length) throw newerVersionError(file, version, migrations.length);
}

/** In one statement, and so from one snapshot: another process may create the tables between two statements. */
const readIdentity = (db: DatabaseSync): { readonly id: number; readonly version: number; readonly tables: number } =>
  db
    .prepare(
      'SELECT (SELECT count(*) FROM sqlite_schema) AS tables, (SELECT application_id FROM pragma_application_id) AS id, ' +
        '(SELECT user_version FROM pragma_user_version) AS version',
    )
    .get() as never;

const readPragma = (db: DatabaseSync, pragma: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

/** In one transaction that reads the version again: a second process finds the work done. */
function migrate(db: DatabaseSync, file: string): void {
  db.exec('PRAGMA synchronous = FULL');
  if (readPragma(db, 'user_version') === migrations.length) return;
  inTransaction(db, () => {
    assertOwnDatabase(db, file);
    for (const step of migrations.slice(readPragma(db, 'user_version'))) db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
  });
}

/** Tries again while another process has locked the database. */
export const retryWhileLocked = <T>(work: () => T): Promise<T> => retryWhileBusy(work, { isBusy, maxMs: busyRetryMs });

function createSqliteDatabase(db: DatabaseSync, file: string): SqliteDatabase {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const inode = fs.statSync(file).ino;
  const prepare = (sql: string): ReturnType<DatabaseSync['prepare']> => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    file,
    db,
    one: (sql, ...values) => prepare(sql).get(...values) as never,
    all: (sql, ...values) => prepare(sql).all(...values) as never,
    each: (sql, ...values) => prepare(sql).iterate(...values) as never,
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    isSameFile: () => fs.statSync(file, { throwIfNoEntry: false })?.ino === inode,
    close() {
      statements.clear();
      if (db.isOpen) db.close();
    },
  };
}
