// The upstream side of the proxy: forwards requests and responses with their headers.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { FairleadError, trimEndChars } from '../../core/index.ts';

/** An upstream request. */
export type UpstreamRequest = {
  readonly method: string;
  readonly path: string;
  /** Header names and values in turn, as received. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | Readable | undefined;
  readonly signal: AbortSignal;
};

/** The upstream target. */
export type Upstream = {
  send(sending: UpstreamRequest): Promise<IncomingMessage>;
  close(): void;
};

/** Headers that are not forwarded: those of one connection, and those that change the method. */
const droppedHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // A server that obeys them would read another method than the one that was judged.
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Returns the headers to forward. */
export function filterForwardedHeaders(headers: readonly string[], without: readonly string[] = []): string[] {
  const out: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (droppedHeaders.has(name) || without.includes(name) || name.startsWith('x-fairlead-')) continue;
    out.push(headers[i] as string, headers[i + 1] as string);
  }
  return out;
}

const hasHeader = (headers: readonly string[], name: string): boolean =>
  headers.some((each, i) => i % 2 === 0 && each.toLowerCase() === name);

/** Parses the target server. */
export function createUpstream(target: string): Upstream {
  const base = parseTarget(target);
  const kind = base.protocol === 'https:' ? 'node:https' : 'node:http';
  const { Agent, request } = process.getBuiltinModule(kind);
  const agent = new Agent({ keepAlive: true });

  function attempt({ method, path, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    // Without one of these headers Node writes the body of a GET as it is, and the server reads it as another request.
    const framing =
      body instanceof Uint8Array
        ? ['content-length', String(body.length)]
        : body && !hasHeader(headers, 'content-length')
          ? ['transfer-encoding', 'chunked']
          : [];
    const outgoing = request({
      protocol: base.protocol,
      hostname: base.hostname.replaceAll(/^\[|\]$/g, ''),
      ...(base.port ? { port: base.port } : {}),
      method,
      path: joinTargetPath(base.pathname, path),
      headers: ['host', base.host, ...headers, ...framing],
      agent,
      signal,
    });
    outgoing.once('response', resolve);
    // The socket can fail again after the response, when the caller has disconnected.
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      reject(outgoing.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnectionError() : error),
    );
    if (body instanceof Uint8Array) outgoing.end(body);
    else if (body) body.pipe(outgoing);
    else outgoing.end();
    return promise;
  }

  async function send(sending: UpstreamRequest): Promise<IncomingMessage> {
    try {
      return await attempt(sending);
    } catch (error) {
      if (!(error instanceof StaleConnectionError) || !(sending.body instanceof Uint8Array)) throw error;
      return await attempt(sending);
    }
  }

  return { send, close: () => agent.destroy() };
}

/** A keep-alive connection was closed just when it was reused: the server has not seen the request. */
class StaleConnectionError extends Error {
  override readonly name = 'StaleConnection';
  override readonly message = 'The connection was closed by the model server.';
}

function parseTarget(target: string): URL {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '') return url;
  throw new FairleadError('proxy/bad-target', `"${target}" is not the address of a model server.`, {
    blame: 'user',
    hint: 'Give one such as https://api.openai.com or http://127.0.0.1:11434.',
  });
}

/** A target may end with the /v1 that the caller's path starts with; it is removed once. */
function joinTargetPath(base: string, path: string): string {
  const under = trimEndChars(base, '/');
  return under === '' || path === under || path.startsWith(`${under}/`) ? path : under + path;
}
