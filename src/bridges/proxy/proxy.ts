// An HTTP endpoint in front of any model: callers change their base URL and nothing else, and are guided.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mergeExtensions, type Extension } from '../../agent/index.ts';
import { FairleadError, errorMessage } from '../../core/index.ts';
import { createConversationTracker, type ConversationTrackerOptions } from '../conversation-tracking/tracker.ts';
import { detectWireFormat } from '../formats/detect.ts';
import { authorizeRequest, isLoopback } from './auth.ts';
import { interceptRequest, passThrough, sendJsonError, type ProxyContext } from './handler.ts';
import { createUpstream } from './upstream.ts';

/** How a proxy is opened. */
export type ProxyOptions = Pick<
  ConversationTrackerOptions,
  'folder' | 'maxOpen' | 'limits' | 'price' | 'window' | 'readOnlyTools' | 'system' | 'isFailure'
> & {
  /** The model server behind it. */
  readonly target: string;
  /** What guides: rules, gates, stops, checks, views and reminders. */
  readonly extensions?: readonly Extension[];
  /** 4774 unless given; 0 for any that is free. */
  readonly port?: number;
  /** 127.0.0.1 unless given; one that others can reach needs a token. */
  readonly host?: string;
  readonly token?: string;
  /** The longest request that is read, in bytes; 32 MiB unless given. */
  readonly maxBodyBytes?: number;
  /** How many requests may be under way at once; 256 unless given. */
  readonly maxRequests?: number;
  /** Is told what went wrong and did not fail a request. Keys of callers are never in it. */
  readonly notify?: (sentence: string) => void;
};

/** A proxy while it runs. */
export type ProxyServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
};

/** The port of a proxy that is not told another. */
export const defaultProxyPort = 4774;

/** Opens a proxy. */
export async function openProxy(options: ProxyOptions): Promise<ProxyServer> {
  const {
    target,
    extensions = [],
    port = defaultProxyPort,
    host = '127.0.0.1',
    token,
    notify = () => {},
    ...kept
  } = options;
  if (!isLoopback(host) && !token)
    throw new FairleadError('proxy/needs-token', `Others could reach a proxy on ${host}, so it needs a token.`, {
      blame: 'user',
      hint: 'Give it a token, or let it listen on 127.0.0.1.',
    });
  const { maxBodyBytes = 32 * 1024 * 1024, maxRequests = 256, ...how } = kept;
  const parts = mergeExtensions(extensions);
  const place: ProxyContext = {
    upstream: createUpstream(target),
    tracker: createConversationTracker({ ...parts, ...how }),
    holdText: parts.checks.length > 0,
    maxBodyBytes,
    notify,
  };
  let under = 0;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const admission = authorizeRequest(incoming, token);
    if (admission.type === 'out')
      return sendJsonError(outgoing, admission.status, { error: { message: admission.message } });
    if (under >= maxRequests) {
      const message = `${maxRequests} requests are under way: try again.`;
      return sendJsonError(outgoing, 503, { error: { message, type: 'fairlead_error' } }, { 'retry-after': '1' });
    }
    under++;
    const gone = new AbortController();
    outgoing.once('close', () => {
      under--;
      if (!outgoing.writableFinished) gone.abort();
    });
    const visit = { incoming, outgoing, path: admission.path, signal: gone.signal };
    const dialect = incoming.method === 'POST' ? detectWireFormat(admission.path.split('?')[0] ?? '/') : undefined;
    await (dialect ? interceptRequest(place, visit, dialect) : passThrough(place, visit));
  }

  function failed(error: unknown, outgoing: ServerResponse): void {
    if (outgoing.destroyed) return;
    if (outgoing.headersSent) return void outgoing.destroy();
    if (error instanceof FairleadError && error.blame === 'user')
      return sendJsonError(outgoing, 400, { error: { message: error.message, type: 'fairlead_error' } });
    const message = `The model server could not be asked: ${errorMessage(error)}`;
    notify(message);
    sendJsonError(outgoing, 502, { error: { message, type: 'fairlead_error' } });
  }

  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => failed(error, outgoing));
  });
  await listenOn(server, port, host);
  const { port: got } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    await closed.promise;
    place.upstream.close();
    await place.tracker.close();
  };
  const named = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${named}:${got}`, port: got, close, [Symbol.asyncDispose]: close };
}

async function listenOn(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise.catch((cause: unknown) => {
    throw new FairleadError('proxy/cannot-listen', `Port ${port} cannot be listened on: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Give another port, or 0 for any that is free.',
      cause,
    });
  });
}
