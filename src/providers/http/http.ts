// Requests over node:http with connections kept open: faster than fetch, body given in pieces, every failure a typed error without secrets.
import type { Agent, IncomingMessage } from 'node:http';
import { FairleadError } from '../../core/index.ts';
import {
  connectionError,
  malformedResponseError,
  maxResponseChars,
  httpStatusError,
  responseTooLargeError,
  type ProviderInfo,
} from './errors.ts';
import { readBody } from './http-body.ts';
import { httpModule, httpsModule } from './node-http.ts';
import type { HttpHeaderMap } from '../../wire/index.ts';

/** A request: a body makes it a POST, none a GET. */
export type HttpRequestOptions = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly providerInfo: ProviderInfo;
};

/** A request with a body in pieces, sent one after the other without joining them. */
export type PostOptions = HttpRequestOptions & { readonly body: readonly (Uint8Array | string)[] };

/** A reply whose body is still on its way. Leaving the body early lets go of the connection. */
export type HttpReply = {
  readonly status: number;
  readonly headers: HttpHeaderMap;
  readonly body: AsyncIterable<Buffer>;
};

/** Sends a body and gives the reply, whatever its status. A kept connection that turns out to be dead is replaced once, at once. */
export async function post(options: PostOptions): Promise<HttpReply> {
  const { signal, providerInfo } = options;
  if (signal.aborted) throw abortError(signal);
  try {
    const reply = await sendOnce(options, false);
    return reply === 'stale' ? ((await sendOnce(options, true)) as HttpReply) : reply;
  } catch (error) {
    throw signal.aborted ? abortError(signal) : toSendError(error, providerInfo);
  }
}

/** The JSON at a URL; any status but a success is an error. */
export const getJson = (ask: HttpRequestOptions): Promise<unknown> => requestJson({ ...ask, body: [] });

/** The JSON a server answers to JSON; any status but a success is an error. */
export const postJson = (ask: HttpRequestOptions, value: unknown): Promise<unknown> =>
  requestJson({
    ...ask,
    headers: { 'content-type': 'application/json', ...ask.headers },
    body: [JSON.stringify(value)],
  });

async function requestJson(options: PostOptions): Promise<unknown> {
  const { providerInfo } = options;
  const reply = await post({ ...options, headers: { accept: 'application/json', ...options.headers } });
  if (!isSuccess(reply)) throw await readErrorReply(reply, providerInfo);
  const text = await readReplyText(reply, providerInfo);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformedResponseError('something that is not JSON', text, providerInfo);
  }
}

/** Whether a reply is what was asked for. */
export const isSuccess = ({ status }: HttpReply): boolean => status >= 200 && status < 300;

/** The error for a reply that is no success. What its status says counts even if its body cannot be read. */
export async function readErrorReply(reply: HttpReply, who: ProviderInfo): Promise<FairleadError> {
  const text = await readReplyText(reply, who).catch((error: unknown) => {
    if (error instanceof FairleadError && error.code.startsWith('provider/')) return '';
    throw error;
  });
  return httpStatusError(reply.status, reply.headers, text, who);
}

/** The whole body as text; more than 32 MB is an error. */
export async function readReplyText(reply: HttpReply, who: ProviderInfo): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of reply.body) {
    size += piece.length;
    if (size > maxResponseChars) throw responseTooLargeError(who);
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Why a request was given up: the reason itself where it is one of ours. */
export const abortError = (signal: AbortSignal): FairleadError =>
  signal.reason instanceof FairleadError
    ? signal.reason
    : new FairleadError('run/cancelled', 'The request was cancelled.', { blame: 'user' });

/** An address fit to be shown: no credentials, no query. */
export function redactUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : '(not a URL)';
}

type HttpAgents = { readonly kept: Agent; readonly fresh: Agent };

const agents: { http?: HttpAgents; https?: HttpAgents } = {};

/** Made at first use, so that a proxy set in the environment by then is honoured. */
function getAgents(secure: boolean): HttpAgents {
  const proxyEnv = process.env;
  const make = secure ? httpsModule().Agent : httpModule().Agent;
  return (agents[secure ? 'https' : 'http'] ??= {
    kept: new make({ keepAlive: true, scheduling: 'lifo', proxyEnv }),
    fresh: new make({ keepAlive: false, proxyEnv }),
  });
}

function sendOnce(options: PostOptions, fresh: boolean): Promise<HttpReply | 'stale'> {
  const { url, headers, signal, providerInfo, body } = options;
  const target = URL.parse(url);
  if (!target || !/^https?:$/.test(target.protocol))
    throw new FairleadError(
      'provider/bad-address',
      `The address of ${providerInfo.name} is not a URL: ${redactUrl(url)}`,
      {
        blame: 'user',
        hint: 'Give it as http://host:port/path or https://host/path.',
      },
    );
  const secure = target.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<HttpReply | 'stale'>();
  const request = (secure ? httpsModule() : httpModule()).request(target, {
    method: body.length > 0 ? 'POST' : 'GET',
    agent: getAgents(secure)[fresh ? 'fresh' : 'kept'],
    headers: {
      'user-agent': 'fairlead',
      'accept-encoding': 'identity',
      ...headers,
      ...(body.length > 0 ? { 'content-length': String(body.reduce((sum, each) => sum + byteLengthOf(each), 0)) } : {}),
    },
  });
  const give = (): void => void request.destroy(abortError(signal));
  signal.addEventListener('abort', give, { once: true });
  request.once('close', () => signal.removeEventListener('abort', give));
  request.once('response', (message: IncomingMessage) => {
    const fault = (error: unknown): FairleadError =>
      signal.aborted ? abortError(signal) : connectionError(error, providerInfo);
    resolve({ status: message.statusCode ?? 0, headers: message.headers, body: readBody(message, fault) });
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    const dead = request.reusedSocket && !fresh && !signal.aborted && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '');
    if (dead) resolve('stale');
    else reject(error);
  });
  for (const piece of body) request.write(piece);
  request.end();
  return promise;
}

const byteLengthOf = (piece: Uint8Array | string): number =>
  typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;

function toSendError(error: unknown, who: ProviderInfo): FairleadError {
  const { code, statusCode } = (error ?? {}) as { readonly code?: unknown; readonly statusCode?: unknown };
  if (code === 'ERR_PROXY_TUNNEL' && statusCode === 407) return httpStatusError(407, {}, '', who);
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN')
    return new FairleadError('provider/bad-request', `A header for ${who.name} holds a character that HTTP forbids.`, {
      blame: 'user',
      hint: 'Look for a line break or a stray character in the key and in the extra headers.',
    });
  return connectionError(error, who);
}
