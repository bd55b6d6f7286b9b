// File lock between processes that the operating system releases when its holder dies, so it is never stale.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError } from '../../core/index.ts';

/** The options of a lock. */
export type FileLockOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait?: () => void;
};

const retryMs = 250;

/** Runs a function while holding the lock of this file; waits while another process holds it. */
export async function withFileLock<T>(file: string, options: FileLockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const release = await acquireLock(file, options);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Uses an exclusive SQLite transaction, the only file lock in Node that is released after `kill -9`. */
async function acquireLock(file: string, { signal, onWait }: FileLockOptions): Promise<() => void> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file);
  try {
    for (let first = true; ; first = false) {
      signal?.throwIfAborted();
      try {
        database.exec('BEGIN EXCLUSIVE');
        return () => database.close();
      } catch (error) {
        if (!isBusy(error)) throw fileLockError(file, error);
      }
      if (first) onWait?.();
      await sleep(retryMs, undefined, signal ? { signal } : {});
    }
  } catch (error) {
    database.close();
    throw error;
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && (('errcode' in error && error.errcode === 5) || /database is locked/.test(error.message));

const fileLockError = (file: string, cause: unknown): FairleadError =>
  new FairleadError('embedded/bad-directory', `The file ${file} cannot be locked, so nothing was fetched.`, {
    blame: 'user',
    hint: 'Choose a data directory on a local disk that you may write to.',
    cause,
  });
