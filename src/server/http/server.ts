// Starts the HTTP server, alone or together with a worker for one agent, and closes it after its active requests.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { FairleadError, errorMessage, isLoopbackHost, type FleetStore } from '../../core/index.ts';
import type { HealthOptions } from '../../fleet/health/index.ts';
import { inboxView, worker, type AgentSource, type AgentWorkerOptions } from '../../fleet/index.ts';
import { createApp } from './app.ts';
import { type ApiKeys, createApiKeys, type ApiKey } from './keys.ts';
import { defaultServerLimits, type ServerLimits, type ServerContext } from './context.ts';
import { apiRoutes } from './routes/index.ts';
import type { ServerParts } from './request-context.ts';
import type { Route } from './route.ts';
import { resolveRealPath } from './run-authority.ts';

/** The options of a server. */
export type ServerOptions = {
  readonly store: FleetStore;
  readonly keys: ApiKeys;
  readonly version: string;
  /** 127.0.0.1 by default; an address that other machines can reach needs configured keys. */
  readonly host?: string;
  /** 8080 by default; 0 for any free port. */
  readonly port?: number;
  /** Further values of the Host header that are allowed. */
  readonly allowedHosts?: readonly string[];
  readonly staticDir?: string;
  /** The default folder of runs, and further folders that runs may work in. */
  readonly folder: string;
  readonly folders?: readonly string[];
  /** Objectives and thresholds of the health report. */
  readonly health?: HealthOptions;
  /** The directory of the measurements of this machine. */
  readonly measurementsDir?: string;
  /** Views whose state an edit or a fork of a session keeps, besides that of the inbox. */
  readonly views?: ServerContext['views'];
  readonly models?: ServerContext['models'];
  readonly isModel?: ServerContext['isModel'];
  readonly limits?: Partial<ServerLimits>;
  readonly notify?: (message: string) => void;
};

/** A running server. */
export type ApiServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Accepts no new requests, ends the streams and waits for active requests; after `graceMs` their connections are closed. */
  close(graceMs?: number): Promise<void>;
};

/** The default port. */
export const defaultServerPort = 8080;

/** Starts a server. */
export const startApiServer = (options: ServerOptions): Promise<ApiServer> => serveRoutes(options, apiRoutes);

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
  const shutdown = new AbortController();
  const limits: ServerLimits = { ...defaultServerLimits, ...options.limits };
  const parts: ServerParts = {
    fleetStore: store,
    keys,
    version: options.version,
    healthOptions: options.health,
    measurementsDir: options.measurementsDir,
    models: options.models ?? (async () => []),
    isModel: options.isModel ?? (async () => false),
    folders: [
      await resolveRealPath(options.folder),
      ...(await Promise.all((options.folders ?? []).map(resolveRealPath))),
    ],
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

/** The options of a server in a program of your own. */
export type CreateServerOptions = Omit<ServerOptions, 'keys' | 'version' | 'folder'> &
  Partial<Pick<ServerOptions, 'version' | 'folder'>> & {
    /** The agent of the runs: an `Agent`, or a function that creates one for each run. Without it, other processes must handle the runs. */
    readonly agent?: AgentSource;
    /** The key of an operator, or keys with their roles. */
    readonly keys: string | readonly ApiKey[] | ApiKeys;
    /** Options of the worker, such as `concurrency` and handlers of further kinds of runs. */
    readonly worker?: Omit<AgentWorkerOptions, 'store' | 'agent'>;
  };

/** Starts the HTTP API and, if there is an agent, a worker. `close` lets the worker finish its current steps; the store stays open. */
export async function createServer({
  agent,
  keys,
  worker: workerOptions,
  version = '0.0.0',
  folder = process.cwd(),
  ...options
}: CreateServerOptions): Promise<ApiServer> {
  const { store, notify } = options;
  const models = async (): Promise<readonly string[]> =>
    agent === undefined || typeof agent === 'function' ? [] : [(await agent.resolve()).provider.model];
  const server = await startApiServer({ models, ...options, version, folder, keys: toApiKeys(keys) });
  if (agent === undefined) return server;
  const running = worker({ store, agent, ...(notify ? { notify } : {}), ...workerOptions }).start();
  const close = async (graceMs?: number): Promise<void> => {
    running.stop();
    await Promise.all([server.close(graceMs), running.done]);
  };
  return { ...server, close, [Symbol.asyncDispose]: () => close() };
}

function toApiKeys(keys: CreateServerOptions['keys']): ApiKeys {
  if (typeof keys === 'string') return createApiKeys([{ role: 'operator', key: keys }]);
  return 'authenticate' in keys ? keys : createApiKeys(keys);
}
