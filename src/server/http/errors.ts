// HTTP errors: status, code, message and hint, and their form in the OpenAI API; never a stack trace.
import { FairleadError } from '../../core/index.ts';
import { writeOpenAiError } from '../../wire/openai-chat/index.ts';

/** An error response. */
export type HttpErrorResponse = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The request field that is wrong, if it is one. */
  readonly param?: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** The status of each error code. */
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
  'server/blocked': 503,
  'store/no-session': 404,
  'store/unknown-event': 404,
  'store/locked': 409,
  'store/exists': 409,
  'fleet/no-inbox': 409,
  'fleet/no-step': 404,
  'fleet/step-ended': 409,
  'fleet/step-full': 409,
  'fleet/ended': 409,
  'fleet/no-consent': 409,
  'fleet/no-plan': 409,
  'release/nothing-before': 409,
  'release/changed': 409,
  'session/running': 409,
  'session/unknown': 404,
  'session/ambiguous': 404,
  'session/no-turn': 404,
};

type HttpErrorOptions = { readonly hint?: string; readonly afterMs?: number; readonly param?: string };

class HttpError extends FairleadError {
  readonly param: string | undefined;

  constructor(code: string, message: string, { param, ...more }: HttpErrorOptions) {
    super(code, message, { blame: 'user', ...more });
    this.param = param;
  }
}

/** Creates an error that becomes an HTTP response. */
export const createHttpError = (
  code: `server/${string}`,
  message: string,
  more: HttpErrorOptions = {},
): FairleadError => new HttpError(code, message, more);

/** Returns the error response of a thrown value. Messages of internal errors are replaced: they may contain paths and addresses. */
export function toHttpError(thrown: unknown): HttpErrorResponse {
  if (!(thrown instanceof FairleadError))
    return { status: 500, code: 'server/failed', message: internalErrorMessage, headers: {} };
  const { code, hint, afterMs, blame } = thrown;
  const status = statusByCode[code] ?? (blame === 'user' || blame === 'model' ? 400 : blame === 'store' ? 503 : 500);
  const isInternal = status >= 500 && !code.startsWith('server/');
  const wait = afterMs ?? (status === 503 ? 1000 : undefined);
  return {
    status,
    code,
    message: isInternal ? (blame === 'store' ? 'The store is not available.' : internalErrorMessage) : thrown.message,
    ...(hint === undefined || isInternal ? {} : { hint }),
    ...(thrown instanceof HttpError && thrown.param !== undefined ? { param: thrown.param } : {}),
    headers: {
      ...(wait === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(wait / 1000))) }),
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  };
}

const internalErrorMessage = 'Internal error; see the output of the server.';

/** The codes of OpenAI that programs check, by our codes. */
const openAiCodes: Readonly<Record<string, string>> = {
  'server/no-key': 'invalid_api_key',
  'server/no-model': 'model_not_found',
  'server/too-many': 'rate_limit_exceeded',
  'server/no-money': 'insufficient_quota',
  'server/too-long': 'context_length_exceeded',
  'server/bad-request': 'invalid_value',
};

/** Formats an error as OpenAI's error object. */
export const formatOpenAiError = ({
  status,
  code,
  message,
  hint,
  param,
}: HttpErrorResponse): ReturnType<typeof writeOpenAiError> =>
  writeOpenAiError(hint === undefined ? message : `${message} ${hint}`, {
    type: getErrorType(status),
    param: param ?? null,
    code: openAiCodes[code] ?? code,
  });

function getErrorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  // 422: the run ended without a response, which is not an error of the request.
  return status >= 500 || status === 422 ? 'server_error' : 'invalid_request_error';
}

/** Throws 400 for a field of the request. */
export function throwInvalidParam(param: string, message: string, hint?: string): never {
  throw createHttpError('server/bad-request', message, { param, ...(hint === undefined ? {} : { hint }) });
}
