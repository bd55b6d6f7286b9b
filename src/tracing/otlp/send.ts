// Sends one request to a receiver of the OpenTelemetry protocol and says what became of it.
import { readFileSync } from 'node:fs';
import type http from 'node:http';
import type https from 'node:https';
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

/** Creates the function that sends messages to a receiver. It never throws. Redirects are not followed: they would send the headers to another host. */
export function createSender(target: OtlpTarget): (message: OtlpMessage, signal: AbortSignal) => Promise<SendResult> {
  let agent: http.Agent | undefined;
  return async (message, signal) => {
    try {
      const url = new URL(target.url);
      const isSecure = url.protocol === 'https:';
      agent ??= createAgent(target, isSecure);
      const plain = target.protocol === 'http/json' ? Buffer.from(message.json()) : message.protobuf();
      const body = target.compression === 'gzip' ? gzipSync(plain) : plain;
      return await post(url, body, {
        target,
        agent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(target.timeoutMs)]),
      });
    } catch (error) {
      return { type: 'refused', why: errorMessage(error) };
    }
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

type PostContext = { readonly target: OtlpTarget; readonly agent: http.Agent; readonly signal: AbortSignal };

function post(url: URL, body: Buffer, { target, agent, signal }: PostContext): Promise<SendResult> {
  const { promise, resolve } = Promise.withResolvers<SendResult>();
  const isJson = target.protocol === 'http/json';
  const request = httpModule(url.protocol === 'https:').request(url, {
    method: 'POST',
    agent,
    signal,
    headers: {
      'user-agent': 'fairlead',
      ...target.headers,
      'content-type': isJson ? 'application/json' : 'application/x-protobuf',
      'content-length': String(body.length),
      ...(target.compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    },
  });
  request.on('response', (response: http.IncomingMessage) => {
    const pieces: Buffer[] = [];
    let size = 0;
    response.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= maxAnswerBytes) pieces.push(piece);
    });
    response.on('error', (error) => resolve({ type: 'unavailable', why: errorMessage(error) }));
    response.on('end', () =>
      resolve(readAnswer(response, size > maxAnswerBytes ? Buffer.alloc(0) : Buffer.concat(pieces))),
    );
  });
  request.on('error', (error) => resolve({ type: 'unavailable', why: describeError(error) }));
  // The exporter must not keep a program alive that has nothing else to do.
  request.on('socket', (socket) => socket.unref());
  request.end(body);
  return promise;
}

function describeError(error: Error & { readonly code?: string }): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'it did not answer in time';
  return error.code ?? errorMessage(error);
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
