// How what went wrong is told over HTTP: a status, a code and a sentence, never a stack.
import { FairleadError } from '../../core/index.ts';

/** A refusal as an answer. */
export type HttpErrorResponse = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The field that it is about, where it is about one. */
  readonly param?: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** The refusals of this server by their codes. */
const statusByCode: Readonly<Record<string, number>> = {
  'server/bad-request': 400,
  'server/too-long': 400,
  'server/no-key': 401,
  'server/wrong-host': 403,
  'server/wrong-origin': 403,
  'server/role': 403,
  'server/wrong-folder': 403,
  'server/not-found': 404,
  'server/no-model': 404,
  'server/wrong-method': 405,
  'server/conflict': 409,
  'server/too-large': 413,
  'server/wrong-type': 415,
  'server/no-answer': 422,
  'server/too-many': 429,
  'server/no-money': 429,
  'server/busy': 503,
  'store/no-session': 404,
  'store/unknown-event': 404,
  'store/locked': 409,
  'store/exists': 409,
  'fleet/deaf': 409,
  'session/running': 409,
};

type HttpErrorOptions = { readonly hint?: string; readonly afterMs?: number; readonly param?: string };

class HttpError extends FairleadError {
  readonly param: string | undefined;

  constructor(code: string, message: string, { param, ...more }: HttpErrorOptions) {
    super(code, message, { blame: 'user', ...more });
    this.param = param;
  }
}

/** An error that this server refuses a request with. */
export const createHttpError = (
  code: `server/${string}`,
  message: string,
  more: HttpErrorOptions = {},
): FairleadError => new HttpError(code, message, more);

/** What was thrown, as an answer. What went wrong in here is not told of: it may hold paths, addresses, anything. */
export function toHttpError(thrown: unknown): HttpErrorResponse {
  if (!(thrown instanceof FairleadError))
    return { status: 500, code: 'server/failed', message: internalErrorMessage, headers: {} };
  const { code, hint, afterMs, blame } = thrown;
  const status = statusByCode[code] ?? (blame === 'user' || blame === 'model' ? 400 : blame === 'store' ? 503 : 500);
  const isInside = status >= 500 && !code.startsWith('server/');
  const wait = afterMs ?? (status === 503 ? 1000 : undefined);
  return {
    status,
    code,
    message: isInside ? (blame === 'store' ? 'The store cannot be used now.' : internalErrorMessage) : thrown.message,
    ...(hint === undefined || isInside ? {} : { hint }),
    ...(thrown instanceof HttpError && thrown.param !== undefined ? { param: thrown.param } : {}),
    headers: {
      ...(wait === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(wait / 1000))) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  };
}

const internalErrorMessage = 'Something went wrong in the server; its own output says what.';
