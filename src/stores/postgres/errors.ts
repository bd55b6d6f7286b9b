// Errors between a store and PostgreSQL, each with a code, a cause and a hint.
import { FairleadError, errorMessage, systemErrorCode } from '../../core/index.ts';

/** Errors of the network, of the driver, or of a server that starts or stops: the same call may succeed later. */
const unreachablePattern =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|Client was closed/;

/** Whether the database was unreachable: it is unknown whether the statement was executed. */
export function isUnreachable(error: unknown): boolean {
  const code = systemErrorCode(error) ?? '';
  if (/^(08|57P0|53300)/.test(code) || unreachablePattern.test(code)) return true;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return unreachablePattern.test(errorMessage(error)) || inner.some(isUnreachable);
}

/** Whether the database aborted a statement in favour of another one: it was not executed, and may be sent again. */
export const isSerializationConflict = (error: unknown): boolean =>
  /^(40001|40P01|55P03)$/.test(systemErrorCode(error) ?? '');

/** Converts an error of PostgreSQL; a FairleadError is returned as it is. */
export function toPostgresError(error: unknown, database: string): FairleadError {
  if (error instanceof FairleadError) return error;
  const code = systemErrorCode(error) ?? '';
  if (isUnreachable(error))
    return new FairleadError('store/unreachable', `Could not reach ${database}: ${formatCause(error)}.`, {
      blame: 'store',
      retry: true,
      cause: error,
      hint: 'Check that PostgreSQL is running and reachable. Nothing that was reported as saved is lost.',
    });
  if (/^(28|3D000)/.test(code))
    return new FairleadError('store/refused', `Authentication failed for ${database}: ${formatCause(error)}.`, {
      blame: 'user',
      cause: error,
      hint: 'Check the user, the password and the name of the database in the URL.',
    });
  if (code === '42501')
    return new FairleadError('store/read-only', `Could not use ${database}: ${formatCause(error)}.`, {
      blame: 'user',
      cause: error,
      hint: 'Grant its user the right to create schemas in the database, or open the store once as a user with that right.',
    });
  return new FairleadError('store/failed', `Could not use ${database}: ${formatCause(error)}.`, {
    blame: 'store',
    retry: isSerializationConflict(error) || code.startsWith('53'),
    cause: error,
  });
}

function formatCause(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return errorMessage(first).replace(/\.$/, '');
}

/** A process can work on the queue of one database only. */
export const otherDatabaseError = (database: string): FairleadError =>
  new FairleadError(
    'store/one-queue',
    `This process already works on the queue of a database other than ${database}.`,
    {
      blame: 'user',
      hint: 'Start one worker process per database.',
    },
  );
