// A connection to one MCP server: connected on demand, reconnected after a failure, with limited retries.
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type Client,
  type ServerCapabilities,
  type Transport,
} from '@modelcontextprotocol/client';
import { raceAbort, type UsageTotals } from '../../core/index.ts';
import { ChildTransport } from './child.ts';
import { unreachableError, mcpHandshake, type HandshakeOptions, type McpSession } from './handshake.ts';
import type { ServerRequestCounts } from './client-handlers.ts';
import type { McpServer } from './server.ts';

/** A connection to a server. */
export type McpConnection = {
  readonly server: McpServer;
  /** Returns a connected client. Throws if the server is not available now. */
  client(signal: AbortSignal): Promise<Client>;
  /** Resets the failure count after a successful call. */
  markHealthy(): void;
  /** Runs a call on this client; a client that was discarded meanwhile is closed after its last call. */
  during<Result>(client: Client, call: () => Promise<Result>): Promise<Result>;
  /** Drops this client: later calls get another one, and calls that other callers sent on it can still be answered. */
  discard(client: Client): Promise<void>;
  /** Waits for the user to complete a login that the server requires. Returns false if none is pending. */
  awaitLogin(signal: AbortSignal): Promise<boolean>;
  /** Returns true while the server waits for our answer. That time does not count for the timeout. */
  hasPendingRequests(): boolean;
  /** The capabilities of the server, while connected. */
  capabilities(): ServerCapabilities | undefined;
  /** The negotiated protocol version, while connected. */
  protocolVersion(): string | undefined;
  /** Returns the usage of model responses for this server since the last call. */
  takeSpent(): UsageTotals | undefined;
  /** The process id of a local server. */
  pid(): number | undefined;
  close(): Promise<void>;
};

const minBackoffMs = 500;
const maxBackoffMs = 30_000;

/** Creates a connection, without connecting yet. */
export function createMcpConnection(server: McpServer, options: HandshakeOptions): McpConnection {
  const count: ServerRequestCounts = { pending: 0, samples: 0 };
  const closeController = new AbortController();
  const runningCalls = new Map<Client, number>();
  const discarded = new WeakSet<Client>();
  let session: McpSession | undefined;
  let opening: Promise<McpSession> | undefined;
  let failures = 0;
  let notBefore = 0;
  let lastTransport: Transport | undefined;
  let sharedLogin: { readonly done: Promise<void>; readonly stop: AbortController; waiting: number } | undefined;

  const holdOff = (): void => {
    notBefore = failures === 0 ? 0 : Date.now() + Math.min(minBackoffMs * 2 ** (failures - 1), maxBackoffMs);
  };
  // A server that starts and then fails before any successful call counts as one that does not start.
  const forget = (closedClient: Client): void => {
    if (session?.client !== closedClient) return;
    session = undefined;
    holdOff();
  };

  async function open(): Promise<McpSession> {
    const wait = notBefore - Date.now();
    if (wait > 0) throw unreachableError(server, `it failed; the next attempt is in ${Math.ceil(wait / 1000)} s`);
    failures++;
    try {
      session = await mcpHandshake(server, options, {
        count,
        signal: closeController.signal,
        onEnd: forget,
        onTransport: (transport) => (lastTransport = transport),
      });
      return session;
    } catch (error) {
      holdOff();
      throw error;
    }
  }

  async function reopen(signal: AbortSignal): Promise<McpSession> {
    try {
      return await open();
    } catch (error) {
      if (UnauthorizedError.isInstance(error) && (await login(signal))) return open();
      throw error;
    }
  }

  /** Waits for the login of the user, which calls that were rejected at the same time share: its code is exchanged once. It ends when no caller waits. */
  async function login(signal: AbortSignal): Promise<boolean> {
    const { signIn } = options;
    if (!sharedLogin) {
      if (!signIn?.isPending() || !isRemoteTransport(lastTransport)) return false;
      const stop = new AbortController();
      const done = finishLogin(lastTransport, signIn.awaitCallback(stop.signal)).finally(
        () => (sharedLogin = undefined),
      );
      done.catch(() => {});
      sharedLogin = { done, stop, waiting: 0 };
    }
    const current = sharedLogin;
    current.waiting++;
    try {
      await raceAbort(signal, () => current.done);
      return true;
    } finally {
      if (--current.waiting === 0) current.stop.abort();
    }
  }

  async function finishLogin(transport: RemoteTransport, params: Promise<URLSearchParams>): Promise<void> {
    await transport.finishAuth(await params);
    failures = 0;
    notBefore = 0;
  }

  async function closeIfDiscarded(client: Client): Promise<void> {
    if (discarded.has(client) && !runningCalls.has(client)) await client.close().catch(() => {});
  }

  return {
    server,
    async client(signal) {
      if (closeController.signal.aborted) throw unreachableError(server, 'it was closed');
      signal.throwIfAborted();
      if (session) return session.client;
      opening ??= reopen(signal).finally(() => (opening = undefined));
      const attempt = opening;
      return (await raceAbort(signal, () => attempt)).client;
    },
    markHealthy() {
      failures = 0;
      notBefore = 0;
    },
    async during(client, call) {
      runningCalls.set(client, (runningCalls.get(client) ?? 0) + 1);
      try {
        return await call();
      } finally {
        const others = (runningCalls.get(client) ?? 1) - 1;
        if (others > 0) runningCalls.set(client, others);
        else runningCalls.delete(client);
        await closeIfDiscarded(client);
      }
    },
    async discard(client) {
      forget(client);
      discarded.add(client);
      await closeIfDiscarded(client);
    },
    awaitLogin: login,
    hasPendingRequests: () => count.pending > 0,
    capabilities: () => session?.client.getServerCapabilities(),
    protocolVersion: () => session?.client.getNegotiatedProtocolVersion(),
    takeSpent() {
      const { spent } = count;
      delete count.spent;
      return spent;
    },
    pid: () => (session?.transport instanceof ChildTransport ? (session.transport.pid ?? undefined) : undefined),
    async close() {
      closeController.abort();
      // Otherwise a transport that has not connected yet would be waited for.
      if (!session) await lastTransport?.close().catch(() => {});
      const last = session ?? (await opening?.catch(() => undefined));
      session = undefined;
      options.signIn?.close();
      await Promise.all([...runningCalls.keys()].map((client) => client.close().catch(() => {})));
      if (last?.transport instanceof StreamableHTTPClientTransport)
        await Promise.race([last.transport.terminateSession().catch(() => {}), delay(1000)]);
      await last?.client.close().catch(() => {});
    },
  };
}

type RemoteTransport = StreamableHTTPClientTransport | SSEClientTransport;

const isRemoteTransport = (transport: unknown): transport is RemoteTransport =>
  transport instanceof StreamableHTTPClientTransport || transport instanceof SSEClientTransport;

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
