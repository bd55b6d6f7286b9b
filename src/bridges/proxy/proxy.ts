// An HTTP endpoint in front of any model: callers change their base URL and nothing else, and are guided.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mergeExtensions, type Extension } from '../../agent/index.ts';
import { FairleadError, errorMessage } from '../../core/index.ts';
import { openConversations, type ConversationOptions } from '../conversations/conversations.ts';
import { dialectOf } from '../dialects/table.ts';
import { admit, isLoopback } from './door.ts';
import { guideThrough, passThrough, refuse, type Place } from './handling.ts';
import { upstreamAt } from './upstream.ts';

/** How a proxy is opened. */
export type ProxyOptions = Pick<
  ConversationOptions,
  'folder' | 'most' | 'limits' | 'price' | 'window' | 'reads' | 'system' | 'isFailure'
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
  readonly mostBytes?: number;
  /** How many requests may be under way at once; 256 unless given. */
  readonly mostRequests?: number;
  /** Is told what went wrong and did not fail a request. Keys of callers are never in it. */
  readonly tell?: (sentence: string) => void;
};

/** A proxy while it runs. */
export type Proxy = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
};

/** The port of a proxy that is not told another. */
export const usualPort = 4774;

/** Opens a proxy. */
export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const { target, extensions = [], port = usualPort, host = '127.0.0.1', token, tell = () => {}, ...kept } = options;
  if (!isLoopback(host) && !token)
    throw new FairleadError('proxy/needs-token', `Others could reach a proxy on ${host}, so it needs a token.`, {
      blame: 'user',
      hint: 'Give it a token, or let it listen on 127.0.0.1.',
    });
  const { mostBytes = 32 * 1024 * 1024, mostRequests = 256, ...how } = kept;
  const parts = mergeExtensions(extensions);
  const place: Place = {
    upstream: upstreamAt(target),
    conversations: openConversations({ ...parts, ...how }),
    holdsWords: parts.checks.length > 0,
    mostBytes,
    tell,
  };
  let under = 0;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const admission = admit(incoming, token);
    if (admission.type === 'out') return refuse(outgoing, admission.status, { error: { message: admission.sentence } });
    if (under >= mostRequests) {
      const message = `${mostRequests} requests are under way: try again.`;
      return refuse(outgoing, 503, { error: { message, type: 'fairlead_error' } }, { 'retry-after': '1' });
    }
    under++;
    const gone = new AbortController();
    outgoing.once('close', () => {
      under--;
      if (!outgoing.writableFinished) gone.abort();
    });
    const visit = { incoming, outgoing, path: admission.path, signal: gone.signal };
    const dialect = incoming.method === 'POST' ? dialectOf(admission.path.split('?')[0] ?? '/') : undefined;
    await (dialect ? guideThrough(place, visit, dialect) : passThrough(place, visit));
  }

  function failed(error: unknown, outgoing: ServerResponse): void {
    if (outgoing.destroyed) return;
    if (outgoing.headersSent) return void outgoing.destroy();
    if (error instanceof FairleadError && error.blame === 'user')
      return refuse(outgoing, 400, { error: { message: error.message, type: 'fairlead_error' } });
    const message = `The model server could not be asked: ${errorMessage(error)}`;
    tell(message);
    refuse(outgoing, 502, { error: { message, type: 'fairlead_error' } });
  }

  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ keepAliveTimeout: 65_000 }, (incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: unknown) => failed(error, outgoing));
  });
  await listening(server, port, host);
  const { port: got } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    server.closeAllConnections();
    await closed.promise;
    place.upstream.close();
    await place.conversations.close();
  };
  const named = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${named}:${got}`, port: got, close, [Symbol.asyncDispose]: close };
}

async function listening(server: Server, port: number, host: string): Promise<void> {
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
