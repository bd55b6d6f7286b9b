// What is refused, as OpenAI's clients read it: their errors are told apart by status, type and code.
import type { JsonObject } from '../../core/index.ts';
import { createHttpError, type HttpErrorResponse } from '../http/errors.ts';

/** Our codes as theirs, where they have one that programs look for. */
const openAiCodes: Readonly<Record<string, string>> = {
  'server/no-key': 'invalid_api_key',
  'server/no-model': 'model_not_found',
  'server/too-many': 'rate_limit_exceeded',
  'server/no-money': 'insufficient_quota',
  'server/too-long': 'context_length_exceeded',
  'server/bad-request': 'invalid_value',
};

/** An error in their shape. */
export function formatOpenAiError({ status, code, message, hint, param }: HttpErrorResponse): JsonObject {
  return {
    message: hint === undefined ? message : `${message} ${hint}`,
    type: getErrorType(status),
    param: param ?? null,
    code: openAiCodes[code] ?? code,
  };
}

function getErrorType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  // A run that has no answer is no fault of the request.
  return status >= 500 || status === 422 ? 'server_error' : 'invalid_request_error';
}

/** Throws over a field of a request, by its name. */
export function throwInvalidParam(param: string, message: string, hint?: string): never {
  throw createHttpError('server/bad-request', message, { param, ...(hint === undefined ? {} : { hint }) });
}
