// Shared context of a SQLite store: reads, writes that share transactions, and the wait list for changes.
import { closedError } from '../store-errors.ts';
import type { ChangeTopic, Waiters } from '../waiters.ts';
import { openSqliteDatabase, retryWhileLocked, type SqliteDatabase } from './database.ts';
import { toSqliteError } from './errors.ts';
import { createPollingWaiters } from './polling-waiters.ts';

/** What the parts of a store use. */
export type SqliteContext = Omit<SqliteDatabase, 'db' | 'close'> & {
  readonly waiters: Waiters;
  /** Reads from the database and converts its errors. */
  read<T>(query: () => T): T;
  /**
   * Changes the database. Writes of the same turn of the event loop share one transaction and one sync; a write that throws is rolled back
   * alone. With `durable: false` the change survives the end of the process, but not a power cut.
   */
  write<T>(change: () => T, options?: { readonly durable?: boolean }): Promise<T>;
  /** Within a write: wakes the waiters of a topic after the commit. */
  notify(topic: ChangeTopic): void;
  readonly isClosed: boolean;
  /** Finishes pending writes and closes the file. */
  close(): Promise<void>;
};

type WriteJob = {
  readonly change: () => unknown;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** A transaction blocks the event loop, so it is limited. */
const maxJobsPerTransaction = 250;

/** Opens the database of a store. */
export async function openSqliteContext(name: string, pollMs: number): Promise<SqliteContext> {
  const database = await openSqliteDatabase(name);
  const { db, file } = database;
  const waiters = createPollingWaiters(
    () => database.one<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0,
    pollMs,
  );
  const changedTopics = new Set<ChangeTopic>();
  let jobs: WriteJob[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;
  /** Whether commits are synced to the disk. */
  let isSynced = true;

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (jobs.length > 0) {
      const batch = jobs.slice(0, maxJobsPerTransaction);
      jobs = jobs.slice(maxJobsPerTransaction);
      try {
        await begin(batch.some(({ durable }) => durable));
        commit(batch);
      } catch (error) {
        const storeError = toSqliteError(error, file);
        for (const { reject } of batch) reject(storeError);
      }
      if (jobs.length > 0) await new Promise(setImmediate);
    }
    writing = undefined;
  }

  async function begin(durable: boolean): Promise<void> {
    if (durable !== isSynced) database.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    isSynced = durable;
    await retryWhileLocked(() => database.run('BEGIN IMMEDIATE'));
  }

  /** Synchronous: no other code runs while the transaction is open. */
  function commit(batch: readonly WriteJob[]): void {
    const replies: (() => void)[] = [];
    try {
      for (const job of batch) replies.push(runJob(job));
      database.run('COMMIT');
    } catch (error) {
      changedTopics.clear();
      if (db.isTransaction) database.run('ROLLBACK');
      throw error;
    }
    for (const reply of replies) reply();
    for (const topic of changedTopics) waiters.notify(topic);
    changedTopics.clear();
  }

  function runJob({ change, resolve, reject }: WriteJob): () => void {
    database.run('SAVEPOINT job');
    try {
      const value = change();
      database.run('RELEASE job');
      return () => resolve(value);
    } catch (error) {
      // If SQLite has rolled back the whole transaction, all jobs of the batch fail.
      if (!db.isTransaction) throw error;
      database.run('ROLLBACK TO job');
      database.run('RELEASE job');
      return () => reject(toSqliteError(error, file));
    }
  }

  return {
    ...database,
    waiters,
    notify: (topic) => void changedTopics.add(topic),
    get isClosed() {
      return closed;
    },
    read(query) {
      if (closed) throw closedError(`The store in ${file}`);
      try {
        return query();
      } catch (error) {
        throw toSqliteError(error, file);
      }
    },
    write<T>(change: () => T, { durable = true } = {}) {
      if (closed) return Promise.reject(closedError(`The store in ${file}`));
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      jobs.push({ change, durable, resolve: (value) => resolve(value as T), reject });
      writing ??= writeAll();
      return promise;
    },
    async close() {
      if (closed) return;
      closed = true;
      await writing;
      waiters.close();
      database.close();
    },
  };
}
