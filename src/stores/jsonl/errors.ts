// What can go wrong between a session and its file, each as one clear error.
import { FairleadError } from '../../core/index.ts';
import { errnoCode } from './disk.ts';

type ErrorKind = { readonly code: string; readonly problem: string; readonly hint: string; readonly retry?: boolean };

const diskFullKind: ErrorKind = {
  code: 'store/full',
  problem: 'there is no room left on its disk',
  hint: 'Free some space (or raise the quota), then go on: nothing that was saved is lost.',
  retry: true,
};
const readOnlyKind: ErrorKind = {
  code: 'store/read-only',
  problem: 'its place may not be written to',
  hint: 'Give back the right to write there, or export the session and save it elsewhere.',
};
const fileGoneKind: ErrorKind = {
  code: 'store/gone',
  problem: 'its file or folder is no longer there',
  hint: 'Export the session and save it elsewhere: what was written is still readable through this open log.',
};
const tooManyFilesKind: ErrorKind = {
  code: 'store/too-many-files',
  problem: 'this process or machine has too many files open',
  hint: 'Close some sessions or raise the limit of open files, then go on.',
  retry: true,
};
const ioErrorKind: ErrorKind = {
  code: 'store/io',
  problem: 'its disk reported an error',
  hint: 'Export the session and keep that text, check the disk, then open the session again.',
};

const errorKinds: Readonly<Record<string, ErrorKind>> = {
  ENOSPC: diskFullKind,
  EDQUOT: diskFullKind,
  EFBIG: diskFullKind,
  EROFS: readOnlyKind,
  EACCES: readOnlyKind,
  EPERM: readOnlyKind,
  ENOENT: fileGoneKind,
  ENOTDIR: fileGoneKind,
  ESTALE: fileGoneKind,
  EMFILE: tooManyFilesKind,
  ENFILE: tooManyFilesKind,
};

/** An error of the operating system as one that says who must act; any other error stays what it is. */
export function toDiskError(error: unknown, file: string, doing: string): Error {
  if (error instanceof FairleadError) return error;
  const code = errnoCode(error);
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  const kind = errorKinds[code] ?? ioErrorKind;
  return new FairleadError(kind.code, `Could not ${doing} ${file}: ${kind.problem} (${code}).`, {
    blame: 'store',
    retry: kind.retry ?? false,
    hint: kind.hint,
    cause: error,
  });
}

/** The file was deleted or another one was put in its place while the session was open. */
export const fileGoneError = (file: string): FairleadError =>
  new FairleadError('store/gone', `${file} was removed or replaced while the session was open.`, {
    blame: 'store',
    hint: fileGoneKind.hint,
  });

/** Somebody else wrote into the file while the session was open: what we know of it no longer holds. */
export const fileChangedError = (file: string): FairleadError =>
  new FairleadError('store/changed', `Another program changed ${file} while the session was open.`, {
    blame: 'store',
    hint: 'Open the session again: what was changed becomes a branch of it, and nothing is lost.',
  });

/** The writer's place was lost to another process: nothing more may be written here. */
export const fileFencedError = (file: string): FairleadError =>
  new FairleadError('store/fenced', `Another process has taken over ${file}; nothing more is written from here.`, {
    blame: 'store',
    hint: 'Open the session again, once the other process has closed it.',
  });

/** There is no such event. */
export const unknownEventError = (id: string): FairleadError =>
  new FairleadError('store/unknown-event', `There is no event ${id} in this session.`, { blame: 'user' });
