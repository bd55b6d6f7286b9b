// Errors that every store throws: session files, SQLite and PostgreSQL. The subject is `Session <id>`, a file, or a store.
import { FairleadError } from '../core/index.ts';

/** Another writer took the session over. */
export const fencedError = (subject: string): FairleadError =>
  new FairleadError('store/fenced', `${subject} was taken over by another writer; nothing more is written from here.`, {
    blame: 'store',
    hint: 'Open the session again after the other writer has closed it.',
  });

/** The last event of the session is not the one that the writer expects. */
export const appendConflictError = (expected: number, last: number): FairleadError =>
  new FairleadError(
    'store/conflict',
    `Another writer has added to this session: expected event ${expected} to be the last, found ${last}.`,
    { blame: 'store' },
  );

/** Another writer has the session open. */
export const lockedError = (subject: string, owner = 'another process'): FairleadError =>
  new FairleadError('store/locked', `${subject} is being written by ${owner}.`, {
    blame: 'user',
    retry: true,
    hint: 'Close the session there, or open it here for reading only.',
  });

/** The store has no session with this id. */
export const sessionNotFoundError = (session: string, location = 'this store'): FairleadError =>
  new FairleadError('store/no-session', `There is no session ${session} in ${location}.`, {
    blame: 'user',
    hint: 'List the sessions to see the available ids.',
  });

/** A session belongs to one tenant: a run of another tenant cannot continue it. */
export const otherTenantError = (session: string): FairleadError =>
  new FairleadError('store/other-tenant', `The session ${session} belongs to another tenant.`, {
    blame: 'user',
    hint: 'Start the run without a session, or in a session of its own tenant.',
  });

/** A log that was opened for reading cannot append. */
export const readOnlyError = (subject: string): FairleadError =>
  new FairleadError('store/read-only', `${subject} is open for reading only.`, {
    blame: 'user',
    hint: 'Open it for writing to append to it.',
  });

/** The log or the store was closed before this call. */
export const closedError = (subject: string): FairleadError =>
  new FairleadError('store/closed', `${subject} is closed.`, { blame: 'harness' });

/** The session has no event with this id. */
export const unknownEventError = (id: string): FairleadError =>
  new FairleadError('store/unknown-event', `There is no event ${id} in this session.`, { blame: 'user' });

/** A later version of the program wrote the file or the database. */
export const newerVersionError = (subject: string, version: number, known: number): FairleadError =>
  new FairleadError(
    'store/newer-version',
    `${subject} has format version ${version}; this program knows versions up to ${known}.`,
    { blame: 'user', hint: 'Open it with a newer version of Fairlead. Nothing was changed.' },
  );

/** A kind of input/output error: its code, the end of its message, and what the user can do. */
export type StoreErrorKind = {
  readonly code: string;
  readonly problem: string;
  readonly hint: string;
  readonly retry?: boolean;
};

/** The kinds of disk error that session files and SQLite share. */
export const diskErrorKinds: Readonly<Record<'full' | 'readOnly' | 'io', StoreErrorKind>> = {
  full: {
    code: 'store/full',
    problem: 'there is no space left on its disk',
    hint: 'Free some space (or raise the quota), then try again. Nothing that was saved is lost.',
    retry: true,
  },
  readOnly: {
    code: 'store/read-only',
    problem: 'it may not be written to',
    hint: 'Make the file and its directory writable, or use another location.',
  },
  io: {
    code: 'store/io',
    problem: 'its disk reported an error',
    hint: 'Check the disk, then open it again. Nothing that was reported as saved is lost.',
  },
};

/** An input/output error of a kind; `action` completes "Could not". */
export const kindError = (kind: StoreErrorKind, action: string, cause: unknown, detail = ''): FairleadError =>
  new FairleadError(kind.code, `Could not ${action}: ${kind.problem}${detail}.`, {
    blame: 'store',
    retry: kind.retry ?? false,
    hint: kind.hint,
    cause,
  });
