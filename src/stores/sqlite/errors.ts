// Errors between a store and its SQLite database, each with a code, a cause and a hint.
import { FairleadError, errorMessage } from '../../core/index.ts';
import { diskErrorKinds, kindError, type StoreErrorKind } from '../store-errors.ts';

const damagedKind: StoreErrorKind = {
  code: 'store/damaged',
  problem: 'it is damaged',
  hint: 'Restore a copy of it, or name another file. This file was not changed.',
};

/** By the lower byte of SQLite's error numbers. */
const errorKinds: Readonly<Record<number, StoreErrorKind>> = {
  5: {
    code: 'store/busy',
    problem: 'other processes kept it locked',
    hint: 'Try again. If it stays locked, look for a process that holds a transaction open.',
    retry: true,
  },
  8: diskErrorKinds.readOnly,
  10: diskErrorKinds.io,
  11: damagedKind,
  13: diskErrorKinds.full,
  14: {
    code: 'store/gone',
    problem: 'it cannot be opened',
    hint: 'Name a file in a directory that exists and is writable.',
  },
  26: { ...damagedKind, code: 'store/not-a-store', problem: 'it is not a SQLite database' },
};

function sqliteErrorCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Whether another process has locked the database. */
export const isBusy = (error: unknown): boolean => sqliteErrorCode(error) === 5;

/** Converts an error of SQLite; a FairleadError is returned as it is. */
export function toSqliteError(error: unknown, file: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const kind = errorKinds[sqliteErrorCode(error) ?? -1];
  if (kind) return kindError(kind, `use ${file}`, error);
  return new FairleadError('store/failed', `Could not use ${file}: ${errorMessage(error)}.`, {
    blame: 'store',
    cause: error,
  });
}

/** The database file was removed or replaced: other processes no longer see what this one writes. */
export const databaseGoneError = (file: string): FairleadError =>
  new FairleadError('store/gone', `${file} was removed or replaced while it was open.`, {
    blame: 'store',
    hint: 'Restore it and start again. What this process writes now is lost.',
  });

/** The file is a SQLite database of another program. */
export const foreignDatabaseError = (file: string): FairleadError =>
  new FairleadError('store/not-a-store', `${file} is a SQLite database, but not a store of Fairlead.`, {
    blame: 'user',
    hint: 'Name another file. This file was not changed.',
  });
