// Serves a set of routes over HTTP, and closes the server after its active requests.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { FairleadError, errorMessage, isLoopbackHost } from '../../core/index.ts';
import { inboxView } from '../../fleet/index.ts';
import { createApp } from './app.ts';
import { defaultServerLimits, type ServerLimits } from './context.ts';
import type { ServerParts } from './request-context.ts';
import type { Route } from './route.ts';
import { resolveRealPath } from './run-authority.ts';
import { defaultServerPort, type ApiServer, type ServerOptions } from './server-options.ts';

/** Starts a server of these routes. Every request passes the same guards, whatever the routes are. */
export async function serveRoutes(options: ServerOptions, routes: readonly Route[]): Promise<ApiServer> {
  const { store, keys, host = '127.0.0.1', port = defaultServerPort, notify = () => {}, allowedHosts = [] } = options;
  if (!isLoopbackHost(host) && keys.weaknessReason !== undefined)
    throw new FairleadError(
      'server/needs-key',
      `Refusing to listen on ${host}: it is reachable from other machines and ${keys.weaknessReason}.`,
      {
        blame: 'user',
        hint: 'Set HARNESS_API_KEY to at least 16 characters, or listen on 127.0.0.1.',
      },
    );
  // A name that a proxy may use makes the server reachable from elsewhere.
  const isLocal = isLoopbackHost(host) && allowedHosts.length === 0;
  const shutdown = new AbortController();
  const limits: ServerLimits = { ...defaultServerLimits, ...options.limits };
  const parts: ServerParts = {
    fleetStore: store,
    keys,
    version: options.version,
    healthOptions: options.health,
    measurementsDir: options.measurementsDir,
    calibrations: options.calibrations ?? (() => ({ calibrations: [], problems: [] })),
    releases: options.releases,
    replay: options.replay,
    models: options.models ?? (async () => []),
    isModel: options.isModel ?? (async () => false),
    folders: [
      await resolveRealPath(options.folder),
      ...(await Promise.all((options.folders ?? []).map(resolveRealPath))),
    ],
    isLocal,
    terminalSessions: isLocal ? options.terminalSessions : undefined,
    views: [inboxView, ...(options.views ?? [])],
    staticDir: options.staticDir,
    limits,
    notify,
    shutdownSignal: shutdown.signal,
  };
  const app = createApp(
    parts,
    routes,
    [host, ...allowedHosts].map((each) => each.toLowerCase()),
  );
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(1000, Math.max(50, limits.headersMs / 4)),
      keepAliveTimeout: 65_000,
    },
  }) as Server;
  server.maxConnections = limits.connections;
  await listen(server, port, host);
  const { port: boundPort } = server.address() as AddressInfo;
  const close = async (graceMs = 5000): Promise<void> => {
    if (shutdown.signal.aborted) return;
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    shutdown.abort();
    // Keep-alive connections become idle after their last response: close them as they do.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed.promise;
    clearTimeout(late);
    clearInterval(idle);
  };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    port: boundPort,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The listener stays: a connection that cannot be accepted later, such as for lack of file descriptors, is an error of the server.
  server.on('error', reject).listen(port, host, resolve);
  await promise.catch((cause: unknown) => {
    throw new FairleadError('server/cannot-listen', `Cannot listen on port ${port}: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Choose another port with --port, or 0 for any free one.',
      cause,
    });
  });
}
