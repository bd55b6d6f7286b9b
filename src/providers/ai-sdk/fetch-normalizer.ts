// A `fetch` for the AI SDK that converts every kind of response to the events that the SDK supports, and records usage, finish reason and errors.
import { isObject, type FairleadError, type FinishReason, type TraceContext, type Usage } from '../../core/index.ts';
import {
  errorBodyError,
  truncatedResponseError,
  malformedResponseError,
  connectionError,
  httpStatusError,
  type ProviderInfo,
} from '../http/errors.ts';
import { post, readReplyText, type HttpReply } from '../http/http.ts';
import { createSseDecoder } from '../http/sse.ts';
import { formatSseFrame, tryParseJson, type WireObject } from '../../wire/index.ts';

/** The metadata of a response, filled in while it is read. */
export type ResponseMeta = {
  model: string | undefined;
  finish: FinishReason | undefined;
  rawFinish: string | undefined;
  usage: Usage;
  /** Whether the answer is complete. */
  ended: boolean;
  /** Whether no more events can follow, so that the rest is not read. */
  complete: boolean;
  /** An error object instead of, or inside, an answer. */
  error: unknown;
  failure: FairleadError | undefined;
};

/** The response format of a provider family. Events that the SDK cannot parse, or would treat as calls of local tools, are removed. */
export type StreamNormalizer = {
  /** Starts a response: each event is recorded, and converted to the events for the SDK. */
  createReader(account: ResponseMeta): (event: WireObject) => readonly WireObject[];
  /** Converts a non-streaming response to events. */
  toEvents(body: unknown): readonly WireObject[];
};

/** Creates empty response metadata. */
export const createResponseMeta = (): ResponseMeta => ({
  model: undefined,
  finish: undefined,
  rawFinish: undefined,
  usage: {},
  ended: false,
  complete: false,
  error: undefined,
  failure: undefined,
});

/** Options of the `fetch` for the SDK. */
export type NormalizingFetchOptions = {
  /** Sends the requests instead of our own client. */
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly streamed: boolean;
  /** Added to the headers of each request. */
  readonly trace?: TraceContext | undefined;
};

/** Creates a `fetch` for the SDK. It throws only before the response starts; a later error is recorded in the metadata, and the stream ends. */
export function createNormalizingFetch(
  dialect: StreamNormalizer,
  account: ResponseMeta,
  providerInfo: ProviderInfo,
  { fetch, streamed, trace }: NormalizingFetchOptions,
): typeof globalThis.fetch {
  const send = fetch ? createFetchSender(fetch, providerInfo) : post;
  return async (input, init) => {
    try {
      const asked = { url: String(input), body: init?.body as string };
      const { url, body } = streamed ? asked : toCompleteRequest(asked);
      const reply = await send({
        url,
        headers: { ...nonEmptyHeaders(init), ...trace },
        body: [body],
        signal: init?.signal as AbortSignal,
        providerInfo,
      });
      if (reply.status < 200 || reply.status > 299)
        throw httpStatusError(
          reply.status,
          reply.headers,
          await readReplyText(reply, providerInfo).catch(() => ''),
          providerInfo,
        );
      const type = String(reply.headers['content-type'] ?? '');
      const events = /event-stream/i.test(type)
        ? readSseEvents(reply, providerInfo)
        : readWholeBody(reply, dialect, account, providerInfo);
      const normalized = normalizeEvents(events, dialect, account, providerInfo);
      return new Response(toReadableStream(normalized), { headers: { 'content-type': 'text/event-stream' } });
    } catch (error) {
      account.failure = connectionError(error, providerInfo);
      throw account.failure;
    }
  };
}

type SentRequest = { readonly url: string; readonly body: string };

/** Changes a request for a stream to one for a complete response: by the field `stream`, or by the method of the Gemini API. */
function toCompleteRequest({ url, body }: SentRequest): SentRequest {
  const fields = tryParseJson(body);
  return {
    url: url.replace(/:streamGenerateContent\?alt=sse$/, ':generateContent'),
    body: isObject(fields) && 'stream' in fields ? JSON.stringify({ ...fields, stream: false }) : body,
  };
}

/** Removes an empty key header, which the SDK always sets. */
const nonEmptyHeaders = (init: RequestInit | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries((init?.headers ?? {}) as Record<string, string>).filter(
      ([, value]) => value !== '' && value !== 'Bearer',
    ),
  );

/** Calls a custom `fetch`. A redirect is not followed: it would send the key to another host. */
const createFetchSender =
  (fetch: typeof globalThis.fetch, providerInfo: ProviderInfo): typeof post =>
  async ({ url, headers, body, signal }) => {
    const init: RequestInit = {
      method: 'POST',
      body: body.join(''),
      signal,
      redirect: 'manual',
      ...(headers ? { headers } : {}),
    };
    const response = await fetch(url, init).catch((error: unknown) => {
      throw connectionError(error, providerInfo);
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: responseBytes(response) };
  };

async function* responseBytes(response: Response): AsyncGenerator<Buffer> {
  if (!response.body) return;
  for await (const bytes of response.body as AsyncIterable<Uint8Array>)
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Serializes events for the SDK. */
async function* normalizeEvents(
  events: AsyncIterable<readonly (WireObject | string)[]>,
  dialect: StreamNormalizer,
  account: ResponseMeta,
  providerInfo: ProviderInfo,
): AsyncGenerator<string, undefined> {
  const read = dialect.createReader(account);
  try {
    for await (const batch of events) {
      let text = '';
      for (const event of batch) {
        const parsed = typeof event === 'string' ? parseEvent(event, providerInfo) : event;
        if (parsed) for (const each of read(parsed)) text += formatSseFrame(JSON.stringify(each));
        if (account.error !== undefined) account.failure = errorBodyError(account.error, providerInfo);
        if (account.failure || account.complete) break;
      }
      if (text !== '') yield text;
      if (account.failure || account.complete) return;
    }
  } catch (error) {
    if (!account.ended) account.failure = connectionError(error, providerInfo);
  }
}

async function* readSseEvents(reply: HttpReply, providerInfo: ProviderInfo): AsyncGenerator<readonly string[]> {
  const decoder = createSseDecoder(providerInfo);
  for await (const bytes of reply.body) {
    const batch = decoder.push(bytes);
    if (batch.length > 0) yield batch.map((event) => event.data);
  }
}

/** Reads a response that is not an event stream to its end. */
async function* readWholeBody(
  reply: HttpReply,
  dialect: StreamNormalizer,
  account: ResponseMeta,
  providerInfo: ProviderInfo,
): AsyncGenerator<readonly (WireObject | string)[]> {
  const text = await readReplyText(reply, providerInfo);
  if (text.trim() === '') throw truncatedResponseError(providerInfo);
  const body = tryParseJson(text);
  if (body === undefined && /^(data|event|id|retry)?:/m.test(text.slice(0, 1000))) {
    yield createSseDecoder(providerInfo)
      .push(Buffer.from(text))
      .map((event) => event.data);
    return;
  }
  if (body === undefined)
    throw malformedResponseError('a reply that is neither JSON nor a stream of events', text, providerInfo);
  if (isObject(body) && body['error']) throw errorBodyError(body, providerInfo);
  yield dialect.toEvents(body);
  account.ended = true;
}

function parseEvent(data: string, providerInfo: ProviderInfo): WireObject | undefined {
  if (data === '' || data.trim() === '[DONE]') return undefined;
  const event = tryParseJson(data);
  if (event === undefined) throw malformedResponseError('an event that is not JSON', data, providerInfo, true);
  return isObject(event) ? event : undefined;
}

/** Creates a pull-based stream, so that a slow consumer causes backpressure. */
function toReadableStream(texts: AsyncGenerator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel() {
      // Not awaited: a pending read ends when its request is aborted, which follows.
      texts.return(undefined).catch(() => {});
    },
  });
}
