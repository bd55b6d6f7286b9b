// What every part of a SQLite store stands on: reading, writing in transactions that many share, and waking who waits.
import { openDatabase, patiently, type Database } from './database.ts';
import { closedTrouble, sqliteTrouble } from './trouble.ts';
import { newWatch, type Topic, type Watch } from './watch.ts';

/** The ground that the parts share. */
export type Base = Omit<Database, 'db' | 'close'> & {
  readonly watch: Watch;
  /** Looks at the database; nothing is changed. */
  read<T>(look: () => T): T;
  /**
   * Changes the database. What comes in the same turn of the event loop shares one transaction and one sync; each is undone by itself
   * where it throws. Without `settle` the change is safe from the death of the process, not from a power cut.
   */
  write<T>(change: () => T, options?: { readonly settle?: boolean }): Promise<T>;
  /** Within a change: wakes who waits for this, once the change is there for all to see. */
  touch(topic: Topic): void;
  readonly isClosed: boolean;
  /** Writes what is left to write, and lets go of the file. */
  close(): Promise<void>;
};

type Job = {
  readonly change: () => unknown;
  readonly settle: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** So many changes at most share a transaction: the event loop must not stand still for a crowd. */
const mostJobs = 250;

/** Opens the ground of a store. */
export async function openBase(name: string, pollMs: number): Promise<Base> {
  const database = await openDatabase(name);
  const { db, file } = database;
  const watch = newWatch(
    () => database.one<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0,
    pollMs,
  );
  const touched = new Set<Topic>();
  let jobs: Job[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;
  let syncs = true;

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (jobs.length > 0) {
      const batch = jobs.slice(0, mostJobs);
      jobs = jobs.slice(mostJobs);
      try {
        await begin(batch.some(({ settle }) => settle));
        commit(batch);
      } catch (error) {
        const trouble = sqliteTrouble(error, file);
        for (const { reject } of batch) reject(trouble);
      }
      if (jobs.length > 0) await new Promise(setImmediate);
    }
    writing = undefined;
  }

  async function begin(settle: boolean): Promise<void> {
    if (settle !== syncs) database.run(`PRAGMA synchronous = ${settle ? 'FULL' : 'NORMAL'}`);
    syncs = settle;
    await patiently(() => database.run('BEGIN IMMEDIATE'));
  }

  /** Nothing here waits: a transaction is never open while other code runs. */
  function commit(batch: readonly Job[]): void {
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
    for (const topic of touched) watch.tell(topic);
    touched.clear();
  }

  function attempt({ change, resolve, reject }: Job): () => void {
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
      return () => reject(sqliteTrouble(error, file));
    }
  }

  return {
    ...database,
    watch,
    touch: (topic) => void touched.add(topic),
    get isClosed() {
      return closed;
    },
    read(look) {
      if (closed) throw closedTrouble(file);
      try {
        return look();
      } catch (error) {
        throw sqliteTrouble(error, file);
      }
    },
    write<T>(change: () => T, { settle = true } = {}) {
      if (closed) return Promise.reject(closedTrouble(file));
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
