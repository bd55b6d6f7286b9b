// What can go wrong between a store and its database, each as one clear error.
import { FairleadError, errorMessage } from '../../core/index.ts';

type ErrorKind = { readonly code: string; readonly problem: string; readonly hint: string; readonly retry?: boolean };

const damagedKind: ErrorKind = {
  code: 'store/damaged',
  problem: 'it is damaged',
  hint: 'Put a copy of it in its place, or name another file; this one was left as it is.',
};

/** By the lower byte of SQLite's own numbers. */
const errorKinds: Readonly<Record<number, ErrorKind>> = {
  5: {
    code: 'store/busy',
    problem: 'other processes kept it locked',
    hint: 'Try again; if it goes on, look for a process that holds a transaction open.',
    retry: true,
  },
  8: {
    code: 'store/read-only',
    problem: 'its place may not be written to',
    hint: 'Give back the right to write to the file and its folder.',
  },
  10: {
    code: 'store/io',
    problem: 'its disk reported an error',
    hint: 'Check the disk, then open it again: nothing that was answered as saved is lost.',
  },
  11: damagedKind,
  13: {
    code: 'store/full',
    problem: 'there is no room left on its disk',
    hint: 'Free some space, then go on: nothing that was saved is lost.',
    retry: true,
  },
  14: {
    code: 'store/gone',
    problem: 'it cannot be opened',
    hint: 'Name a file in a folder that exists and may be written to.',
  },
  26: { ...damagedKind, code: 'store/not-a-store', problem: 'it is not a SQLite database' },
};

/** SQLite's number for an error, without its finer distinctions; nothing for any other error. */
export function sqliteErrorCode(error: unknown): number | undefined {
  const known = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof known === 'number' ? known & 0xff : undefined;
}

/** Whether another process has the database just now. */
export const isBusy = (error: unknown): boolean => sqliteErrorCode(error) === 5;

/** An error of SQLite as one that says who must act; one of ours stays what it is. */
export function toSqliteError(error: unknown, file: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const kind = errorKinds[sqliteErrorCode(error) ?? -1];
  const says = kind?.problem ?? errorMessage(error);
  return new FairleadError(kind?.code ?? 'store/failed', `Could not use ${file}: ${says}.`, {
    blame: 'store',
    retry: kind?.retry ?? false,
    cause: error,
    ...(kind && { hint: kind.hint }),
  });
}

/** The store was closed. */
export const storeClosedError = (file: string): FairleadError =>
  new FairleadError('store/closed', `The store in ${file} is closed.`, { blame: 'harness' });

/** The database's file was removed or replaced: what is open of it is nobody else's store any more. */
export const databaseGoneError = (file: string): FairleadError =>
  new FairleadError('store/gone', `${file} was removed or replaced while it was open.`, {
    blame: 'store',
    hint: 'Put it back and start again; what is written from here would reach nobody.',
  });

/** A file that is somebody else's. */
export const foreignDatabaseError = (file: string): FairleadError =>
  new FairleadError('store/not-a-store', `${file} is a SQLite database, but not a store of Fairlead.`, {
    blame: 'user',
    hint: 'Name another file; this one was left as it is.',
  });

/** A database that a later version made. */
export const newerStoreError = (file: string, version: number, known: number): FairleadError =>
  new FairleadError(
    'store/newer-version',
    `${file} is a store of version ${version}; this program knows versions up to ${known}.`,
    { blame: 'user', hint: 'Open it with a newer version of Fairlead; the file was left as it is.' },
  );
