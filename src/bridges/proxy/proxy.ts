// HTTP proxy in front of a model API: callers only change their base URL.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mergeExtensions, type Extension } from '../../agent/index.ts';
import { FairleadError, errorMessage, isLoopbackHost } from '../../core/index.ts';
import { createConversationTracker, type ConversationTrackerOptions } from '../conversation-tracking/tracker.ts';
import { detectWireFormat } from '../../wire/formats/index.ts';
import { authorizeRequest } from './auth.ts';
import { interceptRequest, passThrough, sendJsonError, type ProxyContext } from './handler.ts';
import type { ExchangeGuard } from './guard-exchange.ts';
import type { DlpPolicy } from '../../guards/dlp/index.ts';
import { resolveProxyPath } from './request-path.ts';
import { createUnguidedReport, isUnguided } from './unguided.ts';
import { createUpstream } from './upstream.ts';

/** Options of a proxy. */
export type ProxyOptions = Pick<
  ConversationTrackerOptions,
  'folder' | 'maxOpen' | 'limits' | 'price' | 'window' | 'readOnlyTools' | 'system' | 'isFailure' | 'flow' | 'askUser'
> & {
  /** The upstream model server. */
  readonly target: string;
  /** Rules, gates, stop conditions, checks, views and reminders. */
  readonly extensions?: readonly Extension[];
  /** Default 4774; 0 for any free port. */
  readonly port?: number;
  /** Default 127.0.0.1; a host that other machines can reach requires a token. */
  readonly host?: string;
  readonly token?: string;
  /** Max request size in bytes; default 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Max concurrent requests; default 256. */
  readonly maxRequests?: number;
  /** Data loss prevention for requests to the model server: a policy, or false for none. By default the default policy, unless the server is on this machine. */
  readonly dlp?: DlpPolicy | false;
  /** Refuses requests to which the rules cannot be applied, instead of forwarding them; false by default. */
  readonly strict?: boolean;
  /** Called with problems that did not fail a request; never contains keys of callers. */
  readonly notify?: (sentence: string) => void;
};

/** A running proxy. */
export type ProxyServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
};

/** The default port. */
export const defaultProxyPort = 4774;

/** Starts a proxy. */
export async function openProxy(options: ProxyOptions): Promise<ProxyServer> {
  const {
    target,
    extensions = [],
    port = defaultProxyPort,
    host = '127.0.0.1',
    token,
    dlp,
    strict = false,
    notify = () => {},
    ...kept
  } = options;
  if (!isLoopbackHost(host) && !token)
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
    ...(await openGuard(target, dlp)),
  };
  const flowMode = typeof how.flow === 'object' ? how.flow.mode : how.flow;
  const hasPolicy = extensions.length > 0 || flowMode !== 'off';
  const reportUnguided = createUnguidedReport(hasPolicy && !strict ? notify : () => {});
  let under = 0;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const admission = authorizeRequest(incoming, token);
    if (admission.type === 'out')
      return sendJsonError(outgoing, admission.status, { error: { message: admission.message } });
    if (under >= maxRequests) {
      const message = `${maxRequests} requests are in progress: try again.`;
      return sendJsonError(outgoing, 503, { error: { message, type: 'fairlead_error' } }, { 'retry-after': '1' });
    }
    under++;
    const gone = new AbortController();
    outgoing.once('close', () => {
      under--;
      if (!outgoing.writableFinished) gone.abort();
    });
    const { method = 'GET' } = incoming;
    // Clients that try a WebSocket first use HTTP at once after this status.
    if (/\bwebsocket\b/i.test(incoming.headers.upgrade ?? ''))
      return sendJsonError(outgoing, 426, { error: { message: webSocketMessage, type: 'fairlead_error' } });
    const target = resolveProxyPath(admission.path, method);
    if (target.type === 'refused')
      return sendJsonError(outgoing, 400, { error: { message: target.message, type: 'fairlead_error' } });
    const path = target.query === '' ? target.pathname : `${target.pathname}?${target.query}`;
    const visit = { incoming, outgoing, path, signal: gone.signal };
    const dialect = method === 'POST' ? detectWireFormat(target.pathname) : undefined;
    if (dialect) return interceptRequest(place, visit, dialect);
    if (isUnguided(method, target.pathname, incoming.headers)) {
      if (strict)
        return sendJsonError(outgoing, 403, {
          error: { message: strictMessage(target.pathname), type: 'fairlead_error' },
        });
      reportUnguided(method, target.pathname);
    }
    await passThrough(place, visit);
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

const webSocketMessage = 'The proxy reads HTTP requests: send the request without a WebSocket.';

const strictMessage = (pathname: string): string =>
  `The rules of the proxy cannot be applied to ${pathname}, and it refuses such requests (--strict).`;

async function listenOn(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The listener stays: a connection that cannot be accepted later, such as for lack of file descriptors, is an error of the server.
  server.on('error', reject).listen(port, host, resolve);
  await promise.catch((cause: unknown) => {
    throw new FairleadError('proxy/cannot-listen', `Port ${port} cannot be listened on: ${errorMessage(cause)}`, {
      blame: 'user',
      hint: 'Give another port, or 0 for any that is free.',
      cause,
    });
  });
}

/** The guard of requests to a model server. An address that cannot be read is not on this machine. */
async function openGuard(
  target: string,
  dlp: DlpPolicy | false | undefined,
): Promise<{ readonly guard?: ExchangeGuard }> {
  const isLocal = URL.canParse(target) && isLoopbackHost(new URL(target).hostname);
  if (dlp === false || (dlp === undefined && isLocal)) return {};
  const [{ createDlpPolicy }, { createExchangeGuard }] = await Promise.all([
    import('../../guards/dlp/index.ts'),
    import('./guard-exchange.ts'),
  ]);
  return { guard: createExchangeGuard(dlp ?? createDlpPolicy()) };
}
