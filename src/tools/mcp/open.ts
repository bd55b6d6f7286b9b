// Opens the servers that may be opened, all at once: one that fails, lies or hangs costs its own tools and nothing else.
import type { ServerCapabilities, Tool as Listed } from '@modelcontextprotocol/client';
import { FairleadError, errorMessage, escapeInvisibleLine, type Tool } from '../../core/index.ts';
import type { Connection } from './connection.ts';
import type { Definition } from './definition.ts';
import { connectionLater, type Watcher } from './later.ts';
import { had, type Memory, type Remembered } from './memory.ts';
import type { OpenUrl } from './oauth.ts';
import { judged, pinFirst, pinsOf, wasSeen, type Approvals, type Stand } from './pins.ts';
import type { Answerers } from './requests.ts';
import { reachingTools } from './resources.ts';
import { approvalKey, filledIn, type McpServer } from './server.ts';
import type { McpStatus } from './status.ts';
import { memoryTokens, type TokenStore } from './token-store.ts';
import { onDemand, toolsFrom, type Offered } from './tools.ts';

/** What servers are opened with. */
export type McpOptions = Answerers & {
  readonly trust: Approvals;
  /** Where logins are kept; in memory unless given. */
  readonly tokens?: TokenStore;
  /** Shows a person a login page; without it a server that asks for a login is not used. */
  readonly openUrl?: OpenUrl;
  /** What `${NAME}` and a local server's few variables are taken from. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The folder that a local server runs in where it names none. */
  readonly cwd?: string;
  /** Milliseconds a server has to start; 15,000 unless given. */
  readonly startMs?: number;
  /** Milliseconds that opening waits for a server; one that takes longer goes on starting, and has tools the next time. For ever unless given. */
  readonly waitMs?: (server: McpServer) => number;
  /** What servers had the last time: those that are in it are started when first used. */
  readonly memory?: Memory;
  /** Starts nothing: to see how servers stand. */
  readonly asleep?: boolean;
  /** Told the names of tools that are off, each time that a server lists its tools. */
  readonly onOff?: (server: string, tools: readonly string[]) => void;
  readonly signal?: AbortSignal;
};

/** The servers that were opened, and what they give. */
export type Mcp = {
  /** All that a model may be offered of them, to be given to an agent as they are. */
  readonly tools: readonly Tool[];
  readonly connections: readonly Connection[];
  status(): readonly McpStatus[];
  /** Approves these definitions of a server's tools, by the hashes that `status` tells and a person saw; they count from the next opening on. */
  approveTools(server: string, hashes: readonly string[]): void;
  close(): Promise<void>;
};

/** A server as far as it was opened. */
type Opened = {
  readonly server: McpServer;
  connection?: Connection;
  state: McpStatus['state'];
  why?: string;
  /** By the server's own name of the tool; replaced when it says that its tools changed. */
  stands: ReadonlyMap<string, Stand>;
};

const usualStart = 15_000;

/** Opens these servers. A project's server that was not approved as it is now is not started and not spoken to. */
export async function openServers(servers: readonly McpServer[], options: McpOptions): Promise<Mcp> {
  const opened = await Promise.all(servers.map((server) => openServer(server, options)));
  const connections = opened.flatMap(({ connection }) => connection ?? []);
  const usable = opened.map((each) => ({ each, definitions: usableIn(each) }));
  const all = usable.reduce((sum, { definitions }) => sum + definitions.length, 0);
  const offered = usable.flatMap(({ each, definitions }) => offers(each, definitions, all));
  const status = (): readonly McpStatus[] => opened.map(statusOf);
  return {
    tools: [...toolsFrom(offered), ...reachingTools(connections, status)],
    connections,
    status,
    approveTools(name, hashes) {
      const found = opened.find(({ server }) => server.name === name);
      if (!found) return;
      const seen = [...found.stands.values()].filter(
        ({ definition }) => definition && hashes.includes(definition.hash),
      );
      options.trust.approve(pinsOf(found.server, seen));
    },
    close: async () => void (await Promise.all(connections.map((each) => each.close()))),
  };
}

async function openServer(server: McpServer, options: McpOptions): Promise<Opened> {
  const opened: Opened = { server, state: 'failed', stands: new Map() };
  const { trust, memory, waitMs } = options;
  try {
    const approval = server.origin === 'user' ? 'approved' : trust.judge(approvalKey(server));
    if (approval !== 'approved') return { ...opened, state: approval };
    const known = wasSeen(server, trust) ? memory?.recall(server) : undefined;
    opened.connection = connectFor(opened, options, known);
    if (known || options.asleep) {
      opened.stands = judged(server, known?.tools ?? [], trust);
      opened.state = 'asleep';
      return opened;
    }
    opened.state = 'starting';
    const start = started(opened, opened.connection, options.signal ?? new AbortController().signal);
    await (waitMs ? Promise.race([start, pause(waitMs(server))]) : start);
  } catch (error) {
    Object.assign(opened, { state: 'failed', why: sentence(error) });
  }
  return opened;
}

/** Starts it for the first time; one that fails at that is given up. */
async function started(opened: Opened, connection: Connection, signal: AbortSignal): Promise<void> {
  try {
    await connection.client(signal);
    connection.worked();
  } catch (error) {
    await connection.close();
    delete opened.connection;
    Object.assign(opened, { state: 'failed', why: sentence(error), stands: new Map() });
  }
}

function connectFor(opened: Opened, options: McpOptions, known: Remembered | undefined): Connection {
  const { server } = opened;
  const { environment = process.env, startMs = usualStart, trust, memory, onOff } = options;
  // The values of an editor are meant as they are.
  const reach = server.origin === 'editor' ? server.reach : filledIn(server.reach, environment, server.name);
  const placed =
    reach.type === 'stdio' && options.cwd !== undefined && reach.cwd === undefined
      ? { ...reach, cwd: options.cwd }
      : reach;
  const filled = { ...server, reach: placed };
  const onTools = (listed: readonly Listed[], offers: ServerCapabilities | undefined): void => {
    pinFirst(server, listed, trust);
    opened.stands = judged(server, listed, trust);
    memory?.remember(server, had(listed, offers));
    const off = [...opened.stands].filter(([, { standing }]) => standing === 'changed' || standing === 'new');
    if (off.length > 0)
      onOff?.(
        server.name,
        off.map(([name]) => escapeInvisibleLine(name)),
      );
  };
  const open = async (): Promise<Connection> => {
    const [{ connectionTo }, login] = await Promise.all([import('./connection.ts'), loginFor(filled, options)]);
    return connectionTo(filled, { answerers: options, environment, startMs, ...login, onTools });
  };
  const watcher: Watcher = {
    ready: () => Object.assign(opened, { state: 'ready', why: undefined }),
    failed: (error) => Object.assign(opened, { state: 'failed', why: sentence(error) }),
  };
  return connectionLater(filled, open, known, watcher);
}

async function loginFor(server: McpServer, { tokens = memoryTokens(), openUrl }: McpOptions): Promise<object> {
  const { reach } = server;
  if (reach.type !== 'http' && reach.type !== 'sse') return {};
  // Who gives a key of their own does not want a login.
  if (Object.keys(reach.headers).some((name) => name.toLowerCase() === 'authorization')) return {};
  const { signInTo } = await import('./oauth.ts');
  return { signIn: signInTo(server, reach, { tokens, ...(openUrl ? { openUrl } : {}) }) };
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

const usableIn = ({ connection, stands }: Opened): readonly Definition[] =>
  connection
    ? [...stands.values()].flatMap(({ standing, definition }) =>
        standing === 'usable' && definition ? [definition] : [],
      )
    : [];

function offers(opened: Opened, definitions: readonly Definition[], all: number): readonly Offered[] {
  const { connection } = opened;
  if (!connection) return [];
  const hidden = onDemand(connection, definitions.length, all);
  return definitions.map((definition) => ({
    connection,
    definition,
    hidden,
    standing: () => opened.stands.get(definition.tool)?.standing ?? 'gone',
  }));
}

function statusOf({ server, connection, state, why, stands }: Opened): McpStatus {
  const protocol = connection?.protocol();
  const pid = connection?.pid();
  return {
    server: server.name,
    origin: server.origin,
    state,
    ...(why === undefined ? {} : { why }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(pid === undefined ? {} : { pid }),
    tools: [...stands].map(([tool, { standing, why: reason, definition }]) => ({
      tool: escapeInvisibleLine(tool),
      standing,
      ...(reason === undefined ? {} : { why: reason }),
      ...(definition ? { hash: definition.hash, description: definition.description, input: definition.input } : {}),
    })),
  };
}

const sentence = (error: unknown): string =>
  `${errorMessage(error)}${error instanceof FairleadError && error.hint !== undefined ? ` ${error.hint}` : ''}`;
