// Errors in the form of the OpenAI API; its clients tell them apart by status, type and code.
import { writeOpenAiError } from '../../wire/openai-chat/index.ts';
import { createHttpError, type HttpErrorResponse } from '../http/errors.ts';

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
