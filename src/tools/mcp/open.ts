// Opens all allowed MCP servers in parallel. A server that fails, misbehaves or hangs costs only its own tools.
import type { ServerCapabilities, Tool as Listed } from '@modelcontextprotocol/client';
import { FairleadError, errorMessage, escapeInvisibleLine, type Tool } from '../../core/index.ts';
import type { McpConnection } from './connection.ts';
import type { McpToolDefinition } from './definition.ts';
import { createLazyConnection, type ConnectionObserver } from './lazy-connection.ts';
import { toCachedServer, type McpToolCache, type CachedMcpServer } from './tool-cache.ts';
import type { McpNetwork } from './mcp-fetch.ts';
import type { OpenUrl } from './oauth.ts';
import {
  checkToolDefinitions,
  pinFirstSeen,
  definitionPins,
  wasServerSeen,
  type McpApprovals,
  type McpToolState,
} from './definition-pins.ts';
import type { McpClientHandlers } from './client-handlers.ts';
import { createServerGroups } from './names.ts';
import { mcpResourceTools } from './resources.ts';
import { approvalKey, expandVariables, mustApproveServer, type McpServer } from './server.ts';
import type { McpLaunch } from './transport.ts';
import type { McpStatus } from './status.ts';
import { memoryMcpTokens, type McpTokenStore } from './token-store.ts';
import { onDemand, createMcpTools, type OfferedMcpTool } from './tools.ts';

/** Options of openMcp. */
export type McpOptions = McpClientHandlers & {
  readonly trust: McpApprovals;
  /** Where logins are stored. Default: in memory. */
  readonly tokens?: McpTokenStore;
  /** Shows a login page to the user. Without it, a server that requires a login is not used. */
  readonly openUrl?: OpenUrl;
  /** Asks the user before the first request of a login is sent. Default: a login is wanted if `openUrl` is given. */
  readonly confirmLogin?: (server: string) => Promise<boolean>;
  /** Network access for addresses that a server names for its login; `fetch` of a workspace with network, which refuses private addresses. Default: none. */
  readonly network?: McpNetwork;
  /** The source of `${NAME}` and of the allowed variables of local servers. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The default folder of local servers. */
  readonly cwd?: string;
  /** Decides before each start how a local server is started. Default: as configured, with the rights of the user. */
  readonly launch?: McpLaunch;
  /** Milliseconds for a server to start. Default 15,000. */
  readonly startTimeoutMs?: number;
  /** Milliseconds that opening waits for a server. A slower one continues to start, and its tools are available next time. Default: no limit. */
  readonly openTimeoutMs?: (server: McpServer) => number;
  /** The cached tools of servers. Servers in it start on first use. */
  readonly memory?: McpToolCache;
  /** Whether the user switched a tool off; it is then not offered to the model. An approval does not switch it on. */
  readonly isToolOff?: (server: McpServer, tool: string) => boolean;
  /** Starts no server, to read the status only. */
  readonly statusOnly?: boolean;
  /** Called with the names of disabled tools each time a server lists its tools. */
  readonly onDisabledTools?: (server: string, tools: readonly string[]) => void;
  readonly signal?: AbortSignal;
};

/** The opened servers and their tools. */
export type McpClients = {
  /** All tools that may be offered to a model. */
  readonly tools: readonly Tool[];
  readonly connections: readonly McpConnection[];
  status(): readonly McpStatus[];
  /** Approves tool definitions of a server by the hashes in `status`, which the user saw. They apply from the next opening. */
  approveTools(server: string, hashes: readonly string[]): void;
  close(): Promise<void>;
};

/** An opened server. */
type OpenedServer = {
  readonly server: McpServer;
  connection?: McpConnection;
  state: McpStatus['state'];
  why?: string;
  /** By the server's own tool name; replaced when it reports changed tools. */
  toolStates: ReadonlyMap<string, McpToolState>;
};

const defaultStartTimeoutMs = 15_000;

/** Opens these servers. A server of a project that is not approved in its present form is neither started nor contacted. */
export async function openMcpServers(servers: readonly McpServer[], options: McpOptions): Promise<McpClients> {
  const opened = await Promise.all(servers.map((server) => openMcpServer(server, options)));
  const connections = opened.flatMap(({ connection }) => connection ?? []);
  const usable = opened.map((each) => ({ each, definitions: usableDefinitions(each) }));
  const all = usable.reduce((sum, { definitions }) => sum + definitions.length, 0);
  const offered = usable.flatMap(({ each, definitions }) => offeredTools(each, definitions, all));
  const status = (): readonly McpStatus[] => opened.map(serverStatus);
  return {
    tools: [...createMcpTools(offered, createServerGroups(servers)), ...mcpResourceTools(connections, status)],
    connections,
    status,
    approveTools(name, hashes) {
      const found = opened.find(({ server }) => server.name === name);
      if (!found) return;
      const seen = [...found.toolStates.values()].filter(
        ({ definition }) => definition && hashes.includes(definition.hash),
      );
      options.trust.approve(definitionPins(found.server, seen));
    },
    close: async () => void (await Promise.all(connections.map((each) => each.close()))),
  };
}

async function openMcpServer(server: McpServer, options: McpOptions): Promise<OpenedServer> {
  const opened: OpenedServer = { server, state: 'failed', toolStates: new Map() };
  const { trust, memory, openTimeoutMs } = options;
  try {
    const approval = mustApproveServer(server) ? trust.check(approvalKey(server)) : 'approved';
    if (approval !== 'approved') return { ...opened, state: approval };
    const known = wasServerSeen(server, trust) ? memory?.get(server) : undefined;
    opened.connection = connectServer(opened, options, known);
    if (known || options.statusOnly) {
      opened.toolStates = checkTools(server, known?.tools ?? [], options);
      opened.state = 'asleep';
      return opened;
    }
    opened.state = 'starting';
    const start = startFirstTime(opened, opened.connection, options.signal ?? new AbortController().signal);
    await (openTimeoutMs ? Promise.race([start, delay(openTimeoutMs(server))]) : start);
  } catch (error) {
    Object.assign(opened, { state: 'failed', why: formatErrorWithHint(error) });
  }
  return opened;
}

/** The status of each listed tool. */
const checkTools = (
  server: McpServer,
  listed: readonly Listed[],
  { trust, isToolOff }: McpOptions,
): ReadonlyMap<string, McpToolState> =>
  new Map(
    [...checkToolDefinitions(server, listed, trust)].map(([name, state]) => [
      name,
      state.status === 'usable' && isToolOff?.(server, name) ? { ...state, status: 'off' } : state,
    ]),
  );

/** Starts a server for the first time. If that fails, it is not tried again. */
async function startFirstTime(opened: OpenedServer, connection: McpConnection, signal: AbortSignal): Promise<void> {
  try {
    await connection.client(signal);
    connection.markHealthy();
  } catch (error) {
    await connection.close();
    delete opened.connection;
    Object.assign(opened, { state: 'failed', why: formatErrorWithHint(error), toolStates: new Map() });
  }
}

function connectServer(opened: OpenedServer, options: McpOptions, known: CachedMcpServer | undefined): McpConnection {
  const { server } = opened;
  const { environment = process.env, startTimeoutMs = defaultStartTimeoutMs, trust, memory, onDisabledTools } = options;
  // Values from an editor are not expanded.
  const reach =
    server.origin === 'editor' ? server.transport : expandVariables(server.transport, environment, server.name);
  const placed =
    reach.type === 'stdio' && options.cwd !== undefined && (reach.cwd === undefined || reach.cwd === '.')
      ? { ...reach, cwd: options.cwd }
      : reach;
  const filled = { ...server, transport: placed };
  const onTools = (listed: readonly Listed[], offers: ServerCapabilities | undefined): void => {
    pinFirstSeen(server, listed, trust);
    opened.toolStates = checkTools(server, listed, options);
    memory?.set(server, toCachedServer(listed, offers));
    const off = [...opened.toolStates].filter(([, { status }]) => status === 'changed' || status === 'new');
    if (off.length > 0)
      onDisabledTools?.(
        server.name,
        off.map(([name]) => escapeInvisibleLine(name)),
      );
  };
  const open = async (): Promise<McpConnection> => {
    const [{ createMcpConnection }, login] = await Promise.all([
      import('./connection.ts'),
      createLogin(filled, options),
    ]);
    const network = options.network ? { network: options.network } : {};
    const { launch } = options;
    return createMcpConnection(filled, {
      handlers: options,
      environment,
      startTimeoutMs,
      ...login,
      ...network,
      ...(launch ? { launch: (config) => launch(server, config) } : {}),
      onTools,
    });
  };
  const watcher: ConnectionObserver = {
    onReady: () => Object.assign(opened, { state: 'ready', why: undefined }),
    onFailed: (error) => Object.assign(opened, { state: 'failed', why: formatErrorWithHint(error) }),
  };
  return createLazyConnection(filled, open, known, watcher);
}

async function createLogin(server: McpServer, options: McpOptions): Promise<object> {
  const { tokens = memoryMcpTokens(), openUrl, confirmLogin } = options;
  const { transport } = server;
  if (transport.type !== 'http' && transport.type !== 'sse') return {};
  // A user who configures an Authorization header does not want a login.
  if (Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization')) return {};
  const { createMcpSignIn } = await import('./oauth.ts');
  const handlers = { ...(openUrl ? { openUrl } : {}), ...(confirmLogin ? { confirmLogin } : {}) };
  return { signIn: createMcpSignIn(server, transport, { tokens, ...handlers }) };
}

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

const usableDefinitions = ({ connection, toolStates }: OpenedServer): readonly McpToolDefinition[] =>
  connection
    ? [...toolStates.values()].flatMap(({ status, definition }) =>
        status === 'usable' && definition ? [definition] : [],
      )
    : [];

function offeredTools(
  opened: OpenedServer,
  definitions: readonly McpToolDefinition[],
  all: number,
): readonly OfferedMcpTool[] {
  const { connection } = opened;
  if (!connection) return [];
  const hidden = onDemand(connection, definitions.length, all);
  return definitions.map((definition) => ({
    connection,
    definition,
    hidden,
    status: () => opened.toolStates.get(definition.tool)?.status ?? 'gone',
  }));
}

function serverStatus({ server, connection, state, why, toolStates }: OpenedServer): McpStatus {
  const protocol = connection?.protocolVersion();
  const pid = connection?.pid();
  return {
    server: server.name,
    origin: server.origin,
    state,
    ...(why === undefined ? {} : { why }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(pid === undefined ? {} : { pid }),
    tools: [...toolStates].map(([tool, { status, why: reason, definition }]) => ({
      tool: escapeInvisibleLine(tool),
      status,
      ...(reason === undefined ? {} : { why: reason }),
      ...(definition ? { hash: definition.hash, description: definition.description, input: definition.input } : {}),
    })),
  };
}

const formatErrorWithHint = (error: unknown): string =>
  `${errorMessage(error)}${error instanceof FairleadError && error.hint !== undefined ? ` ${error.hint}` : ''}`;
