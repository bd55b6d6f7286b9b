// Creates the transport of a server by its configuration.
import {
  InMemoryTransport,
  SSEClientTransport,
  type OAuthClientProvider,
  type Transport,
} from '@modelcontextprotocol/client';
import { ChildTransport } from './child.ts';
import { HttpTransport } from './http.ts';
import { createMcpFetch, type McpNetwork } from './mcp-fetch.ts';
import type { McpServer, McpStdioConfig } from './server.ts';
import { WebSocketTransport } from './web-socket.ts';

/** Returns how a local server is started, with its variables expanded; throws if it may not start. Called before each start. */
export type McpLaunch = (server: McpServer, config: McpStdioConfig) => McpStdioConfig | Promise<McpStdioConfig>;

/** Options of createMcpTransport. */
export type McpTransportOptions = {
  readonly environment: NodeJS.ProcessEnv;
  readonly auth?: OAuthClientProvider | undefined;
  readonly network?: McpNetwork;
  readonly launch?: (config: McpStdioConfig) => ReturnType<McpLaunch>;
};

/** Creates a transport that is not started yet. */
export async function createMcpTransport(
  { transport: reach, origin }: Pick<McpServer, 'transport' | 'origin'>,
  { environment, auth, network, launch }: McpTransportOptions,
): Promise<Transport> {
  if (reach.type === 'stdio') return new ChildTransport(launch ? await launch(reach) : reach, environment);
  if (reach.type === 'in-process') {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await reach.serve(theirs);
    return ours;
  }
  if (reach.type === 'ws') return new WebSocketTransport(reach.url, reach.headers);
  const options = {
    fetch: createMcpFetch(reach, origin, network),
    requestInit: { headers: { ...reach.headers } },
    ...(auth ? { authProvider: auth } : {}),
    ...(reach.login?.checkIssuer === false ? { skipIssuerMetadataValidation: true } : {}),
  };
  const url = new URL(reach.url);
  return reach.type === 'sse' ? new SSEClientTransport(url, options) : new HttpTransport(url, options);
}
