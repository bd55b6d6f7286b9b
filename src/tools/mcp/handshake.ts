// Connects to an MCP server: negotiates the newest protocol version, initializes, and lists its tools.
import {
  Client,
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
  type RequestOptions,
  type ServerCapabilities,
  type Tool as Listed,
  type Transport,
} from '@modelcontextprotocol/client';
import manifest from '../../../package.json' with { type: 'json' };
import { FairleadError, errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { ChildTransport } from './child.ts';
import type { McpSignIn } from './oauth.ts';
import {
  registerClientHandlers,
  clientCapabilities,
  type McpClientHandlers,
  type ServerRequestCounts,
} from './client-handlers.ts';
import type { McpNetwork } from './mcp-fetch.ts';
import type { McpServer } from './server.ts';
import { createMcpTransport, type McpTransportOptions } from './transport.ts';

/** Options of the handshake. */
export type HandshakeOptions = {
  readonly handlers: McpClientHandlers;
  readonly environment: NodeJS.ProcessEnv;
  /** Milliseconds for a server to start, initialize and list its tools. */
  readonly startTimeoutMs: number;
  /** Logs in to a remote server that requires it. */
  readonly signIn?: McpSignIn;
  /** Network access for addresses that a remote server names. */
  readonly network?: McpNetwork;
  /** Decides before each start how a local server is started. */
  readonly launch?: McpTransportOptions['launch'];
  /** Called with the tools of the server each time it lists them. */
  readonly onTools: (tools: readonly Listed[], offers: ServerCapabilities | undefined) => void;
};

/** Callbacks of the connection. */
export type HandshakeCallbacks = {
  readonly count: ServerRequestCounts;
  readonly signal: AbortSignal;
  readonly onTransport: (transport: Transport) => void;
  readonly onEnd: (client: Client) => void;
};

/** An initialized session. */
export type McpSession = { readonly client: Client; readonly transport: Transport };

/** A local server that does not know the newest handshake may not respond to it at all. */
const versionProbeMs = 3000;

/** Connects with the newest version that both support. A server that disconnects is tried again with the old handshake. */
export async function mcpHandshake(
  server: McpServer,
  options: HandshakeOptions,
  hooks: HandshakeCallbacks,
): Promise<McpSession> {
  const { handlers, environment, startTimeoutMs, signIn, network, launch } = options;
  const deadline = Date.now() + startTimeoutMs;
  const limits = (): RequestOptions => ({ timeout: Math.max(deadline - Date.now(), 1), signal: hooks.signal });
  const attempt = async (old: boolean): Promise<McpSession> => {
    const client: Client = new Client(clientInfo, {
      capabilities: clientCapabilities(handlers),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(versionProbeMs, startTimeoutMs / 2) } },
      // The server's schemas are not compiled here: a pattern in them may never terminate.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listChanged: {
        tools: {
          onChanged: (error, tools) => !error && tools && options.onTools(tools, client.getServerCapabilities()),
        },
      },
    });
    registerClientHandlers(client, server.name, handlers, hooks.count);
    const transport = await createMcpTransport(server, {
      environment,
      auth: await signIn?.provider(),
      ...(network ? { network } : {}),
      ...(launch ? { launch } : {}),
    });
    hooks.onTransport(transport);
    Object.assign(client, { onclose: () => hooks.onEnd(client) });
    try {
      await client.connect(transport, { ...limits(), ...(old ? { prior: { kind: 'legacy' } } : {}) });
      // Listed at every connection: another program may respond now.
      const { tools } = await client.listTools(undefined, limits());
      options.onTools(tools, client.getServerCapabilities());
      return { client, transport };
    } catch (error) {
      await transport.close().catch(() => {});
      if (!old && isNegotiationFailure(error) && Date.now() < deadline && !hooks.signal.aborted) return attempt(true);
      throw connectionFailure(server, error, transport);
    }
  };
  return attempt(false);
}

const clientInfo = { name: 'fairlead', title: 'Fairlead', version: manifest.version };

/** Whether the server may know only the old handshake. A write fails if the server closed its input before its exit was seen. */
const isNegotiationFailure = (error: unknown): boolean =>
  SdkError.isInstance(error)
    ? [SdkErrorCode.EraNegotiationFailed, SdkErrorCode.RequestTimeout, SdkErrorCode.ConnectionClosed].includes(
        error.code,
      )
    : error instanceof Error && 'code' in error && closedPipeCodes.has(error.code);

const closedPipeCodes: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

function connectionFailure(server: McpServer, error: unknown, transport: Transport): Error {
  if (UnauthorizedError.isInstance(error) || error instanceof FairleadError) return error;
  const words = transport instanceof ChildTransport ? transport.lastStderr : '';
  return unreachableError(
    server,
    `${escapeInvisibleLine(errorMessage(error))}${words === '' ? '' : ` (it said: ${words})`}`,
    error,
  );
}

/** Creates the error of a server that cannot be reached. */
export const unreachableError = (server: McpServer, why: string, cause?: unknown): FairleadError =>
  new FairleadError(
    'mcp/unreachable',
    `The MCP server ${escapeInvisibleLine(server.name)} cannot be reached: ${why}.`,
    {
      blame: 'tool',
      ...(cause === undefined ? {} : { cause }),
    },
  );
