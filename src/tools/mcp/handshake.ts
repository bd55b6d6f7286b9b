// The beginning of a conversation with a server: the newest way that both know, who we are, and what the server has.
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
import type { McpServer } from './server.ts';
import { createMcpTransport } from './transport.ts';

/** What a conversation is begun with. */
export type HandshakeOptions = {
  readonly handlers: McpClientHandlers;
  readonly environment: NodeJS.ProcessEnv;
  /** Milliseconds a server has to start, to introduce itself and to list its tools. */
  readonly startTimeoutMs: number;
  /** Logs in to a remote server that asks for it. */
  readonly signIn?: McpSignIn;
  /** The tools of the server, each time that it lists them. */
  readonly onTools: (tools: readonly Listed[], offers: ServerCapabilities | undefined) => void;
};

/** Who is told what happens. */
export type HandshakeCallbacks = {
  readonly count: ServerRequestCounts;
  readonly signal: AbortSignal;
  readonly onTransport: (transport: Transport) => void;
  readonly onEnd: (client: Client) => void;
};

/** A conversation that has begun. */
export type McpSession = { readonly client: Client; readonly transport: Transport };

/** A local server that does not know the newest way to begin may say nothing at all to it. */
const versionProbeMs = 3000;

/** Begins to talk in the newest way that both know. A server that breaks off at that is asked again in the old way. */
export async function mcpHandshake(
  server: McpServer,
  options: HandshakeOptions,
  hooks: HandshakeCallbacks,
): Promise<McpSession> {
  const { handlers, environment, startTimeoutMs, signIn } = options;
  const deadline = Date.now() + startTimeoutMs;
  const limits = (): RequestOptions => ({ timeout: Math.max(deadline - Date.now(), 1), signal: hooks.signal });
  const attempt = async (old: boolean): Promise<McpSession> => {
    const client: Client = new Client(clientInfo, {
      capabilities: clientCapabilities(handlers),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(versionProbeMs, startTimeoutMs / 2) } },
      // A server's own schemas are not followed here: a pattern in them may be one that never ends.
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
    const transport = await createMcpTransport(server.transport, environment, await signIn?.provider());
    hooks.onTransport(transport);
    Object.assign(client, { onclose: () => hooks.onEnd(client) });
    try {
      await client.connect(transport, { ...limits(), ...(old ? { prior: { kind: 'legacy' } } : {}) });
      // What it has is looked at each time: it may be another program that answers now.
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

const isNegotiationFailure = (error: unknown): boolean =>
  SdkError.isInstance(error) &&
  [SdkErrorCode.EraNegotiationFailed, SdkErrorCode.RequestTimeout, SdkErrorCode.ConnectionClosed].includes(error.code);

function connectionFailure(server: McpServer, error: unknown, transport: Transport): Error {
  if (UnauthorizedError.isInstance(error) || error instanceof FairleadError) return error;
  const words = transport instanceof ChildTransport ? transport.lastStderr : '';
  return unreachableError(
    server,
    `${escapeInvisibleLine(errorMessage(error))}${words === '' ? '' : ` (it said: ${words})`}`,
    error,
  );
}

/** The error for a server that cannot be spoken to. */
export const unreachableError = (server: McpServer, why: string, cause?: unknown): FairleadError =>
  new FairleadError(
    'mcp/unreachable',
    `The MCP server ${escapeInvisibleLine(server.name)} cannot be reached: ${why}.`,
    {
      blame: 'tool',
      ...(cause === undefined ? {} : { cause }),
    },
  );
