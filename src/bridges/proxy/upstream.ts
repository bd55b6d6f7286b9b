// The model's side of the proxy: requests go on with the caller's headers, and what comes back keeps its own.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { FairleadError } from '../../core/index.ts';

/** A request on its way to the model. */
export type UpstreamRequest = {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | Readable | undefined;
  readonly signal: AbortSignal;
};

/** Where requests go. */
export type Upstream = {
  send(sending: UpstreamRequest): Promise<IncomingMessage>;
  close(): void;
};

/** What belongs to one connection and is not passed on. */
const hopByHopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that go on to the other side. */
export function filterForwardedHeaders(headers: readonly string[], without: readonly string[] = []): string[] {
  const out: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (hopByHopHeaders.has(name) || without.includes(name) || name.startsWith('x-fairlead-')) continue;
    out.push(headers[i] as string, headers[i + 1] as string);
  }
  return out;
}

/** The server that a target names. */
export function createUpstream(target: string): Upstream {
  const base = parseTarget(target);
  const kind = base.protocol === 'https:' ? 'node:https' : 'node:http';
  const { Agent, request } = process.getBuiltinModule(kind);
  const agent = new Agent({ keepAlive: true });

  function attempt({ method, path, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sized = body instanceof Uint8Array ? ['content-length', String(body.length)] : [];
    const outgoing = request({
      protocol: base.protocol,
      hostname: base.hostname.replaceAll(/^\[|\]$/g, ''),
      ...(base.port ? { port: base.port } : {}),
      method,
      path: joinTargetPath(base.pathname, path),
      headers: ['host', base.host, ...headers, ...sized],
      agent,
      signal,
    });
    outgoing.once('response', resolve);
    // It may fail again after it has answered, when the caller has gone.
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

/** A kept connection was closed by the other side just when it was used: nothing of the request was seen there. */
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

/** A target may end with the /v1 that the caller's path begins with; it is not meant twice. */
function joinTargetPath(base: string, path: string): string {
  const under = base.replace(/\/+$/, '');
  return under === '' || path === under || path.startsWith(`${under}/`) ? path : under + path;
}
