// HTTP client over node:http with keep-alive: faster than fetch, sends a body in pieces, and throws typed errors without secrets.
import type http from 'node:http';
import type https from 'node:https';
import type { Readable } from 'node:stream';
import { FairleadError } from '../../core/index.ts';
import {
  connectionError,
  malformedResponseError,
  maxResponseChars,
  httpStatusError,
  responseTooLargeError,
  type ProviderInfo,
} from './errors.ts';
import type { HttpHeaderMap } from '../../wire/index.ts';

/** Options of a request. */
export type HttpRequestOptions = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly providerInfo: ProviderInfo;
};

/** Options of a request with a body in pieces, which are sent without joining them. Without pieces the request is a GET. */
export type PostOptions = HttpRequestOptions & { readonly body: readonly (Uint8Array | string)[] };

/** A reply whose body is still being received. A reader that stops early releases the connection. */
export type HttpReply = {
  readonly status: number;
  readonly headers: HttpHeaderMap;
  readonly body: AsyncIterable<Buffer>;
};

/** Sends a request and returns the reply with any status. If the server has closed the reused connection, it sends the request once more on a new one. */
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

/** Gets JSON from a URL; a status other than 2xx is an error. */
export const getJson = (options: HttpRequestOptions): Promise<unknown> => requestJson({ ...options, body: [] });

/** Posts JSON and returns the JSON of the reply; a status other than 2xx is an error. */
export const postJson = (options: HttpRequestOptions, value: unknown): Promise<unknown> =>
  requestJson({
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
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

/** Returns true for a 2xx status. */
export const isSuccess = ({ status }: HttpReply): boolean => status >= 200 && status < 300;

/** Returns the error for a reply with another status than 2xx; the status counts even if the body cannot be read. */
export async function readErrorReply(reply: HttpReply, providerInfo: ProviderInfo): Promise<FairleadError> {
  const text = await readReplyText(reply, providerInfo).catch((error: unknown) => {
    if (error instanceof FairleadError && error.code.startsWith('provider/')) return '';
    throw error;
  });
  return httpStatusError(reply.status, reply.headers, text, providerInfo);
}

/** Reads the complete body as text; more than 32 MB is an error. */
export async function readReplyText(reply: HttpReply, providerInfo: ProviderInfo): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of reply.body) {
    size += piece.length;
    if (size > maxResponseChars) throw responseTooLargeError(providerInfo);
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Returns the error of an aborted request: the abort reason if it is a FairleadError. */
export const abortError = (signal: AbortSignal): FairleadError =>
  signal.reason instanceof FairleadError
    ? signal.reason
    : new FairleadError('run/cancelled', 'The request was cancelled.', { blame: 'user' });

/** Returns a URL without credentials and query, for messages. */
export function redactUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : '(not a URL)';
}

type HttpAgents = { readonly keepAlive: http.Agent; readonly singleUse: http.Agent };

const agents: { http?: HttpAgents; https?: HttpAgents } = {};

/** Created at first use, so that proxy variables set until then apply. */
function getAgents(secure: boolean): HttpAgents {
  const proxyEnv = process.env;
  const { Agent } = httpModule(secure);
  return (agents[secure ? 'https' : 'http'] ??= {
    keepAlive: new Agent({ keepAlive: true, scheduling: 'lifo', proxyEnv }),
    singleUse: new Agent({ keepAlive: false, proxyEnv }),
  });
}

/** Not an import statement: that reads every export of node:http, one of which loads all of fetch, a third of the time of a short run. */
const httpModule = (secure: boolean): typeof http | typeof https =>
  secure ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');

function sendOnce(options: PostOptions, isResend: boolean): Promise<HttpReply | 'stale'> {
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
  const request = httpModule(secure).request(target, {
    method: body.length > 0 ? 'POST' : 'GET',
    agent: getAgents(secure)[isResend ? 'singleUse' : 'keepAlive'],
    headers: {
      'user-agent': 'fairlead',
      'accept-encoding': 'identity',
      ...headers,
      ...(body.length > 0 ? { 'content-length': String(body.reduce((sum, each) => sum + byteLengthOf(each), 0)) } : {}),
    },
  });
  const onAbort = (): void => void request.destroy(abortError(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  request.once('close', () => signal.removeEventListener('abort', onAbort));
  request.once('response', (message: http.IncomingMessage) => {
    const toError = (error: unknown): FairleadError => {
      if (error === tooManyBytes) return responseTooLargeError(providerInfo, '256 MB');
      return signal.aborted ? abortError(signal) : connectionError(error, providerInfo);
    };
    resolve({ status: message.statusCode ?? 0, headers: message.headers, body: readBody(message, toError) });
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    const isStale =
      request.reusedSocket && !isResend && !signal.aborted && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '');
    if (isStale) resolve('stale');
    else reject(error);
  });
  for (const piece of body) request.write(piece);
  request.end();
  return promise;
}

const byteLengthOf = (piece: Uint8Array | string): number =>
  typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;

function toSendError(error: unknown, providerInfo: ProviderInfo): FairleadError {
  const { code, statusCode } = (error ?? {}) as { readonly code?: unknown; readonly statusCode?: unknown };
  if (code === 'ERR_PROXY_TUNNEL' && statusCode === 407) return httpStatusError(407, {}, '', providerInfo);
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN')
    return new FairleadError(
      'provider/bad-request',
      `A header for ${providerInfo.name} contains a character that HTTP does not allow.`,
      {
        blame: 'user',
        hint: 'Check the key and the extra headers for line breaks and control characters.',
      },
    );
  return connectionError(error, providerInfo);
}

/** The frames of streamed events are much larger than their text, which has a limit of its own. */
const maxReplyBytes = 256 * 2 ** 20;
const tooManyBytes = Symbol('tooManyBytes');
const maxDrainBytes = 65_536;
const drainMs = 1000;
const maxQueuedPieces = 64;

/** Yields the bytes of a reply with back-pressure; `toError` converts errors. If the reader stops early, the rest is drained or dropped. */
function readBody(message: http.IncomingMessage, toError: (error: unknown) => FairleadError): AsyncIterable<Buffer> {
  const source = decompress(message);
  const queue: Buffer[] = [];
  let ended = false;
  let failed: FairleadError | undefined;
  let waiting: { resolve(result: IteratorResult<Buffer>): void; reject(error: FairleadError): void } | undefined;

  const done = (): IteratorResult<Buffer> => ({ done: true, value: undefined });
  function finish(error?: unknown): void {
    if (ended) return;
    ended = true;
    failed = error === undefined ? undefined : toError(error);
    if (!waiting) return;
    if (failed) waiting.reject(failed);
    else waiting.resolve(done());
    waiting = undefined;
  }
  let received = 0;
  source.on('data', (piece: Buffer) => {
    received += piece.length;
    if (received > maxReplyBytes) {
      queue.length = 0;
      finish(tooManyBytes);
      message.destroy();
      return;
    }
    if (waiting) {
      waiting.resolve({ done: false, value: piece });
      waiting = undefined;
    } else if (queue.push(piece) > maxQueuedPieces) source.pause();
  });
  source.on('end', () => finish());
  source.on('error', finish);
  source.on('close', () => finish(new Error('The connection closed.')));
  if (source !== message) message.on('error', (error) => source.destroy(error));

  const iterator: AsyncIterator<Buffer> = {
    next() {
      const piece = queue.shift();
      if (piece) {
        if (queue.length === 0 && source.isPaused()) source.resume();
        return Promise.resolve({ done: false, value: piece });
      }
      if (failed) return Promise.reject(failed);
      if (ended) return Promise.resolve(done());
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Buffer>>();
      waiting = { resolve, reject };
      return promise;
    },
    return() {
      if (!ended) drain(message, source);
      return Promise.resolve(done());
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Reads the rest of a body so that the connection can be reused; usually only the end of the last chunk is missing. A longer rest closes it. */
function drain(message: http.IncomingMessage, source: Readable): void {
  let drained = 0;
  const timer = setTimeout(() => message.destroy(), drainMs).unref();
  source.removeAllListeners('data');
  source.on('data', (piece: Buffer) => {
    drained += piece.length;
    if (drained > maxDrainBytes) message.destroy();
  });
  message.once('close', () => clearTimeout(timer));
  source.resume();
}

function decompress(message: http.IncomingMessage): Readable {
  const coding = message.headers['content-encoding']?.trim().toLowerCase();
  if (!coding || coding === 'identity') return message;
  // Loaded on demand: the request asks for no compression, and few servers ignore that.
  const zlib = process.getBuiltinModule('node:zlib');
  if (coding === 'gzip' || coding === 'x-gzip') return message.pipe(zlib.createGunzip());
  if (coding === 'br') return message.pipe(zlib.createBrotliDecompress());
  if (coding === 'zstd') return message.pipe(zlib.createZstdDecompress());
  return coding === 'deflate' ? message.pipe(zlib.createInflate()) : message;
}
