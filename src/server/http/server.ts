// The server while it runs: opened at an address, and closed so that nothing under way is torn.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { FairleadError, errorMessage, isLoopbackHost, type FleetStore } from '../../core/index.ts';
import { createHealthReader, type HealthOptions } from '../../fleet/health/index.ts';
import { inboxView } from '../../fleet/inbox.ts';
import { createApp } from './app.ts';
import type { ApiKeys } from './keys.ts';
import { defaultServerLimits, type ServerLimits, type ServerContext } from './context.ts';
import { apiRoutes } from './routes/index.ts';
import { createBroadcasters } from './broadcasters.ts';
import { resolveRealPath } from './run-request.ts';

/** How a server is opened. */
export type ServerOptions = {
  readonly store: FleetStore;
  readonly keys: ApiKeys;
  readonly version: string;
  /** 127.0.0.1 unless given; one that others can reach needs keys that a person set. */
  readonly host?: string;
  /** 8080 unless given; 0 for any that is free. */
  readonly port?: number;
  /** Other names under which it may be spoken to. */
  readonly allowedHosts?: readonly string[];
  readonly staticDir?: string;
  /** The folder in which runs work that name none, and others in which they may. */
  readonly folder: string;
  readonly folders?: readonly string[];
  /** What the fleet is held to. */
  readonly health?: HealthOptions;
  /** The folder of what was measured on this machine. */
  readonly measurementsDir?: string;
  /** What an edit or a fork of a session takes along of what was seen in it, letters that were read apart. */
  readonly views?: ServerContext['views'];
  readonly models?: ServerContext['models'];
  readonly isModel?: ServerContext['isModel'];
  readonly limits?: Partial<ServerLimits>;
  readonly notify?: (sentence: string) => void;
};

/** A server that listens. */
export type ApiServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Takes nothing new, ends the streams, and waits for what is under way; what is not done then is cut. */
  close(graceMs?: number): Promise<void>;
};

/** The port of a server that is not told another. */
export const defaultServerPort = 8080;

/** Opens a server. */
export async function startApiServer(options: ServerOptions): Promise<ApiServer> {
  const { store, keys, host = '127.0.0.1', port = defaultServerPort, notify = () => {}, allowedHosts = [] } = options;
  if (!isLoopbackHost(host) && keys.weaknessReason !== undefined)
    throw new FairleadError('server/needs-key', `Others could reach a server on ${host}, and ${keys.weaknessReason}.`, {
      blame: 'user',
      hint: 'Set HARNESS_API_KEY to a long key, or let it listen on 127.0.0.1.',
    });
  const ending = new AbortController();
  const bounds: ServerLimits = { ...defaultServerLimits, ...options.limits };
  const place: ServerContext = {
    store,
    keys,
    version: options.version,
    broadcasters: createBroadcasters(store, notify),
    health: createHealthReader(store, options.health),
    measurementsDir: options.measurementsDir,
    models: options.models ?? (async () => []),
    isModel: options.isModel ?? (async () => false),
    folders: [resolveRealPath(options.folder), ...(options.folders ?? []).map(resolveRealPath)],
    views: [inboxView, ...(options.views ?? [])],
    staticDir: options.staticDir,
    limits: bounds,
    notify,
    shutdownSignal: ending.signal,
  };
  const app = createApp(
    place,
    apiRoutes,
    [host, ...allowedHosts].map((each) => each.toLowerCase()),
  );
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: bounds.headersMs,
      requestTimeout: bounds.requestMs,
      connectionsCheckingInterval: Math.min(1000, Math.max(50, bounds.headersMs / 4)),
      keepAliveTimeout: 65_000,
    },
  }) as Server;
  server.maxConnections = bounds.connections;
  await listen(server, port, host);
  const { port: got } = server.address() as AddressInfo;
  const close = async (graceMs = 5000): Promise<void> => {
    if (ending.signal.aborted) return;
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    ending.abort();
    // A connection whose last answer has just gone out would be kept for the next request.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed.promise;
    clearTimeout(late);
    clearInterval(idle);
  };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${got}`,
    port: got,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise.catch((cause: unknown) => {
    throw new FairleadError('server/cannot-listen', `Port ${port} cannot be listened on: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Give another port (--port), or 0 for any that is free.',
      cause,
    });
  });
}
