// What can go wrong between a store and its PostgreSQL, each as one clear error.
import { FairleadError, errorMessage } from '../../core/index.ts';

/** The words of an error that the network, the driver or a server on its way up or down has: the same call may succeed later. */
const unreachablePattern =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Client was closed/;

const postgresErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether the database was out of reach: nobody knows whether what was sent was done. */
export function isUnreachable(error: unknown): boolean {
  const code = postgresErrorCode(error);
  if (/^(08|57P0|53300)/.test(code) || unreachablePattern.test(code)) return true;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return unreachablePattern.test(errorMessage(error)) || inner.some(isUnreachable);
}

/** Whether the database gave a statement up for the sake of another one: it was not done, and may be sent again. */
export const isSerializationConflict = (error: unknown): boolean =>
  /^(40001|40P01|55P03)$/.test(postgresErrorCode(error));

/** An error of PostgreSQL as one that says who must act; one of ours stays what it is. */
export function toPostgresError(error: unknown, about: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const code = postgresErrorCode(error);
  if (isUnreachable(error))
    return new FairleadError('store/unreachable', `Could not reach ${about}: ${formatCause(error)}.`, {
      blame: 'store',
      retry: true,
      cause: error,
      hint: 'Check that PostgreSQL runs and can be reached from here; what was answered as saved is not lost.',
    });
  if (/^(28|3D000)/.test(code))
    return new FairleadError('store/refused', `${about} lets nobody in here: ${formatCause(error)}.`, {
      blame: 'user',
      cause: error,
      hint: 'Check the user, the password and the name of the database in the URL.',
    });
  if (code === '42501')
    return new FairleadError('store/read-only', `Could not use ${about}: ${formatCause(error)}.`, {
      blame: 'user',
      cause: error,
      hint: 'Give its user the right to make schemas in the database, or let one that has it open the store once.',
    });
  return new FairleadError('store/failed', `Could not use ${about}: ${formatCause(error)}.`, {
    blame: 'store',
    retry: isSerializationConflict(error) || code.startsWith('53'),
    cause: error,
  });
}

function formatCause(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return errorMessage(first).replace(/\.$/, '');
}

/** The store was closed. */
export const storeClosedError = (about: string): FairleadError =>
  new FairleadError('store/closed', `The store in ${about} is closed.`, { blame: 'harness' });

/** A store that a later version made. */
export const newerStoreError = (about: string, version: number, known: number): FairleadError =>
  new FairleadError(
    'store/newer-version',
    `The store in ${about} is of version ${version}; this program knows versions up to ${known}.`,
    { blame: 'user', hint: 'Open it with a newer version of Fairlead; it was left as it is.' },
  );

/** This process works on the queue of another database. */
export const otherDatabaseError = (about: string): FairleadError =>
  new FairleadError('store/one-queue', `This process already works on the queue of another database than ${about}.`, {
    blame: 'user',
    hint: 'Start a process for each database whose queue is to be worked on.',
  });
