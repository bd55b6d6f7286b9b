// Request handler of the proxy: intercepts model requests and forwards all others unchanged.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../../core/index.ts';
import type { ConversationTracker } from '../conversation-tracking/tracker.ts';
import { tryParseJson, type WireFormat } from '../../wire/index.ts';
import { interceptHttp } from '../http-intercept/intercept-http.ts';
import { toTrackingError, type UpstreamResponse } from '../http-intercept/http-exchange.ts';
import { digestCallerKey } from './auth.ts';
import { filterForwardedHeaders, type Upstream } from './upstream.ts';

/** The context of the handler. */
export type ProxyContext = {
  readonly upstream: Upstream;
  readonly tracker: ConversationTracker;
  readonly holdText: boolean;
  readonly maxBodyBytes: number;
  readonly notify: (sentence: string) => void;
};

/** An accepted request and its response stream. */
export type ProxyRequest = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The upstream path and query. */
  readonly path: string;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
};

/** Forwards a request unchanged. */
export async function passThrough(
  { upstream }: ProxyContext,
  { incoming, outgoing, path, signal }: ProxyRequest,
): Promise<void> {
  const { method = 'GET', rawHeaders, headers } = incoming;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const passing = filterForwardedHeaders(rawHeaders, ['host']);
  const answer = await upstream.send({ method, path, headers: passing, body: hasBody ? incoming : undefined, signal });
  outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, filterForwardedHeaders(answer.rawHeaders));
  answer.on('error', () => outgoing.destroy()).pipe(outgoing);
}

/** Intercepts a model request. */
export async function interceptRequest(place: ProxyContext, visit: ProxyRequest, dialect: WireFormat): Promise<void> {
  const { incoming, outgoing, path } = visit;
  const [pathname = '/', query = ''] = path.split('?');
  const asked = await parseRequestBody(incoming, dialect, place.maxBodyBytes);
  if ('status' in asked) return sendJsonError(outgoing, asked.status, dialect.errorBody(asked.message));
  const { raw, request } = asked;
  const named = incoming.headers['x-fairlead-session'];
  const session = typeof named === 'string' ? named : undefined;
  const talk = await place.tracker
    .trackRequest(dialect.parseRequest(request, pathname), { session, caller: digestCallerKey(incoming, query) })
    .catch(toTrackingError);
  const wantsEvents = request['stream'] === true || new URLSearchParams(query).get('alt') === 'sse';
  const { holdText, notify } = place;
  const send = createUpstreamSender(place, visit);
  const reply = await interceptHttp({
    format: dialect,
    request,
    raw,
    wantsStream: wantsEvents,
    holdText,
    tracked: talk,
    send,
    notify,
  });
  const { head, status, isStream, contentType } = reply;
  if (head)
    outgoing.writeHead(
      status,
      head.statusMessage,
      filterForwardedHeaders(head.rawHeaders, isStream ? ['content-length'] : []),
    );
  else outgoing.writeHead(status, { 'content-type': contentType });
  await pipeChunks(reply.chunks, outgoing);
}

/** Sends the request upstream with the caller's headers. */
function createUpstreamSender(
  { upstream }: ProxyContext,
  { incoming, path, signal }: ProxyRequest,
): (body: Uint8Array) => Promise<UpstreamResponse<IncomingMessage>> {
  const own = filterForwardedHeaders(incoming.rawHeaders, ['host', 'content-length', 'accept-encoding']);
  const headers = [...own, 'accept-encoding', 'identity'];
  return async (body) => {
    const answer = await upstream.send({ method: 'POST', path, headers, body, signal });
    if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') {
      answer.destroy();
      throw new Error('it compressed its answer, though it was asked not to.');
    }
    const { statusCode: status = 502, headers: got } = answer;
    return { status, contentType: got['content-type'] ?? '', head: answer, chunks: answer as AsyncIterable<Buffer> };
  };
}

type ParsedBody =
  | { readonly raw: Buffer; readonly request: JsonObject }
  | { readonly status: number; readonly message: string };

async function parseRequestBody(incoming: IncomingMessage, dialect: WireFormat, most: number): Promise<ParsedBody> {
  if (incoming.headers['content-encoding'] !== undefined)
    return { status: 415, message: 'The proxy reads requests that are not compressed.' };
  const raw = await readBody(incoming, most);
  if (!raw) return { status: 413, message: `A request may have ${most} bytes.` };
  const request = tryParseJson(raw.toString());
  if (!isObject(request)) return { status: 400, message: 'The body of the request is no JSON object.' };
  const sentence = dialect.unsupportedReason(request);
  return sentence === undefined ? { raw, request } : { status: 400, message: sentence };
}

/** Sends a JSON error. */
export function sendJsonError(
  outgoing: ServerResponse,
  status: number,
  body: JsonObject,
  more: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...more });
  outgoing.end(JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage, most: number): Promise<Buffer | undefined> {
  if (Number(incoming.headers['content-length'] ?? 0) > most) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  // Keeps the connection open so that the caller can read the error.
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function pipeChunks(chunks: AsyncIterable<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  for await (const chunk of chunks) {
    if (outgoing.destroyed) return;
    if (outgoing.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      outgoing.once('drain', resolve).once('close', resolve);
    });
  }
  outgoing.end();
}
