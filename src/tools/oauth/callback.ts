// The OAuth redirect listener: a loopback address that accepts one request, the one with the expected state.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FairleadError, errorMessage } from '../../core/index.ts';

/** A waiting redirect listener. */
export type OAuthCallback = {
  /** The parameters that arrived with this state. */
  readonly params: Promise<URLSearchParams>;
  close(): void;
};

const callbackHost = '127.0.0.1';
const callbackPath = '/callback';
const callbackTimeoutMs = 300_000;
const lastResponseMs = 1000;

/** Returns the redirect URI of a port. */
export const callbackUrl = (port: number): string => `http://${callbackHost}:${port}${callbackPath}`;

/** Finds a free port. */
export async function findFreePort(): Promise<number> {
  const server = process.getBuiltinModule('node:http').createServer();
  const { port } = await listen(server, 0);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** Listens on this port for a request with this state. All other requests are rejected. */
export async function listenForCallback(port: number, state: string): Promise<OAuthCallback> {
  const { promise: arrived, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  // The caller may not be waiting for it yet.
  arrived.catch(() => {});
  const server = process.getBuiltinModule('node:http').createServer((request, response) => {
    // Any page in the browser can send requests here, and a request line can be anything, such as `//`.
    const url = URL.parse(request.url ?? '/', callbackUrl(port));
    if (url === null || url.origin !== new URL(callbackUrl(port)).origin)
      return void response.writeHead(400, { connection: 'close' }).end();
    const ours = request.method === 'GET' && url.pathname === callbackPath && url.searchParams.get('state') === state;
    response.writeHead(ours ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(ours ? 'Done. You can close this page and go back to the terminal.' : 'No login is pending here.');
    if (!ours) return;
    resolve(url.searchParams);
    close();
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    else socket.destroy();
  });
  const timer = setTimeout(() => {
    reject(
      new FairleadError('oauth/login-late', 'The login was not completed within five minutes.', { blame: 'user' }),
    );
    close();
  }, callbackTimeoutMs);
  const close = (): void => {
    clearTimeout(timer);
    reject(new FairleadError('oauth/login-ended', 'The login was cancelled.', { blame: 'user' }));
    server.close();
    // A connection that was left open ends too, after the last response had time to leave.
    setTimeout(() => server.closeAllConnections(), lastResponseMs).unref();
  };
  try {
    await listen(server, port);
  } catch (cause) {
    clearTimeout(timer);
    throw new FairleadError(
      'oauth/callback',
      `The login cannot be redirected to port ${port}: ${errorMessage(cause)}`,
      {
        blame: 'user',
        hint: 'End the program that uses this port, or set another one ("callbackPort" under "oauth" of an MCP server).',
        cause,
      },
    );
  }
  // An error of the listener after its start ends this login, not the program.
  server.on('error', close);
  return { params: arrived, close };
}

async function listen(server: Server, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, callbackHost, resolve);
  });
  return server.address() as AddressInfo;
}
