// What can go wrong with a session in a database, each as one clear error.
import { FairleadError } from '../core/index.ts';

/** Another has taken the session. */
export const sessionFencedError = (session: string): FairleadError =>
  new FairleadError('store/fenced', `Session ${session} was taken over; nothing more is written from here.`, {
    blame: 'store',
    hint: 'Open the session again, once the other has closed it.',
  });

/** The last event is another than the writer believes. */
export const appendConflictError = (after: number, last: number): FairleadError =>
  new FairleadError(
    'store/conflict',
    `Another writer has added to this session: expected event ${after} to be the last, found ${last}.`,
    { blame: 'store' },
  );

/** Another holds the session. */
export const sessionLockedError = (session: string, holder: string | null): FairleadError =>
  new FairleadError('store/locked', `Session ${session} is being written by ${holder ?? 'another process'}.`, {
    blame: 'user',
    retry: true,
    hint: 'Close the session there, or open it here for reading only.',
  });

/** There is no such session. */
export const sessionNotFoundError = (session: string): FairleadError =>
  new FairleadError('store/no-session', `There is no session ${session} in this store.`, {
    blame: 'user',
    hint: 'List the sessions to see which there are.',
  });

/** A reader tried to write. */
export const sessionReadOnlyError = (session: string): FairleadError =>
  new FairleadError('store/read-only', `Session ${session} is open for reading only.`, {
    blame: 'user',
    hint: 'Open it for writing to add to it.',
  });

/** A log that was closed. */
export const logClosedError = (session: string): FairleadError =>
  new FairleadError('store/closed', `The log of session ${session} is closed.`, { blame: 'harness' });

/** An event that a session does not have. */
export const unknownEventError = (id: string): FairleadError =>
  new FairleadError('store/unknown-event', `There is no event ${id} in this session.`, { blame: 'user' });
