// Requests over node:http with connections kept open: faster than fetch, body given in pieces, every failure a typed error without secrets.
import type { Agent, IncomingMessage } from 'node:http';
import { FairleadError } from '../../core/index.ts';
import { networkFault, malformedFault, mostChars, statusFault, tooLargeFault, type Who } from './faults.ts';
import { readBody } from './http-body.ts';
import { httpModule, httpsModule } from './node-http.ts';
import type { HeaderMap } from './retry-after.ts';

/** A request: a body makes it a POST, none a GET. */
export type Ask = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly who: Who;
};

/** A request with a body in pieces, sent one after the other without joining them. */
export type PostOptions = Ask & { readonly body: readonly (Uint8Array | string)[] };

/** A reply whose body is still on its way. Leaving the body early lets go of the connection. */
export type Reply = { readonly status: number; readonly headers: HeaderMap; readonly body: AsyncIterable<Buffer> };

/** Sends a body and gives the reply, whatever its status. A kept connection that turns out to be dead is replaced once, at once. */
export async function post(options: PostOptions): Promise<Reply> {
  const { signal, who } = options;
  if (signal.aborted) throw abortFault(signal);
  try {
    const reply = await attempt(options, false);
    return reply === 'stale' ? ((await attempt(options, true)) as Reply) : reply;
  } catch (error) {
    throw signal.aborted ? abortFault(signal) : sendFault(error, who);
  }
}

/** The JSON at a URL; any status but a success is an error. */
export const getJson = (ask: Ask): Promise<unknown> => json({ ...ask, body: [] });

/** The JSON a server answers to JSON; any status but a success is an error. */
export const postJson = (ask: Ask, value: unknown): Promise<unknown> =>
  json({ ...ask, headers: { 'content-type': 'application/json', ...ask.headers }, body: [JSON.stringify(value)] });

async function json(options: PostOptions): Promise<unknown> {
  const { who } = options;
  const reply = await post({ ...options, headers: { accept: 'application/json', ...options.headers } });
  if (!isSuccess(reply)) throw await refusal(reply, who);
  const text = await readText(reply, who);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw malformedFault('something that is not JSON', text, who);
  }
}

/** Whether a reply is what was asked for. */
export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300;

/** The error for a reply that is no success. What its status says counts even if its body cannot be read. */
export async function refusal(reply: Reply, who: Who): Promise<FairleadError> {
  const text = await readText(reply, who).catch((error: unknown) => {
    if (error instanceof FairleadError && error.code.startsWith('provider/')) return '';
    throw error;
  });
  return statusFault(reply.status, reply.headers, text, who);
}

/** The whole body as text; more than 32 MB is an error. */
export async function readText(reply: Reply, who: Who): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of reply.body) {
    size += piece.length;
    if (size > mostChars) throw tooLargeFault(who);
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Why a request was given up: the reason itself where it is one of ours. */
export const abortFault = (signal: AbortSignal): FairleadError =>
  signal.reason instanceof FairleadError
    ? signal.reason
    : new FairleadError('run/cancelled', 'The request was cancelled.', { blame: 'user' });

/** An address fit to be shown: no credentials, no query. */
export function placeOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : '(not a URL)';
}

type Agents = { readonly kept: Agent; readonly fresh: Agent };

const agents: { http?: Agents; https?: Agents } = {};

/** Made at first use, so that a proxy set in the environment by then is honoured. */
function agentsFor(secure: boolean): Agents {
  const proxyEnv = process.env;
  const make = secure ? httpsModule().Agent : httpModule().Agent;
  return (agents[secure ? 'https' : 'http'] ??= {
    kept: new make({ keepAlive: true, scheduling: 'lifo', proxyEnv }),
    fresh: new make({ keepAlive: false, proxyEnv }),
  });
}

function attempt(options: PostOptions, fresh: boolean): Promise<Reply | 'stale'> {
  const { url, headers, signal, who, body } = options;
  const target = URL.parse(url);
  if (!target || !/^https?:$/.test(target.protocol))
    throw new FairleadError('provider/bad-address', `The address of ${who.name} is not a URL: ${placeOf(url)}`, {
      blame: 'user',
      hint: 'Give it as http://host:port/path or https://host/path.',
    });
  const secure = target.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<Reply | 'stale'>();
  const request = (secure ? httpsModule() : httpModule()).request(target, {
    method: body.length > 0 ? 'POST' : 'GET',
    agent: agentsFor(secure)[fresh ? 'fresh' : 'kept'],
    headers: {
      'user-agent': 'fairlead',
      'accept-encoding': 'identity',
      ...headers,
      ...(body.length > 0 ? { 'content-length': String(body.reduce((sum, each) => sum + sizeOf(each), 0)) } : {}),
    },
  });
  const give = (): void => void request.destroy(abortFault(signal));
  signal.addEventListener('abort', give, { once: true });
  request.once('close', () => signal.removeEventListener('abort', give));
  request.once('response', (message: IncomingMessage) => {
    const fault = (error: unknown): FairleadError => (signal.aborted ? abortFault(signal) : networkFault(error, who));
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

const sizeOf = (piece: Uint8Array | string): number =>
  typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;

function sendFault(error: unknown, who: Who): FairleadError {
  const { code, statusCode } = (error ?? {}) as { readonly code?: unknown; readonly statusCode?: unknown };
  if (code === 'ERR_PROXY_TUNNEL' && statusCode === 407) return statusFault(407, {}, '', who);
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN')
    return new FairleadError('provider/bad-request', `A header for ${who.name} holds a character that HTTP forbids.`, {
      blame: 'user',
      hint: 'Look for a line break or a stray character in the key and in the extra headers.',
    });
  return networkFault(error, who);
}
