// Sends one request to a receiver of the OpenTelemetry protocol and says what became of it.
import { readFileSync } from 'node:fs';
import type http from 'node:http';
import type https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { gzipSync } from 'node:zlib';
import { errorMessage, isObject } from '../../core/index.ts';
import { parseRetryDelay } from '../../wire/index.ts';
import type { OtlpTarget } from '../options.ts';
import { decodePartialSuccess, type PartialSuccess } from './protobuf.ts';

/** What became of a request. */
export type SendResult =
  | { readonly type: 'accepted'; readonly partial?: PartialSuccess }
  /** It may be accepted later. */
  | { readonly type: 'unavailable'; readonly why: string; readonly retryMs?: number }
  | { readonly type: 'refused'; readonly why: string };

/** A message in both encodings. */
export type OtlpMessage = { readonly json: () => string; readonly protobuf: () => Buffer };

/** Max bytes of an answer that are read. */
const maxAnswerBytes = 65_536;

/** The statuses after which the specification says to try again. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The connections of several senders, by origin and certificate: traces and metrics for one receiver share one. */
export type Connections = Map<string, http.Agent>;

/** Creates the function that sends messages to a receiver. It never throws. Redirects are not followed: they would send the headers to another host. */
export function createSender(
  target: OtlpTarget,
  connections: Connections = new Map(),
): (message: OtlpMessage, signal: AbortSignal) => Promise<SendResult> {
  let receiver: Receiver | undefined;
  return async (message, signal) => {
    try {
      receiver ??= createReceiver(target, connections);
      const plain = target.protocol === 'http/json' ? Buffer.from(message.json()) : message.protobuf();
      const body = target.compression === 'gzip' ? gzipSync(plain) : plain;
      return await post(receiver, body, signal);
    } catch (error) {
      return { type: 'refused', why: errorMessage(error) };
    }
  };
}

/** What the requests to a receiver have in common. */
type Receiver = {
  readonly isSecure: boolean;
  readonly timeoutMs: number;
  readonly options: http.RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
};

function createReceiver(target: OtlpTarget, connections: Connections): Receiver {
  const url = new URL(target.url);
  const isSecure = url.protocol === 'https:';
  const key = `${url.origin} ${target.certificateFile ?? ''}`;
  const agent = connections.get(key) ?? createAgent(target, isSecure);
  connections.set(key, agent);
  return {
    isSecure,
    timeoutMs: target.timeoutMs,
    options: { ...urlToHttpOptions(url), method: 'POST', agent },
    headers: {
      'user-agent': 'fairlead',
      ...target.headers,
      'content-type': target.protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
      ...(target.compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    },
  };
}

function createAgent({ certificateFile }: OtlpTarget, isSecure: boolean): http.Agent {
  const options = { keepAlive: true, maxSockets: 2, proxyEnv: process.env };
  if (!isSecure) return new (httpModule(false).Agent)(options);
  return new (httpModule(true).Agent)({
    ...options,
    ...(certificateFile === undefined ? {} : { ca: readFileSync(certificateFile) }),
  });
}

/** Not an import statement: that would load all of fetch. */
const httpModule = (isSecure: boolean): typeof http | typeof https =>
  isSecure ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http');

function post(
  { isSecure, timeoutMs, options, headers }: Receiver,
  body: Buffer,
  signal: AbortSignal,
): Promise<SendResult> {
  const { promise, resolve } = Promise.withResolvers<SendResult>();
  const request = httpModule(isSecure).request({
    ...options,
    headers: { ...headers, 'content-length': String(body.length) },
  });
  // A timer and a listener instead of a signal of the request: that costs as much as the rest of the request.
  const stop = (): void => {
    finish({ type: 'unavailable', why: 'it did not answer in time' });
    request.destroy();
  };
  const timer = setTimeout(stop, timeoutMs).unref();
  const finish = (result: SendResult): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    resolve(result);
  };
  signal.addEventListener('abort', stop);
  request.on('response', (response: http.IncomingMessage) => {
    const pieces: Buffer[] = [];
    let size = 0;
    response.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= maxAnswerBytes) pieces.push(piece);
    });
    response.on('error', (error) => finish({ type: 'unavailable', why: errorMessage(error) }));
    response.on('end', () =>
      finish(readAnswer(response, size > maxAnswerBytes ? Buffer.alloc(0) : Buffer.concat(pieces))),
    );
  });
  request.on('error', (error: NodeJS.ErrnoException) =>
    finish({ type: 'unavailable', why: error.code ?? errorMessage(error) }),
  );
  // The exporter must not keep a program alive that has nothing else to do.
  request.on('socket', (socket) => socket.unref());
  if (signal.aborted) stop();
  else request.end(body);
  return promise;
}

function readAnswer({ statusCode = 0, headers }: http.IncomingMessage, body: Buffer): SendResult {
  if (statusCode >= 200 && statusCode < 300) {
    const partial = /json/.test(headers['content-type'] ?? '') ? parsePartialSuccess(body) : decodePartialSuccess(body);
    return { type: 'accepted', ...(partial && (partial.rejected > 0 || partial.message !== '') ? { partial } : {}) };
  }
  const why = `status ${statusCode}`;
  if (!retryableStatuses.has(statusCode)) return { type: 'refused', why };
  const retryMs = parseRetryDelay(headers, undefined, '');
  return { type: 'unavailable', why, ...(retryMs === undefined ? {} : { retryMs }) };
}

function parsePartialSuccess(body: Buffer): PartialSuccess | undefined {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    const partial = isObject(answer) && isObject(answer['partialSuccess']) ? answer['partialSuccess'] : undefined;
    if (!partial) return undefined;
    const rejected = Number(partial['rejectedSpans'] ?? partial['rejectedDataPoints'] ?? 0);
    const { errorMessage: message } = partial;
    return { rejected: rejected >= 0 ? rejected : 0, message: typeof message === 'string' ? message : '' };
  } catch {
    return undefined;
  }
}
