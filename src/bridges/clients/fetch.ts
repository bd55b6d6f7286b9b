// A fetch wrapper that intercepts model requests of any client that accepts a custom fetch.
import { FairleadError, isObject } from '../../core/index.ts';
import {
  createConversationTracker,
  type ConversationTrackerOptions,
  type ConversationTracker,
} from '../conversation-tracking/tracker.ts';
import { detectWireFormat } from '../../wire/formats/index.ts';
import { tryParseJson } from '../../wire/index.ts';
import { interceptHttp } from '../http-intercept/intercept-http.ts';
import { toTrackingError, type UpstreamResponse } from '../http-intercept/http-exchange.ts';

/** Options of an intercepted client. */
export type WrapClientOptions = ConversationTrackerOptions & {
  /** Names the conversation of all requests of this client; default: conversations are recognized by their prefix. */
  readonly session?: string;
  /** An existing conversation tracker, closed by its creator; default: one that lives as long as the process. */
  readonly tracker?: ConversationTracker;
  /** Called with problems that did not fail a request. */
  readonly notify?: (sentence: string) => void;
};

/** The type of a fetch function. */
export type FetchFunction = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Creates a fetch that intercepts model requests; other requests pass unchanged. */
export function wrapFetch(options: WrapClientOptions = {}, plain: FetchFunction = fetch): FetchFunction {
  const { session, notify = () => {}, tracker = createConversationTracker(options) } = options;
  const holdsWords = (options.checks ?? []).length > 0;
  return async (input, init) => {
    const asked = await parseModelRequest(input, init);
    if (!asked) return plain(input, init);
    const { url, dialect, request, raw } = asked;
    const wrong = dialect.unsupportedReason(request);
    if (wrong !== undefined) return Response.json(dialect.errorBody(wrong), { status: 400 });
    const talk = await tracker
      .trackRequest(dialect.parseRequest(request, url.pathname), { session })
      .catch(toTrackingError);
    const send = async (body: Uint8Array): Promise<UpstreamResponse<Response>> =>
      toUpstreamResponse(await plain(input, withRequestBody(input, init, body)));
    const wantsEvents = request['stream'] === true || url.searchParams.get('alt') === 'sse';
    const reply = await interceptHttp({
      format: dialect,
      request,
      raw,
      wantsStream: wantsEvents,
      holdText: holdsWords,
      tracked: talk,
      send,
      notify,
    });
    const headers = new Headers(reply.head?.headers ?? { 'content-type': reply.contentType });
    // Fetch has decoded the body, so encoding and length headers no longer apply.
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    const { status, head } = reply;
    const made = new Response(toReadableStream(reply.chunks), {
      status,
      headers,
      ...(head ? { statusText: head.statusText } : {}),
    });
    Object.defineProperty(made, 'url', { value: head?.url ?? url.href });
    return made;
  };
}

const toReadableStream = (chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const source = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    async cancel() {
      await source.return?.();
    },
  });
};

const toUpstreamResponse = (response: Response): UpstreamResponse<Response> => ({
  status: response.status,
  contentType: response.headers.get('content-type') ?? '',
  head: response,
  chunks: response.body ?? emptyChunks(),
});

async function* emptyChunks(): AsyncGenerator<Uint8Array> {}

/** Only JSON text bodies are intercepted. */
function withRequestBody(input: string | URL | Request, init: RequestInit | undefined, body: Uint8Array): RequestInit {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.delete('content-length');
  return { ...init, headers, body: body as Uint8Array<ArrayBuffer> };
}

async function parseModelRequest(input: string | URL | Request, init: RequestInit | undefined) {
  // Some clients pass a Request object plus overrides.
  const whole = input instanceof Request ? input : undefined;
  const url = new URL(whole?.url ?? (input as string | URL));
  const dialect = detectWireFormat(url.pathname);
  if (!dialect || (init?.method ?? whole?.method ?? 'GET').toUpperCase() !== 'POST') return undefined;
  const raw = toBytes(init?.body ?? (whole?.body ? new Uint8Array(await whole.clone().arrayBuffer()) : undefined));
  const request = raw && tryParseJson(raw.toString());
  if (!raw || !isObject(request))
    throw new FairleadError('bridge/unread-request', 'This request to a model cannot be read, so it is not sent.', {
      blame: 'user',
      hint: 'Send it with a JSON text as its body.',
    });
  return { url, dialect, request, raw };
}

function toBytes(body: RequestInit['body']): Buffer | undefined {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return undefined;
}
