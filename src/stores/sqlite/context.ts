// What every part of a SQLite store stands on: reading, writing in transactions that many share, and waking who waits.
import { openSqliteDatabase, retryWhileBusy, type SqliteDatabase } from './database.ts';
import { storeClosedError, toSqliteError } from './errors.ts';
import { createPollingWaiters, type ChangeTopic, type PollingWaiters } from './polling-waiters.ts';

/** The ground that the parts share. */
export type SqliteContext = Omit<SqliteDatabase, 'db' | 'close'> & {
  readonly waiters: PollingWaiters;
  /** Looks at the database; nothing is changed. */
  read<T>(look: () => T): T;
  /**
   * Changes the database. What comes in the same turn of the event loop shares one transaction and one sync; each is undone by itself
   * where it throws. Without `settle` the change is safe from the death of the process, not from a power cut.
   */
  write<T>(change: () => T, options?: { readonly settle?: boolean }): Promise<T>;
  /** Within a change: wakes who waits for this, once the change is there for all to see. */
  notify(topic: ChangeTopic): void;
  readonly isClosed: boolean;
  /** Writes what is left to write, and lets go of the file. */
  close(): Promise<void>;
};

type WriteJob = {
  readonly change: () => unknown;
  readonly settle: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** So many changes at most share a transaction: the event loop must not stand still for a crowd. */
const maxJobsPerTransaction = 250;

/** Opens the ground of a store. */
export async function openSqliteContext(name: string, pollMs: number): Promise<SqliteContext> {
  const database = await openSqliteDatabase(name);
  const { db, file } = database;
  const watch = createPollingWaiters(
    () => database.one<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0,
    pollMs,
  );
  const touched = new Set<ChangeTopic>();
  let jobs: WriteJob[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;
  let syncs = true;

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (jobs.length > 0) {
      const batch = jobs.slice(0, maxJobsPerTransaction);
      jobs = jobs.slice(maxJobsPerTransaction);
      try {
        await begin(batch.some(({ settle }) => settle));
        commit(batch);
      } catch (error) {
        const trouble = toSqliteError(error, file);
        for (const { reject } of batch) reject(trouble);
      }
      if (jobs.length > 0) await new Promise(setImmediate);
    }
    writing = undefined;
  }

  async function begin(settle: boolean): Promise<void> {
    if (settle !== syncs) database.run(`PRAGMA synchronous = ${settle ? 'FULL' : 'NORMAL'}`);
    syncs = settle;
    await retryWhileBusy(() => database.run('BEGIN IMMEDIATE'));
  }

  /** Nothing here waits: a transaction is never open while other code runs. */
  function commit(batch: readonly WriteJob[]): void {
    const answers: (() => void)[] = [];
    try {
      for (const job of batch) answers.push(attempt(job));
      database.run('COMMIT');
    } catch (error) {
      touched.clear();
      if (db.isTransaction) database.run('ROLLBACK');
      throw error;
    }
    for (const answer of answers) answer();
    for (const topic of touched) watch.notify(topic);
    touched.clear();
  }

  function attempt({ change, resolve, reject }: WriteJob): () => void {
    database.run('SAVEPOINT job');
    try {
      const value = change();
      database.run('RELEASE job');
      return () => resolve(value);
    } catch (error) {
      // Where SQLite itself gave the transaction up, nobody's change is left.
      if (!db.isTransaction) throw error;
      database.run('ROLLBACK TO job');
      database.run('RELEASE job');
      return () => reject(toSqliteError(error, file));
    }
  }

  return {
    ...database,
    waiters: watch,
    notify: (topic) => void touched.add(topic),
    get isClosed() {
      return closed;
    },
    read(look) {
      if (closed) throw storeClosedError(file);
      try {
        return look();
      } catch (error) {
        throw toSqliteError(error, file);
      }
    },
    write<T>(change: () => T, { settle = true } = {}) {
      if (closed) return Promise.reject(storeClosedError(file));
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      jobs.push({ change, settle, resolve: (value) => resolve(value as T), reject });
      writing ??= writeAll();
      return promise;
    },
    async close() {
      if (closed) return;
      closed = true;
      await writing;
      watch.close();
      database.close();
    },
  };
}
