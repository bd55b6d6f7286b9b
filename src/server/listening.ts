// The server while it runs: opened at an address, and closed so that nothing under way is torn.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { isLoopback } from '../bridges/proxy/door.ts';
import { FairleadError, errorMessage, type FleetStore } from '../core/index.ts';
import { healthReader, type HealthOptions } from '../fleet/health/index.ts';
import { inboxView } from '../fleet/inbox.ts';
import { appFor } from './app.ts';
import type { Keys } from './keys.ts';
import { usualBounds, type Bounds, type Place } from './place.ts';
import { routes } from './table.ts';
import { watching } from './watching.ts';
import { realOf } from './wishes.ts';

/** How a server is opened. */
export type ServerOptions = {
  readonly store: FleetStore;
  readonly keys: Keys;
  readonly version: string;
  /** 127.0.0.1 unless given; one that others can reach needs keys that a person set. */
  readonly host?: string;
  /** 8080 unless given; 0 for any that is free. */
  readonly port?: number;
  /** Other names under which it may be spoken to. */
  readonly allowedHosts?: readonly string[];
  readonly page?: string;
  /** The folder in which runs work that name none, and others in which they may. */
  readonly folder: string;
  readonly folders?: readonly string[];
  /** What the fleet is held to. */
  readonly health?: HealthOptions;
  /** The folder of what was measured on this machine. */
  readonly measured?: string;
  /** What an edit or a fork of a session takes along of what was seen in it, letters that were read apart. */
  readonly views?: Place['views'];
  readonly models?: Place['models'];
  readonly isModel?: Place['isModel'];
  readonly bounds?: Partial<Bounds>;
  readonly tell?: (sentence: string) => void;
};

/** A server that listens. */
export type ApiServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Takes nothing new, ends the streams, and waits for what is under way; what is not done then is cut. */
  close(graceMs?: number): Promise<void>;
};

/** The port of a server that is not told another. */
export const usualPort = 8080;

/** Opens a server. */
export async function openServer(options: ServerOptions): Promise<ApiServer> {
  const { store, keys, host = '127.0.0.1', port = usualPort, tell = () => {}, allowedHosts = [] } = options;
  if (!isLoopback(host) && keys.weakness !== undefined)
    throw new FairleadError('server/needs-key', `Others could reach a server on ${host}, and ${keys.weakness}.`, {
      blame: 'user',
      hint: 'Set HARNESS_API_KEY to a long key, or let it listen on 127.0.0.1.',
    });
  const ending = new AbortController();
  const bounds: Bounds = { ...usualBounds, ...options.bounds };
  const place: Place = {
    store,
    keys,
    version: options.version,
    watching: watching(store, tell),
    health: healthReader(store, options.health),
    measured: options.measured,
    models: options.models ?? (async () => []),
    isModel: options.isModel ?? (async () => false),
    folders: [realOf(options.folder), ...(options.folders ?? []).map(realOf)],
    views: [inboxView, ...(options.views ?? [])],
    page: options.page,
    bounds,
    tell,
    ending: ending.signal,
  };
  const app = appFor(
    place,
    routes,
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
