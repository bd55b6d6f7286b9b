// The egress proxy of a sandbox: a proxy on a Unix socket that connects to allowed hosts only. It is all that a confined command can reach.
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';

/** Which hosts a command may reach. */
export type EgressPolicy = {
  /** Host names, or `*.example.com` for all subdomains; with `:port` for ports other than 80 and 443. */
  readonly hosts: readonly string[];
  /** Returns true if an address is on the public internet. Other addresses are refused, whatever their name. */
  readonly isPublic: (address: string) => boolean;
};

/** A running egress proxy. */
export type EgressProxy = { readonly folder: string; readonly socket: string; close(): void };

type ProxyTarget = { readonly host: string; readonly port: number };

const connectTimeoutMs = 30_000;
/** A forwarded request ends after so many milliseconds without data. */
const idleTimeoutMs = 300_000;

/** Starts the proxy. It stops when it is closed or when the process exits. */
export async function startEgressProxy(egress: EgressPolicy): Promise<EgressProxy> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-egress-'));
  const socket = path.join(folder, `${randomBytes(4).toString('hex')}.sock`);
  const server = process
    .getBuiltinModule('node:http')
    .createServer((request, response) => void forward(egress, request, response).catch(() => response.destroy()));
  // An error of one connection ends that connection.
  server.on(
    'connect',
    (request, client, head) => void tunnel(egress, request, client, head).catch(() => client.destroy()),
  );
  server.on('upgrade', (_, client) => client.destroy());
  server.on('clientError', (_, client) => client.destroy());
  const close = (): void => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', close);
  await listenOn(server, socket);
  // A proxy that is not closed must not keep the program running.
  server.unref();
  return {
    folder,
    socket,
    close() {
      process.off('exit', close);
      close();
    },
  };
}

const listenOn = (server: Server, socket: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // The listener stays: a connection that cannot be accepted later, such as for lack of file descriptors, is an error of the server.
    server.on('error', reject).listen(socket, resolve);
  });

/** Forwards bytes in both directions without reading them. */
async function tunnel(egress: EgressPolicy, request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
  client.on('error', () => client.destroy());
  const target = parseTarget(`http://${request.url ?? ''}`);
  const address = target && (await resolveAllowedAddress(egress, target));
  // A client that left during the lookup reports no further event.
  if (client.destroyed) return;
  if (!target || address === undefined) {
    client.end(
      `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${formatRefusal(target)}`,
    );
    return;
  }
  const upstream: Socket = connect({ host: address, port: target.port, timeout: connectTimeoutMs });
  upstream.on('error', () => client.destroy());
  upstream.on('timeout', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
  upstream.once('connect', () => {
    upstream.setTimeout(0);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  });
}

/** Forwards a request without TLS to the checked address, with the checked host name. */
async function forward(egress: EgressPolicy, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = parseTarget(request.url ?? '');
  const address = target && (await resolveAllowedAddress(egress, target));
  if (response.destroyed || request.destroyed) return;
  if (!target || address === undefined) {
    response.writeHead(403, { 'content-type': 'text/plain' }).end(formatRefusal(target));
    return;
  }
  const { pathname, search, host } = new URL(request.url ?? '');
  const headers = { ...withoutHopHeaders(request.headers), ...bodyFraming(request.headers), host };
  const upstream = process.getBuiltinModule('node:http').request(
    {
      host: address,
      port: target.port,
      method: request.method,
      path: `${pathname}${search}`,
      headers,
      timeout: idleTimeoutMs,
      // A connection is used for one request: what a command leaves on it must not reach the next one.
      agent: false,
    },
    (upstreamResponse) => {
      try {
        response.writeHead(upstreamResponse.statusCode ?? 502, withoutHopHeaders(upstreamResponse.headers));
        upstreamResponse.on('error', () => response.destroy()).pipe(response);
      } catch {
        // Node writes no status below 100 and no malformed header.
        response.destroy();
      }
    },
  );
  upstream.on('timeout', () => upstream.destroy());
  upstream.on('upgrade', (_, socket) => {
    socket.destroy();
    response.destroy();
  });
  upstream.on('error', () => response.destroy());
  response.on('error', () => upstream.destroy());
  response.on('close', () => upstream.destroy());
  request.on('error', () => upstream.destroy());
  request.pipe(upstream);
}

/** Headers about one connection, which a proxy does not forward. */
const hopHeaders: ReadonlySet<string> = new Set(
  'connection expect keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** Returns the headers to forward: without those of the connection, and without those that `Connection` names. */
function withoutHopHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.has(name) && !named.includes(name)));
}

/** Returns the header that delimits the body. Without one, Node writes the body of a GET as it is, and the server reads it as another request. */
function bodyFraming(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  if (encoding !== undefined) return { 'transfer-encoding': 'chunked' };
  return length === undefined ? {} : { 'content-length': length };
}

/** A URL omits port 80 only, in a tunnel too. */
function parseTarget(url: string): ProxyTarget | undefined {
  try {
    const { protocol, hostname, port, username, password } = new URL(url);
    if (protocol !== 'http:' || username || password) return undefined;
    return { host: hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, ''), port: port === '' ? 80 : Number(port) };
  } catch {
    return undefined;
  }
}

/** Returns the address to connect to if the host is allowed and all its addresses are public. The checked address is the one that is used. */
async function resolveAllowedAddress(
  { hosts, isPublic }: EgressPolicy,
  { host, port }: ProxyTarget,
): Promise<string | undefined> {
  if (!hosts.some((pattern) => matchesHostPattern(pattern, host, port))) return undefined;
  try {
    const found = await lookup(host, { all: true });
    return found.every(({ address }) => isPublic(address)) ? found[0]?.address : undefined;
  } catch {
    return undefined;
  }
}

function matchesHostPattern(pattern: string, host: string, port: number): boolean {
  const [, name = '', allowedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (allowedPort === undefined ? port !== 80 && port !== 443 : port !== Number(allowedPort)) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
}

const formatRefusal = (target: ProxyTarget | undefined): string =>
  `${target ? `${target.host}:${target.port}` : 'This address'} is not allowed for commands. The user can allow a host: fairlead config set sandbox.hosts <names>\n`;
