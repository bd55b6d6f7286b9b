// MCP over HTTP on loopback, protected by a token.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import { FairleadError, errorMessage } from '../../core/index.ts';

/** A listening server. */
export type McpHttpServer = { readonly url: string; readonly token: string; readonly close: () => Promise<void> };

/** Starts listening on loopback; generates a token unless one is given. */
export async function listenMcpHttp(
  factory: McpServerFactory,
  port: number,
  notify: (text: string) => void,
  token: string = randomBytes(24).toString('base64url'),
): Promise<McpHttpServer> {
  const handler = createMcpHandler(factory, { onerror: (error) => notify(`${error.message}\n`) });
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer((incoming, outgoing) => {
    handleHttpRequest(incoming, outgoing, token, (request) => handler.fetch(request)).catch((error: unknown) => {
      notify(`${errorMessage(error)}\n`);
      outgoing.destroy();
    });
  });
  await listenOnLoopback(server, port);
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actualPort}/mcp`,
    token,
    async close() {
      await handler.close();
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}

async function listenOnLoopback(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The listener stays: a connection that cannot be accepted later, such as for lack of file descriptors, is an error of the server.
  server.on('error', reject).listen(port, '127.0.0.1', resolve);
  try {
    await promise;
  } catch (cause) {
    throw new FairleadError('mcp/cannot-listen', `Port ${port} cannot be listened on: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Give another port, or 0 for any that is free.',
      cause,
    });
  }
}

async function handleHttpRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  token: string,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const disconnected = new AbortController();
  outgoing.once('close', () => disconnected.abort());
  const request = toWebRequest(incoming, disconnected.signal);
  const response = request
    ? (rejectRequest(request, token) ?? (await handle(request)))
    : new Response('Bad request', { status: 400 });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return void outgoing.end();
  // A client that disconnects cancels its request.
  await pipeline(Readable.fromWeb(response.body as NodeStream), outgoing).catch(() => undefined);
}

/** Returns undefined for a request line that is valid in HTTP only, such as `GET //` or a method that `Request` does not accept. */
function toWebRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/' } = incoming;
  const address = URL.parse(url, 'http://127.0.0.1');
  if (address === null || /^(?:connect|trace|track)$/i.test(method)) return undefined;
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const body: RequestInit & { readonly duplex?: 'half' } =
    method === 'GET' || method === 'HEAD'
      ? {}
      : { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>, duplex: 'half' };
  return new Request(address, { method, headers, signal, ...body });
}

/** Rejects foreign origins, unknown hosts, other paths and requests without the token. */
function rejectRequest(request: Request, token: string): Response | undefined {
  const rejection =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  if (rejection) return rejection;
  if (!isEqualConstantTime(request.headers.get('authorization') ?? '', `Bearer ${token}`))
    return new Response('Unauthorized', { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  return new URL(request.url).pathname === '/mcp' ? undefined : new Response('Not found', { status: 404 });
}

/** Compares in constant time. */
const isEqualConstantTime = (actual: string, expected: string): boolean =>
  timingSafeEqual(sha256(actual), sha256(expected));

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
