// A response that was made before, as it stands now.
import { isObject, type JsonObject } from '../../core/index.ts';
import { toHttpError, createHttpError } from '../http/errors.ts';
import type { RouteRequest } from '../http/route.ts';
import { findRunForCaller } from './start-run.ts';
import { createCompletionResult } from './completion-result.ts';
import { formatOpenAiError } from './errors.ts';
import { createResponseFormat } from './response-format.ts';
import { createPendingResponse, createEndedResponse } from './responses-items.ts';

/** The response of this name. */
export async function retrieveResponse(asked: RouteRequest, id: string): Promise<JsonObject> {
  const run = await findRunForCaller(asked, id.replace(/^resp_/, ''));
  if (!run) throw createHttpError('server/not-found', `There is no response ${id}.`, { param: 'response_id' });
  const { answer, model } = run.settings;
  const response = createPendingResponse(typeof model === 'string' ? { model } : {}, run);
  if (run.status === 'queued') return { ...response, status: 'queued' };
  if (run.status === 'running') return response;
  try {
    const format = isObject(answer) ? createResponseFormat(answer) : undefined;
    return createEndedResponse(response, await createCompletionResult(asked.context, run, format, (text) => text));
  } catch (error) {
    const { code = null, message = '' } = formatOpenAiError(toHttpError(error));
    return { ...response, status: 'failed', error: { code, message } };
  }
}
