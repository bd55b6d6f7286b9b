// Opens the SQLite file of an index: private, in write-ahead mode; a damaged file is set aside and replaced by an empty one.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage, FairleadError, inTransaction, retryWhileBusy } from '../../core/index.ts';

/** Marks the files of this program: "FLix". */
const applicationId = 0x464c6978;
/** The version of the tables and of the passages in them. An index can be built again, so another version is replaced; its folder and embedding model are kept. */
const schemaVersion = 3;
/** How long a call may block the event loop while another process commits; longer waits do not block. */
const busyTimeoutMs = 5;
const busyRetryMs = 30_000;

const schema = `
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, stamp TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE TABLE passages (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, title TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, page INTEGER, record TEXT) STRICT;
  CREATE INDEX passages_by_file ON passages (file);
  CREATE VIRTUAL TABLE words USING fts5(title, body, parts, tokenize = 'porter unicode61');
  CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
`;

/** The files that belong to an index file. */
const sideFiles = ['', '-wal', '-shm', '-journal', '.damaged'];

/** An open index file. */
export type IndexFile = { readonly db: DatabaseSync; readonly notices: readonly string[] };

/** Opens or creates an index file. */
export async function openIndexFile(
  file: string,
  options: { readonly allowExtension?: boolean } = {},
): Promise<IndexFile> {
  try {
    return { db: await openChecked(file, options), notices: [] };
  } catch (error) {
    if (!isDamage(error)) throw toIndexError(error, file);
    return { db: await replaceDamaged(file, options), notices: [damagedNotice] };
  }
}

/** What users read after a damaged index was replaced. */
export const damagedNotice = 'The index file was damaged and is built again.';

/** Sets a damaged file aside and creates an empty one. It is not deleted: a wrong path may name a file of the user. */
export async function replaceDamaged(
  file: string,
  options: { readonly allowExtension?: boolean } = {},
): Promise<DatabaseSync> {
  try {
    rmSync(`${file}.damaged`, { force: true });
    if (existsSync(file)) renameSync(file, `${file}.damaged`);
    for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
    return await openChecked(file, options);
  } catch (error) {
    throw toIndexError(error, file);
  }
}

/** Deletes an index file and what belongs to it; returns whether there was one. */
export function deleteIndexFile(file: string): boolean {
  const existed = existsSync(file);
  for (const suffix of sideFiles) rmSync(`${file}${suffix}`, { force: true });
  return existed;
}

async function openChecked(
  file: string,
  { allowExtension = false }: { readonly allowExtension?: boolean },
): Promise<DatabaseSync> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const db = new DatabaseSync(file, { timeout: busyTimeoutMs, allowExtension });
  try {
    await retryWhileLocked(() => {
      const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get();
      const isOwn = readPragma(db, 'application_id') === applicationId;
      if (!isOwn && tables?.['n'] !== 0) throw foreignFileError(file);
      db.exec('PRAGMA journal_mode = WAL');
    });
    db.exec(
      'PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 16777216',
    );
    await retryWhileLocked(() =>
      inTransaction(db, () => {
        if (readPragma(db, 'user_version') === schemaVersion) return;
        for (const name of ['files', 'passages', 'words', 'vectors']) db.exec(`DROP TABLE IF EXISTS ${name}`);
        db.exec(`${schema}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
      }),
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Tries again while another process writes. */
export const retryWhileLocked = <T>(work: () => T): Promise<T> => retryWhileBusy(work, { isBusy, maxMs: busyRetryMs });

const readPragma = (db: DatabaseSync, name: string): number =>
  Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);

/** The primary result code of SQLite. */
const resultCode = (error: unknown): number =>
  Number((error as { readonly errcode?: unknown } | null)?.errcode ?? 0) & 0xff;
const isBusy = (error: unknown): boolean => [5, 6].includes(resultCode(error));

/** Whether an error says that the file is damaged or is no database. */
export const isDamage = (error: unknown): boolean => [11, 26].includes(resultCode(error));

const foreignFileError = (file: string): FairleadError =>
  new FairleadError('retrieval/foreign-file', `${file} is a database of another program.`, {
    blame: 'user',
    hint: 'Name another file for the index.',
  });

/** Converts an error of SQLite or of the file system into one that names the index. */
export function toIndexError(error: unknown, file: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const isFull = resultCode(error) === 13 || /ENOSPC|EDQUOT/.test(String((error as { code?: unknown } | null)?.code));
  if (isFull)
    return new FairleadError(
      'retrieval/disk-full',
      `The disk of the index ${file} is full. What was indexed before is still there.`,
      {
        blame: 'user',
        hint: 'Free some space, then index the folder again.',
        cause: error,
      },
    );
  return new FairleadError('retrieval/index-file', `The index ${file} cannot be used: ${errorMessage(error)}`, {
    blame: 'user',
    hint: 'Check the permissions of the file, or remove the index and build it again: fairlead index --remove <folder>',
    retry: isBusy(error),
    cause: error,
  });
}

/** What a list of indexes shows of an index file; undefined if the file is no index. */
export type IndexFileInfo = { readonly root: string; readonly embedding?: string };

/** Reads the folder and the embedding model of an index file without changing it. */
export function readIndexFile(file: string): IndexFileInfo | undefined {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const values = new Map(
        db
          .prepare('SELECT key, value FROM meta')
          .all()
          .map(({ key, value }) => [key, value]),
      );
      const [root, embedding] = [values.get('root'), values.get('embedding')];
      if (typeof root !== 'string') return undefined;
      return { root, ...(typeof embedding === 'string' ? { embedding } : {}) };
    } finally {
      db.close();
    }
  } catch {
    return undefined;
  }
}
