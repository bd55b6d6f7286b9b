// A connection for which nothing is loaded before it is first used: the protocol's library costs more than most starts of the program.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { FairleadError } from '../../core/index.ts';
import type { McpConnection } from './connection.ts';
import type { CachedMcpServer } from './tool-cache.ts';
import type { McpServer } from './server.ts';

/** Who is told how it went with a connection. */
export type ConnectionObserver = { onReady(): void; onFailed(error: unknown): void };

/** A connection that is made when it is first asked for a client. `known` is what the server had before. */
export function createLazyConnection(
  server: McpServer,
  open: () => Promise<McpConnection>,
  known: CachedMcpServer | undefined,
  watcher: ConnectionObserver,
): McpConnection {
  let opening: Promise<McpConnection> | undefined;
  let made: McpConnection | undefined;
  let closed = false;
  const offered: ServerCapabilities | undefined = known && {
    ...(known.resources ? { resources: {} } : {}),
    ...(known.prompts ? { prompts: {} } : {}),
  };
  const opened = async (): Promise<McpConnection> => {
    if (closed) throw new FairleadError('mcp/closed', 'The MCP servers were closed.', { blame: 'harness' });
    opening ??= open();
    made = await opening;
    return made;
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
    markHealthy: () => made?.markHealthy(),
    discard: async (client) => made?.discard(client),
    awaitLogin: async (signal) => (made ? made.awaitLogin(signal) : false),
    hasPendingRequests: () => made?.hasPendingRequests() ?? false,
    capabilities: () => made?.capabilities() ?? offered,
    protocolVersion: () => made?.protocolVersion(),
    pid: () => made?.pid(),
    takeSpent: () => made?.takeSpent(),
    async close() {
      closed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
