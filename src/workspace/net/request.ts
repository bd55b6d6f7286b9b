// Sends one request to one checked address, and reads the decompressed response up to a limit.
import type http from 'node:http';
import type https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { FetchResult, FetchRequest } from '../../core/index.ts';
import { networkError } from './hosts.ts';

/** Where and how a request is sent. */
export type RequestRoute = {
  readonly url: URL;
  /** The only addresses to connect to. */
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
  /** Max bytes of the decompressed response. */
  readonly maxBytes: number;
  readonly proxy?: string;
  readonly ca?: string;
};

/** A response, which may be a redirect. */
export type RawResponse = Omit<FetchResult, 'url'>;

/** Headers of the connection itself, or that would let a request impersonate another. */
const connectionHeaders =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Requests a URL at its checked addresses. */
export async function sendRequest(request: FetchRequest, way: RequestRoute): Promise<RawResponse> {
  const { method, headers } = validateRequest(request);
  const { body } = request;
  // Without it Node writes the body of a GET as it is, and the server reads it as another request.
  const framing = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const { request: open } = httpModule(way.url);
    const options = { method, headers: { ...headers, ...framing }, signal: way.signal, ...connectionOptions(way) };
    const sent = open(way.url, options);
    sent.on('response', resolve).on('error', reject).end(body);
  });
  // Data after the limit ends in an error that no caller awaits.
  response.on('error', () => {});
  try {
    const { body, cut } = await readBounded(decompress(response), way.maxBytes);
    return { status: response.statusCode ?? 0, headers: flattenHeaders(response), body, truncated: cut };
  } finally {
    response.destroy();
  }
}

/** Not a static import: that would load all of fetch with it. */
const httpModule = (url: URL): typeof https | typeof http =>
  process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');

function validateRequest({ method = 'GET', headers = {} }: FetchRequest): {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  if (!/^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method))
    throw networkError('bad-request', 'The method must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.');
  const own = Object.keys(headers).find((name) => connectionHeaders.test(name));
  if (own !== undefined) throw networkError('bad-request', `The header ${own} cannot be set.`);
  const broken = Object.entries(headers).find(
    ([name, value]) => !/^[\w-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value),
  );
  if (broken) throw networkError('bad-request', 'A header contains invalid characters.');
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const usual = { accept: '*/*', 'user-agent': 'fairlead', 'accept-encoding': 'gzip, deflate, br' };
  return { method, headers: { ...usual, ...Object.fromEntries(lower) } };
}

/** An older Node would ignore the proxy and connect directly. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const supportsProxies = major > 24 || (major === 24 && minor >= 5);

/** Uses a new connection for every request: to the checked addresses only, or to the proxy. */
function connectionOptions({ url, addresses, proxy, ca }: RequestRoute): https.RequestOptions {
  const trust = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  if (proxy === undefined) return { agent: false, lookup: pinnedLookup(addresses), ...trust };
  if (!supportsProxies) throw networkError('proxy', 'A proxy needs Node 24.5 or later, so nothing was sent.');
  const { Agent } = httpModule(url);
  return { agent: new Agent({ proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }), ...trust };
}

const pinnedLookup =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = found;
    if (all) done(null, found);
    else done(null, first?.address ?? '', first?.family);
  };

function decompress(response: http.IncomingMessage): Readable {
  const how = response.headers['content-encoding']?.trim().toLowerCase();
  const unpack =
    how === 'gzip' || how === 'x-gzip'
      ? createGunzip()
      : how === 'deflate'
        ? createInflate()
        : how === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (!unpack) return response;
  pipeline(response, unpack, () => {});
  return unpack;
}

/** Reads the start of a stream. The rest is never decompressed, so that a small response cannot become a huge one. */
async function readBounded(
  stream: Readable,
  most: number,
): Promise<{ readonly body: Uint8Array; readonly cut: boolean }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece.subarray(0, most - size));
    size += piece.length;
    if (size > most) return { body: Buffer.concat(pieces), cut: true };
  }
  return { body: Buffer.concat(pieces), cut: false };
}

const flattenHeaders = ({ headers }: http.IncomingMessage): FetchResult['headers'] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
