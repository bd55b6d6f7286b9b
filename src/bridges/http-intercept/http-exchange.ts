// What the doors of guided requests share: the request with its additions, the verdict on an answer, and what is kept of both.
import {
  messageToolCalls,
  FairleadError,
  fromFailure,
  errorMessage,
  toFailure,
  type JsonObject,
} from '../../core/index.ts';
import type { TrackedRequest } from '../conversation-tracking/tracker.ts';
import type { WireFormat, ParsedModelResponse } from '../formats/wire-format.ts';
import type { MessageAddition } from '../interceptor/caller-history.ts';
import type { InterceptAction } from '../interceptor/interceptor.ts';

/** What came from the model's side; `head` is whatever the door needs to pass it on. */
export type UpstreamResponse<Head> = {
  readonly status: number;
  readonly contentType: string;
  readonly head: Head;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** What the caller gets. Without a head it is ours, not the model's. */
export type InterceptReply<Head> = {
  readonly status: number;
  readonly contentType: string;
  readonly head?: Head;
  readonly isStream: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** A request and the ways to go on with it. */
export type HttpExchange<Head> = {
  readonly format: WireFormat;
  readonly request: JsonObject;
  /** The request as it came, sent as it is where nothing is added. */
  readonly raw: Uint8Array;
  /** Whether the caller reads events. */
  readonly wantsStream: boolean;
  /** Whether the words of an answer wait too, because checks may refuse them. */
  readonly holdText: boolean;
  /** The guided conversation; or why there is none, and then no call gets through. */
  readonly tracked: TrackedRequest | FairleadError;
  readonly send: (body: Uint8Array) => Promise<UpstreamResponse<Head>>;
  /** Says what went wrong and was not the caller's to know. */
  readonly notify: (sentence: string) => void;
};

/** What the guide says to the request. */
export const getRequestAction = ({ tracked }: Pick<HttpExchange<unknown>, 'tracked'>): InterceptAction =>
  tracked instanceof FairleadError ? { type: 'send', additions: [], denied: [] } : tracked.action;

/** The request with what it is added, or as it came. */
export function createRequestBody(
  { format, request, raw, tracked }: Pick<HttpExchange<unknown>, 'format' | 'request' | 'raw' | 'tracked'>,
  { additions }: InterceptAction & { readonly type: 'send' },
): Uint8Array {
  const before = tracked instanceof FairleadError ? 0 : tracked.storedMessages;
  const here = additions.flatMap((each) => shiftAddition(each, before));
  return here.length === 0 ? raw : Buffer.from(JSON.stringify(format.insertAdditions(request, here)));
}

/** Of what the provider keeps, it has the additions too. The words of the system it wants each time. */
function shiftAddition(addition: MessageAddition, before: number): readonly MessageAddition[] {
  if (addition.type === 'system' || before === 0) return [addition];
  return addition.after < before ? [] : [{ ...addition, after: addition.after - before }];
}

/** What the guide says to an answer. Where it cannot say anything, words pass and calls do not. */
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
    notify(`The guide failed, and words alone passed without it: ${errorMessage(error)}`);
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

/** Says that calls were held back because they cannot be read. */
export const createUnreadableCallsError = (): FairleadError => createInterceptorFailedError('it cannot read them.');

/** Whether this says that calls were held back because nobody could judge them. */
export const isInterceptorFailedError = (error: unknown): error is FairleadError =>
  error instanceof FairleadError && error.code === interceptorFailedCode;

/** Keeps that the caller was given this answer. */
export function markDelivered(
  { tracked }: Pick<HttpExchange<unknown>, 'tracked'>,
  { message, id }: ParsedModelResponse,
): void {
  if (!(tracked instanceof FairleadError)) tracked.markDelivered(message, id);
}

/** Keeps that no answer came. A log that fails is no reason to fail the caller. */
export async function recordUpstreamFailure(
  { tracked, notify }: Pick<HttpExchange<unknown>, 'tracked' | 'notify'>,
  why: string,
): Promise<void> {
  if (tracked instanceof FairleadError) return;
  await tracked.interceptor.recordFailure(why).catch((error: unknown) => notify(errorMessage(error)));
}

/** Why a conversation could not be asked. Calls are held back then; a name that can be none is the caller's own mistake. */
export function toTrackingError(error: unknown): FairleadError {
  const failed = error instanceof FairleadError ? error : fromFailure(toFailure(error));
  if (failed.code === 'bridge/bad-session') throw failed;
  return failed;
}

/** The conversation is free for its next request. */
export function releaseTrackedRequest({ tracked }: Pick<HttpExchange<unknown>, 'tracked'>): void {
  if (!(tracked instanceof FairleadError)) tracked.release();
}
