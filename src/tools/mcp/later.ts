// A connection for which nothing is loaded before it is first used: the protocol's library costs more than most starts of the program.
import type { ServerCapabilities } from '@modelcontextprotocol/client';
import { FairleadError } from '../../core/index.ts';
import type { Connection } from './connection.ts';
import type { Remembered } from './memory.ts';
import type { McpServer } from './server.ts';

/** Who is told how it went with a connection. */
export type Watcher = { ready(): void; failed(error: unknown): void };

/** A connection that is made when it is first asked for a client. `known` is what the server had before. */
export function connectionLater(
  server: McpServer,
  open: () => Promise<Connection>,
  known: Remembered | undefined,
  watcher: Watcher,
): Connection {
  let opening: Promise<Connection> | undefined;
  let made: Connection | undefined;
  let closed = false;
  const offered: ServerCapabilities | undefined = known && {
    ...(known.resources ? { resources: {} } : {}),
    ...(known.prompts ? { prompts: {} } : {}),
  };
  const opened = async (): Promise<Connection> => {
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
        watcher.ready();
        return client;
      } catch (error) {
        if (!signal.aborted) watcher.failed(error);
        throw error;
      }
    },
    worked: () => made?.worked(),
    drop: async (client) => made?.drop(client),
    login: async (signal) => (made ? made.login(signal) : false),
    isAsking: () => made?.isAsking() ?? false,
    offers: () => made?.offers() ?? offered,
    protocol: () => made?.protocol(),
    pid: () => made?.pid(),
    spent: () => made?.spent(),
    async close() {
      closed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
