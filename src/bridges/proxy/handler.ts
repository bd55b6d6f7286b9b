// Request handler of the proxy: intercepts model requests and forwards all others unchanged.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { FairleadError, isObject, type JsonObject } from '../../core/index.ts';
import { dlpAuditKey, formatCounts } from '../../guards/dlp/index.ts';
import type { ConversationTracker } from '../conversation-tracking/tracker.ts';
import { tryParseJson, type WireFormat } from '../../wire/index.ts';
import { interceptHttp } from '../http-intercept/intercept-http.ts';
import { toTrackingError, type UpstreamResponse } from '../http-intercept/http-exchange.ts';
import { digestCallerKey } from './auth.ts';
import type { ExchangeGuard } from './guard-exchange.ts';
import { filterForwardedHeaders, type Upstream } from './upstream.ts';

/** The context of the handler. */
export type ProxyContext = {
  readonly upstream: Upstream;
  readonly tracker: ConversationTracker;
  readonly holdText: boolean;
  readonly maxBodyBytes: number;
  readonly notify: (sentence: string) => void;
  /** Applies data loss prevention; absent if the model server is on this machine. */
  readonly guard?: ExchangeGuard;
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

/** Forwards a request unchanged, except for data that may not leave, as in texts for an embedding model. */
export async function passThrough(place: ProxyContext, visit: ProxyRequest): Promise<void> {
  const { upstream } = place;
  const { incoming, outgoing, path, signal } = visit;
  const { method = 'GET', rawHeaders, headers } = incoming;
  if (place.guard && method !== 'GET' && /json|^\s*multipart\//i.test(headers['content-type'] ?? 'json'))
    return passGuarded(place, visit);
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const passing = filterForwardedHeaders(rawHeaders, ['host']);
  const answer = await upstream.send({ method, path, headers: passing, body: hasBody ? incoming : undefined, signal });
  outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, filterForwardedHeaders(answer.rawHeaders));
  answer.on('error', () => outgoing.destroy()).pipe(outgoing);
}

/** Forwards a request with a JSON or multipart body as the policy of data loss prevention allows it. */
async function passGuarded(place: ProxyContext, visit: ProxyRequest): Promise<void> {
  const { incoming, outgoing } = visit;
  const fail = (status: number, message: string): void =>
    sendJsonError(outgoing, status, { error: { message, type: 'fairlead_error' } });
  if (incoming.headers['content-encoding'] !== undefined)
    return fail(415, 'The proxy reads requests that are not compressed.');
  const body = await readBody(incoming, place.maxBodyBytes);
  if (!body) return fail(413, `A request may have ${place.maxBodyBytes} bytes.`);
  const to = visit.path.split('?')[0];
  const { status, head, chunks } = await createUpstreamSender(place, visit, async (counts, unscanned) => {
    if (Object.keys(counts).length > 0) place.notify(`Replaced in a request to ${to}: ${formatCounts(counts)}.`);
    if (unscanned > 0) place.notify(`Not searched in a request to ${to}: ${unscanned} parts that hold no text.`);
  })(body);
  outgoing.writeHead(status, head.statusMessage, filterForwardedHeaders(head.rawHeaders, ['content-length']));
  await pipeChunks(chunks, outgoing);
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
  const send = createUpstreamSender(place, visit, async (counts) => {
    if (talk instanceof FairleadError) return;
    await talk.interceptor.remark(dlpAuditKey, {
      way: 'model',
      action: 'redact',
      counts,
      to: String(request['model'] ?? ''),
    });
  });
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
      filterForwardedHeaders(head.rawHeaders, isStream || place.guard ? ['content-length'] : []),
    );
  else outgoing.writeHead(status, { 'content-type': contentType });
  await pipeChunks(reply.chunks, outgoing);
}

/** Sends the request upstream with the caller's headers. */
function createUpstreamSender(
  { upstream, guard }: ProxyContext,
  { incoming, path, signal }: ProxyRequest,
  audit: (counts: Readonly<Record<string, number>>, unscanned: number) => Promise<void>,
): (body: Uint8Array) => Promise<UpstreamResponse<IncomingMessage>> {
  const own = filterForwardedHeaders(incoming.rawHeaders, ['host', 'content-length', 'accept-encoding']);
  const headers = [...own, 'accept-encoding', 'identity'];
  return async (given) => {
    const caller = digestCallerKey(incoming, path.split('?')[1] ?? '');
    const {
      body,
      counts,
      unscanned = 0,
      restore,
    } = guard?.guardBody(given, caller, incoming.headers['content-type']) ?? {
      body: given,
      counts: {},
      restore: (chunks: AsyncIterable<Uint8Array>) => chunks,
    };
    if (unscanned > 0 || Object.keys(counts).length > 0) await audit(counts, unscanned);
    const answer = await upstream.send({ method: incoming.method ?? 'POST', path, headers, body, signal });
    if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') {
      answer.destroy();
      throw new Error('it compressed its answer, though it was asked not to.');
    }
    const { statusCode: status = 502, headers: got } = answer;
    const contentType = got['content-type'] ?? '';
    return { status, contentType, head: answer, chunks: restore(answer as AsyncIterable<Buffer>, contentType) };
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
