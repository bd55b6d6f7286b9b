// The requests to a remote MCP server: its own origin is requested directly, all other addresses through the network guard. Messages have size limits.
import type { FetchLike } from '@modelcontextprotocol/client';
import { FairleadError, escapeInvisibleLine, type Workspace } from '../../core/index.ts';
import { requireSecureUrl } from '../oauth/authorization-server.ts';
import type { McpRemoteConfig, McpServer } from './server.ts';

/** Network access for addresses that a server names: its authorization server, for example. */
export type McpNetwork = NonNullable<Workspace['fetch']>;

const maxMessageBytes = 16_000_000;
const maxRedirects = 5;

/**
 * Creates the fetch function of a server. The configuration names its URL, and that of the user maybe its issuer, so these origins may be private. Every other
 * address comes from the server or a project, which could otherwise have us send requests inside the user's network.
 */
export function createMcpFetch(
  { url: serverUrl, login }: McpRemoteConfig,
  origin: McpServer['origin'],
  network: McpNetwork | undefined,
): FetchLike {
  const issuer = origin === 'user' && login?.issuer !== undefined ? [login.issuer] : [];
  const origins = new Set([serverUrl, ...issuer].flatMap(toOrigins));
  return async (target, init = {}) => {
    let url = new URL(target);
    let request = init;
    for (let hops = 0; hops <= maxRedirects; hops++) {
      if (!origins.has(url.origin)) return fetchForeign(url, request, network);
      const response = await fetch(url, { ...request, redirect: 'manual' });
      const location = isRedirect(response) ? response.headers.get('location') : null;
      if (location === null) return withMessageLimit(response);
      await response.body?.cancel();
      [url, request] = followRedirect(url, new URL(location, url), response.status, request);
    }
    throw refusedError(`${escapeInvisibleLine(url.host)} redirected more than ${maxRedirects} times.`);
  };
}

/** The origin of a URL, and its encrypted form, to which servers redirect. */
function toOrigins(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  return url.protocol === 'http:' && url.port === '' ? [url.origin, `https://${url.host}`] : [url.origin];
}

const isRedirect = ({ status }: Response): boolean => [301, 302, 303, 307, 308].includes(status);

/** The request after a redirect. To another origin only a read is repeated, without headers that identify the user. */
function followRedirect(from: URL, to: URL, status: number, request: RequestInit): readonly [URL, RequestInit] {
  const { method = 'GET', headers, body: _body, ...rest } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  if (from.origin === to.origin) {
    const becomesGet = !isRead && (status === 303 || (method === 'POST' && status < 303));
    return [to, becomesGet ? { ...rest, ...(headers ? { headers } : {}), method: 'GET' } : request];
  }
  const accept = new Headers(headers).get('accept') ?? '*/*';
  if (!isRead || /event-stream/i.test(accept))
    throw refusedError(
      `${escapeInvisibleLine(from.host)} redirects to ${escapeInvisibleLine(to.host)}, which is not followed: configure the new URL of the server.`,
    );
  return [to, { ...rest, method, headers: { accept } }];
}

/** Requests an address that the server named. */
async function fetchForeign(url: URL, init: RequestInit, network: McpNetwork | undefined): Promise<Response> {
  const shown = escapeInvisibleLine(url.host);
  if (!network)
    throw refusedError(`The server names ${shown} for its login, but no network access is given for other addresses.`);
  const { method = 'GET', headers, body, signal } = init;
  const request = {
    url: requireSecureUrl(url.href),
    method,
    headers: Object.fromEntries(new Headers(headers)),
    ...(body === undefined || body === null ? {} : { body: String(body as string | URLSearchParams) }),
  };
  const fetched = await network(request, signal ? { signal } : {});
  if (method !== 'GET' && new URL(fetched.url).href !== url.href)
    throw refusedError(`${shown} redirected a ${method} of a login, so its answer is not used.`);
  const isEmpty = [101, 204, 205, 304].includes(fetched.status);
  const answer = new Response(isEmpty ? null : Buffer.from(fetched.body), {
    status: fetched.status,
    headers: withoutEncoding(fetched.headers),
  });
  return withUrl(answer, fetched.url);
}

/** The body is decompressed already. */
const withoutEncoding = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-(?:encoding|length)$/.test(name)));

/** A response whose body fails if a single message is too large. */
function withMessageLimit(response: Response): Response {
  if (response.body === null) return response;
  const isEvents = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  const { status, statusText, headers, url } = response;
  const body = response.body.pipeThrough(createMessageLimiter(isEvents));
  return withUrl(new Response(body, { status, statusText, headers }), url);
}

/** The constructor leaves the URL empty, and authorization depends on it. */
const withUrl = (response: Response, url: string): Response => Object.defineProperty(response, 'url', { value: url });

/** Passes bytes on until one message is too large. For an event stream, counting restarts at each blank line. */
function createMessageLimiter(isEvents: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const last = isEvents ? lastBlankLine(chunk) : -1;
      bytes = last < 0 ? bytes + chunk.length : chunk.length - last;
      if (bytes > maxMessageBytes)
        controller.error(new Error(`The server sent more than ${maxMessageBytes} bytes in one message.`));
      else controller.enqueue(chunk);
    },
  });
}

function lastBlankLine(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
}

const refusedError = (sentence: string): FairleadError =>
  new FairleadError('mcp/refused-address', sentence, {
    blame: 'tool',
    hint: 'If the address is yours, allow it: fairlead config set network.private "<host:port>".',
  });
