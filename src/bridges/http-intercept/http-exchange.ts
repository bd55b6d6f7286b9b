// Shared steps of intercepted HTTP requests: add text to the request, get the verdict on the response, record both.
import { requestTooLongCode } from '../conversation-tracking/request-bounds.ts';
import {
  messageToolCalls,
  FairleadError,
  fromFailure,
  errorMessage,
  toFailure,
  type JsonObject,
} from '../../core/index.ts';
import type { TrackedRequest } from '../conversation-tracking/tracker.ts';
import type { MessageAddition, ParsedModelResponse, WireFormat } from '../../wire/index.ts';
import type { InterceptAction } from '../interceptor/interceptor.ts';

/** The upstream response; `head` is what the caller needs to pass it on. */
export type UpstreamResponse<Head> = {
  readonly status: number;
  readonly contentType: string;
  readonly head: Head;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** The response for the caller. Without a head it is ours, not the model's. */
export type InterceptReply<Head> = {
  readonly status: number;
  readonly contentType: string;
  readonly head?: Head;
  readonly isStream: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** An intercepted request and its operations. */
export type HttpExchange<Head> = {
  readonly format: WireFormat;
  readonly request: JsonObject;
  /** The original request bytes, sent unchanged if nothing is added. */
  readonly raw: Uint8Array;
  /** Whether the caller expects a stream. */
  readonly wantsStream: boolean;
  /** Whether text is buffered too, because checks may reject it. */
  readonly holdText: boolean;
  /** The tracked conversation; or why there is none, in which case no call passes. */
  readonly tracked: TrackedRequest | FairleadError;
  readonly send: (body: Uint8Array) => Promise<UpstreamResponse<Head>>;
  /** Reports internal problems. */
  readonly notify: (sentence: string) => void;
};

/** Returns the verdict on the request. */
export const getRequestAction = ({ tracked }: Pick<HttpExchange<unknown>, 'tracked'>): InterceptAction =>
  tracked instanceof FairleadError ? { type: 'send', additions: [], denied: [] } : tracked.action;

/** Returns the request with additions, or the original. */
export function createRequestBody(
  { format, request, raw, tracked }: Pick<HttpExchange<unknown>, 'format' | 'request' | 'raw' | 'tracked'>,
  { additions }: InterceptAction & { readonly type: 'send' },
): Uint8Array {
  const before = tracked instanceof FairleadError ? 0 : tracked.storedMessages;
  const here = additions.flatMap((each) => shiftAddition(each, before));
  return here.length === 0 ? raw : Buffer.from(JSON.stringify(format.insertAdditions(request, here)));
}

/** The provider already has the additions of stored messages; the system text is sent each time. */
function shiftAddition(addition: MessageAddition, before: number): readonly MessageAddition[] {
  if (addition.type === 'system' || before === 0) return [addition];
  return addition.after < before ? [] : [{ ...addition, after: addition.after - before }];
}

/** Returns the verdict on a response. Without a verdict, text passes and calls do not. */
export async function evaluateResponse(
  { tracked, notify }: Pick<HttpExchange<unknown>, 'tracked' | 'notify'>,
  answer: ParsedModelResponse,
): Promise<InterceptAction> {
  const calls = messageToolCalls(answer.message).length;
  try {
    if (tracked instanceof FairleadError) throw tracked;
    return await tracked.interceptor.afterResponse(answer);
  } catch (error) {
    if (calls > 0) throw createInterceptorFailedError(error);
    notify(`The interceptor failed, and text passed without it: ${errorMessage(error)}`);
    return { type: 'pass' };
  }
}

const interceptorFailedCode = 'bridge/guide-failed';

const createInterceptorFailedError = (cause: unknown): FairleadError =>
  new FairleadError(
    interceptorFailedCode,
    `Tool calls of this answer were held back because the guide failed: ${errorMessage(cause)}`,
    { blame: 'harness', retry: true, cause },
  );

/** Creates the verdict for calls that cannot be parsed. */
export const createUnreadableCallsError = (): FairleadError => createInterceptorFailedError('it cannot read them.');

/** Returns true if the verdict says that calls were blocked because they could not be decided. */
export const isInterceptorFailedError = (error: unknown): error is FairleadError =>
  error instanceof FairleadError && error.code === interceptorFailedCode;

/** Records the response. */
export function markDelivered(
  { tracked }: Pick<HttpExchange<unknown>, 'tracked'>,
  { message, id }: ParsedModelResponse,
): void {
  if (!(tracked instanceof FairleadError)) tracked.markDelivered(message, id);
}

/** Records that no response came. A log error does not fail the caller. */
export async function recordUpstreamFailure(
  { tracked, notify }: Pick<HttpExchange<unknown>, 'tracked' | 'notify'>,
  why: string,
): Promise<void> {
  if (tracked instanceof FairleadError) return;
  await tracked.interceptor.recordFailure(why).catch((error: unknown) => notify(errorMessage(error)));
}

/** Why the conversation could not be opened. Calls are blocked then; an invalid name and a request that is too long are the caller's errors. */
export function toTrackingError(error: unknown): FairleadError {
  const failed = error instanceof FairleadError ? error : fromFailure(toFailure(error));
  if (failed.code === 'bridge/bad-session' || failed.code === requestTooLongCode) throw failed;
  return failed;
}

/** Releases the conversation for its next request. */
export function releaseTrackedRequest({ tracked }: Pick<HttpExchange<unknown>, 'tracked'>): void {
  if (!(tracked instanceof FairleadError)) tracked.release();
}
