// The model's side of the proxy: requests go on with the caller's headers, and what comes back keeps its own.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { FairleadError } from '../../core/index.ts';

/** A request on its way to the model. */
export type Sending = {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | Readable | undefined;
  readonly signal: AbortSignal;
};

/** Where requests go. */
export type Upstream = {
  send(sending: Sending): Promise<IncomingMessage>;
  close(): void;
};

/** What belongs to one connection and is not passed on. */
const perConnection = new Set([
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
export function passedOn(headers: readonly string[], without: readonly string[] = []): string[] {
  const out: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (perConnection.has(name) || without.includes(name) || name.startsWith('x-fairlead-')) continue;
    out.push(headers[i] as string, headers[i + 1] as string);
  }
  return out;
}

/** The server that a target names. */
export function upstreamAt(target: string): Upstream {
  const base = addressOf(target);
  const secure = base.protocol === 'https:';
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const start = secure ? httpsRequest : httpRequest;

  function attempt({ method, path, headers, body, signal }: Sending, again: boolean): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sized = body instanceof Uint8Array ? ['content-length', String(body.length)] : [];
    const all = ['host', base.host, ...headers, ...sized];
    const outgoing = start({
      protocol: base.protocol,
      hostname: base.hostname.replaceAll(/^\[|\]$/g, ''),
      ...(base.port ? { port: base.port } : {}),
      method,
      path: pathUnder(base.pathname, path),
      headers: all as unknown as Record<string, string>,
      agent,
      signal,
    });
    outgoing.once('response', resolve);
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      // A kept connection may have been closed by the other side just now: nothing of this request was seen there.
      const stale = outgoing.reusedSocket && error.code === 'ECONNRESET' && body instanceof Uint8Array;
      if (stale && again) attempt({ method, path, headers, body, signal }, false).then(resolve, reject);
      else reject(error);
    });
    if (body instanceof Uint8Array) outgoing.end(body);
    else if (body) body.pipe(outgoing);
    else outgoing.end();
    return promise;
  }

  return { send: (sending) => attempt(sending, true), close: () => agent.destroy() };
}

function addressOf(target: string): URL {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '') return url;
  throw new FairleadError('proxy/bad-target', `"${target}" is not the address of a model server.`, {
    blame: 'user',
    hint: 'Give one such as https://api.openai.com or http://127.0.0.1:11434.',
  });
}

/** A target may end with the /v1 that the caller's path begins with; it is not meant twice. */
function pathUnder(base: string, path: string): string {
  const under = base.replace(/\/+$/, '');
  return under === '' || path === under || path.startsWith(`${under}/`) ? path : under + path;
}
