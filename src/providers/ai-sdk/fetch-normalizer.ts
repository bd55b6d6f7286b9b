// The edge between a model server and the AI SDK: a `fetch` that turns every kind of reply into the events the SDK knows, and keeps account of what the reply says.
import { isObject, type FairleadError, type FinishReason, type Usage } from '../../core/index.ts';
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

/** What a reply says of itself, filled in while it is read. */
export type ResponseMeta = {
  model: string | undefined;
  finish: FinishReason | undefined;
  rawFinish: string | undefined;
  usage: Usage;
  /** The whole answer is here. */
  ended: boolean;
  /** Nothing more can come: the rest is not waited for. */
  complete: boolean;
  /** An error object that came instead of, or inside, an answer. */
  error: unknown;
  failure: FairleadError | undefined;
};

/** How one family speaks. What the SDK would stumble over, or take for a call of our tools, never reaches it. */
export type StreamNormalizer = {
  /** Begins to read one answer: each event is kept account of, and given back as the events the SDK is to see. */
  createReader(account: ResponseMeta): (event: WireObject) => readonly WireObject[];
  /** A whole answer as the events it might have come in. */
  toEvents(body: unknown): readonly WireObject[];
};

/** An account of an answer that has not begun. */
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

/** A `fetch` for the SDK. It throws only before an answer begins; what goes wrong later is left in the account, and the stream just ends. */
export function createNormalizingFetch(
  dialect: StreamNormalizer,
  account: ResponseMeta,
  who: ProviderInfo,
  fetch: typeof globalThis.fetch | undefined,
): typeof globalThis.fetch {
  const send = fetch ? createFetchSender(fetch, who) : post;
  return async (input, init) => {
    try {
      const reply = await send({
        url: String(input),
        headers: nonEmptyHeaders(init),
        body: [init?.body as string],
        signal: init?.signal as AbortSignal,
        providerInfo: who,
      });
      if (reply.status < 200 || reply.status > 299)
        throw httpStatusError(reply.status, reply.headers, await readReplyText(reply, who).catch(() => ''), who);
      const type = String(reply.headers['content-type'] ?? '');
      const events = /event-stream/i.test(type)
        ? readSseEvents(reply, who)
        : readWholeBody(reply, dialect, account, who);
      const told = normalizeEvents(events, dialect, account, who);
      return new Response(toReadableStream(told), { headers: { 'content-type': 'text/event-stream' } });
    } catch (error) {
      account.failure = connectionError(error, who);
      throw account.failure;
    }
  };
}

/** The SDK insists on a header for the key: an empty one is not sent. */
const nonEmptyHeaders = (init: RequestInit | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries((init?.headers ?? {}) as Record<string, string>).filter(
      ([, value]) => value !== '' && value !== 'Bearer',
    ),
  );

/** Another `fetch` in the place of ours. A redirect is not followed: it would carry the key to another host. */
const createFetchSender =
  (fetch: typeof globalThis.fetch, who: ProviderInfo): typeof post =>
  async ({ url, headers, body, signal }) => {
    const init: RequestInit = {
      method: 'POST',
      body: body.join(''),
      signal,
      redirect: 'manual',
      ...(headers ? { headers } : {}),
    };
    const response = await fetch(url, init).catch((error: unknown) => {
      throw connectionError(error, who);
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: responseBytes(response) };
  };

async function* responseBytes(response: Response): AsyncGenerator<Buffer> {
  if (!response.body) return;
  for await (const bytes of response.body as AsyncIterable<Uint8Array>)
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Events as the SDK is to see them, as text. */
async function* normalizeEvents(
  events: AsyncIterable<readonly (WireObject | string)[]>,
  dialect: StreamNormalizer,
  account: ResponseMeta,
  who: ProviderInfo,
): AsyncGenerator<string, undefined> {
  const read = dialect.createReader(account);
  try {
    for await (const batch of events) {
      let text = '';
      for (const event of batch) {
        const seen = typeof event === 'string' ? parseEvent(event, who) : event;
        if (seen) for (const each of read(seen)) text += formatSseFrame(JSON.stringify(each));
        if (account.error !== undefined) account.failure = errorBodyError(account.error, who);
        if (account.failure || account.complete) break;
      }
      if (text !== '') yield text;
      if (account.failure || account.complete) return;
    }
  } catch (error) {
    if (!account.ended) account.failure = connectionError(error, who);
  }
}

async function* readSseEvents(reply: HttpReply, who: ProviderInfo): AsyncGenerator<readonly string[]> {
  const decoder = createSseDecoder(who);
  for await (const bytes of reply.body) {
    const batch = decoder.push(bytes);
    if (batch.length > 0) yield batch.map((event) => event.data);
  }
}

/** A server that does not stream, or does not say that it does, is read to its end first. */
async function* readWholeBody(
  reply: HttpReply,
  dialect: StreamNormalizer,
  account: ResponseMeta,
  who: ProviderInfo,
): AsyncGenerator<readonly (WireObject | string)[]> {
  const text = await readReplyText(reply, who);
  if (text.trim() === '') throw truncatedResponseError(who);
  const body = tryParseJson(text);
  if (body === undefined && /^(data|event|id|retry)?:/m.test(text.slice(0, 1000))) {
    yield createSseDecoder(who)
      .push(Buffer.from(text))
      .map((event) => event.data);
    return;
  }
  if (body === undefined)
    throw malformedResponseError('a reply that is neither JSON nor a stream of events', text, who);
  if (isObject(body) && body['error']) throw errorBodyError(body, who);
  yield dialect.toEvents(body);
  account.ended = true;
}

function parseEvent(data: string, who: ProviderInfo): WireObject | undefined {
  if (data === '' || data.trim() === '[DONE]') return undefined;
  const event = tryParseJson(data);
  if (event === undefined) throw malformedResponseError('an event that is not JSON', data, who, true);
  return isObject(event) ? event : undefined;
}

/** Pulled, never pushed: a reader that is slow, or gone, holds the server back. */
function toReadableStream(texts: AsyncGenerator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel() {
      // Not awaited: a pending read ends when its request is aborted, which is about to happen.
      texts.return(undefined).catch(() => {});
    },
  });
}
