// A lazy connection: the protocol library is loaded on first use, because it takes longer than most program starts.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { FairleadError } from '../../core/index.ts';
import type { McpConnection } from './connection.ts';
import type { CachedMcpServer } from './tool-cache.ts';
import type { McpServer } from './server.ts';

/** Callbacks about connection attempts. */
export type ConnectionObserver = { onReady(): void; onFailed(error: unknown): void };

/** Creates a connection that connects when a client is first requested. `known` is the cached state of the server. */
export function createLazyConnection(
  server: McpServer,
  open: () => Promise<McpConnection>,
  known: CachedMcpServer | undefined,
  watcher: ConnectionObserver,
): McpConnection {
  let opening: Promise<McpConnection> | undefined;
  let connection: McpConnection | undefined;
  let closed = false;
  const offered: ServerCapabilities | undefined = known && {
    ...(known.resources ? { resources: {} } : {}),
    ...(known.prompts ? { prompts: {} } : {}),
  };
  const opened = async (): Promise<McpConnection> => {
    if (closed) throw new FairleadError('mcp/closed', 'The MCP servers were closed.', { blame: 'harness' });
    opening ??= open();
    connection = await opening;
    return connection;
  };
  return {
    server,
    async client(signal) {
      try {
        const client = await (await opened()).client(signal);
        watcher.onReady();
        return client;
      } catch (error) {
        if (!signal.aborted) watcher.onFailed(error);
        throw error;
      }
    },
    markHealthy: () => connection?.markHealthy(),
    during: (client, call) => (connection ? connection.during(client, call) : call()),
    discard: async (client) => connection?.discard(client),
    awaitLogin: async (signal) => (connection ? connection.awaitLogin(signal) : false),
    hasPendingRequests: () => connection?.hasPendingRequests() ?? false,
    capabilities: () => connection?.capabilities() ?? offered,
    protocolVersion: () => connection?.protocolVersion(),
    pid: () => connection?.pid(),
    takeSpent: () => connection?.takeSpent(),
    async close() {
      closed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
