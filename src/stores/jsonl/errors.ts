// Errors between a session and its file, each with a code, a cause and a hint.
import { FairleadError, systemErrorCode } from '../../core/index.ts';
import { diskErrorKinds, kindError, type StoreErrorKind } from '../store-errors.ts';

const exportHint = 'Export the session and save it elsewhere: this open log can still read what was written.';

const fileGoneKind: StoreErrorKind = {
  code: 'store/gone',
  problem: 'its file or directory no longer exists',
  hint: exportHint,
};
const tooManyFilesKind: StoreErrorKind = {
  code: 'store/too-many-files',
  problem: 'this process or machine has too many files open',
  hint: 'Close some sessions or raise the limit of open files, then try again.',
  retry: true,
};
const readOnlyKind: StoreErrorKind = {
  ...diskErrorKinds.readOnly,
  hint: `Make the file and its directory writable. ${exportHint}`,
};
const ioKind: StoreErrorKind = {
  ...diskErrorKinds.io,
  hint: 'Export the session and keep that text, check the disk, then open the session again.',
};

const errorKinds: Readonly<Record<string, StoreErrorKind>> = {
  ENOSPC: diskErrorKinds.full,
  EDQUOT: diskErrorKinds.full,
  EFBIG: diskErrorKinds.full,
  EROFS: readOnlyKind,
  EACCES: readOnlyKind,
  EPERM: readOnlyKind,
  ENOENT: fileGoneKind,
  ENOTDIR: fileGoneKind,
  ESTALE: fileGoneKind,
  EMFILE: tooManyFilesKind,
  ENFILE: tooManyFilesKind,
};

/** Converts an error of the operating system; any other error is returned as it is. `action` completes "Could not". */
export function toDiskError(error: unknown, file: string, action: string): Error {
  if (error instanceof FairleadError) return error;
  const code = systemErrorCode(error);
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  return kindError(errorKinds[code] ?? ioKind, `${action} ${file}`, error, ` (${code})`);
}

/** The file was removed or replaced while the session was open. */
export const fileGoneError = (file: string): FairleadError =>
  new FairleadError('store/gone', `${file} was removed or replaced while the session was open.`, {
    blame: 'store',
    hint: exportHint,
  });

/** Another program wrote to the file while the session was open, so the index is no longer valid. */
export const fileChangedError = (file: string): FairleadError =>
  new FairleadError('store/changed', `Another program changed ${file} while the session was open.`, {
    blame: 'store',
    hint: 'Open the session again: the change becomes a branch of it, and nothing is lost.',
  });

/** A file with this name exists. */
export const fileExistsError = (file: string): FairleadError =>
  new FairleadError('store/exists', `${file} already exists.`, { blame: 'user', hint: 'Choose another name.' });
