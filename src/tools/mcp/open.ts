// Opens the servers that may be opened, all at once: one that fails, lies or hangs costs its own tools and nothing else.
import type { Tool as Listed } from '@modelcontextprotocol/client';
import { FairleadError, messageOf, visibleLine, type Tool } from '../../core/index.ts';
import { connectionTo, type Connection } from './connection.ts';
import { definitionOf, type Definition } from './definition.ts';
import { signInTo, type OpenUrl } from './oauth.ts';
import type { Answerers } from './requests.ts';
import { reachingTools } from './resources.ts';
import { approvalKey, type McpServer } from './server.ts';
import { memoryTokens, type TokenStore } from './token-store.ts';
import type { McpStatus } from './status.ts';
import { onDemand, toolsFrom, type Offered, type ToolStanding } from './tools.ts';

/** Where approvals are kept, as far as servers need it. */
export type Approvals = {
  judge(item: { readonly subject: string; readonly hash: string }): 'approved' | 'changed' | 'new';
  approve(items: readonly { readonly subject: string; readonly hash: string }[]): void;
};

/** What servers are opened with. */
export type McpOptions = Answerers & {
  readonly trust: Approvals;
  /** Where logins are kept; in memory unless given. */
  readonly tokens?: TokenStore;
  /** Shows a person a login page; without it a server that asks for a login is not used. */
  readonly openUrl?: OpenUrl;
  /** What `${NAME}` and a local server's few variables are taken from. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Milliseconds a server has to start; 15,000 unless given. */
  readonly startMs?: number;
  readonly signal?: AbortSignal;
};

/** The servers that were opened, and what they give. */
export type Mcp = {
  /** All that a model may be offered of them, to be given to an agent as they are. */
  readonly tools: readonly Tool[];
  readonly connections: readonly Connection[];
  status(): readonly McpStatus[];
  /** Approves the tools of a server as it defines them now; they count from the next opening on. */
  approveTools(server: string): void;
  close(): Promise<void>;
};

type Stand = { readonly standing: ToolStanding; readonly definition?: Definition; readonly why?: string };
type Opened = {
  readonly server: McpServer;
  readonly connection?: Connection;
  readonly state: McpStatus['state'];
  readonly why?: string;
  /** By the server's own name of the tool; replaced when it says that its tools changed. */
  stands: ReadonlyMap<string, Stand>;
};

const usualStart = 15_000;
const mostTools = 500;

/** Opens these servers. A project's server that was not approved as it is now is not started and not spoken to. */
export async function openServers(servers: readonly McpServer[], options: McpOptions): Promise<Mcp> {
  const opened = await Promise.all(servers.map((server) => openServer(server, options)));
  const connections = opened.flatMap(({ connection, state }) => (connection && state === 'ready' ? [connection] : []));
  const offered = opened.flatMap(offers);
  const status = (): readonly McpStatus[] => opened.map(statusOf);
  return {
    tools: [...toolsFrom(offered), ...reachingTools(connections, status)],
    connections,
    status,
    approveTools(name) {
      const found = opened.find(({ server }) => server.name === name);
      if (found) options.trust.approve(pinsOf(found.server, [...found.stands.values()]));
    },
    close: async () => void (await Promise.all(opened.map(async ({ connection }) => connection?.close()))),
  };
}

async function openServer(server: McpServer, options: McpOptions): Promise<Opened> {
  const none = new Map<string, Stand>();
  const approval = server.origin === 'user' ? 'approved' : options.trust.judge(approvalKey(server));
  if (approval !== 'approved') return { server, state: approval, stands: none };
  const connection = connectionTo(server, {
    answerers: options,
    environment: options.environment ?? process.env,
    startMs: options.startMs ?? usualStart,
    ...loginFor(server, options),
    onToolsChanged: (listed) => (opened.stands = judged(server, listed, options.trust)),
  });
  let opened: Opened = { server, connection, state: 'ready', stands: none };
  try {
    const signal = options.signal ?? new AbortController().signal;
    const client = await connection.client(signal);
    const { tools } = await client.listTools(undefined, { signal, timeout: options.startMs ?? usualStart });
    connection.worked();
    pinFirst(server, tools, options.trust);
    opened.stands = judged(server, tools, options.trust);
  } catch (error) {
    await connection.close();
    opened = { server, connection, state: 'failed', why: sentence(error), stands: none };
  }
  return opened;
}

function loginFor(server: McpServer, { tokens = memoryTokens(), openUrl }: McpOptions): object {
  const { reach } = server;
  if (reach.type !== 'http' && reach.type !== 'sse') return {};
  // Who gives a key of their own does not want a login.
  if (Object.keys(reach.headers).some((name) => name.toLowerCase() === 'authorization')) return {};
  return { signIn: signInTo(server, reach, { tokens, ...(openUrl ? { openUrl } : {}) }) };
}

/** Pins of the tools that can be used, under the server as it was approved: another command or address begins anew. */
function pinsOf(server: McpServer, stands: readonly Stand[]): readonly { subject: string; hash: string }[] {
  return stands.flatMap(({ definition }) =>
    definition ? [{ subject: pinName(server, definition.tool), hash: definition.hash }] : [],
  );
}

function pinName(server: McpServer, tool: string): string {
  const { subject, hash } = approvalKey(server);
  return `mcp-tool ${subject} ${hash.slice(0, 16)} ${tool}`;
}

/** Who approved a server approved the tools that it has at first sight; what it adds or changes later is asked for again. */
function pinFirst(server: McpServer, listed: readonly Listed[], trust: Approvals): void {
  const seen = { subject: pinName(server, ''), hash: 'seen' };
  if (trust.judge(seen) === 'approved') return;
  trust.approve([seen, ...pinsOf(server, [...judged(server, listed, trust).values()])]);
}

function judged(server: McpServer, listed: readonly Listed[], trust: Approvals): ReadonlyMap<string, Stand> {
  const stands = new Map<string, Stand>();
  for (const [i, each] of listed.entries()) {
    const stand = stands.has(each.name)
      ? { standing: 'refused', why: 'it is listed twice' }
      : judgeOne(server, each, i, trust);
    stands.set(each.name, stand as Stand);
  }
  return stands;
}

function judgeOne(server: McpServer, listed: Listed, place: number, trust: Approvals): Stand {
  const definition = place < mostTools ? definitionOf(server.name, listed) : `only ${mostTools} tools are taken`;
  if (typeof definition === 'string') return { standing: 'refused', why: definition };
  const standing = trust.judge({ subject: pinName(server, definition.tool), hash: definition.hash });
  return { definition, standing: standing === 'approved' ? 'usable' : standing };
}

function offers(opened: Opened): readonly Offered[] {
  const { connection } = opened;
  if (!connection) return [];
  const usable = [...opened.stands.values()].flatMap(({ standing, definition }) =>
    standing === 'usable' && definition ? [definition] : [],
  );
  const hidden = onDemand(connection, usable);
  return usable.map((definition) => ({
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
    tools: [...stands].map(([tool, { standing, why: reason }]) => ({
      tool: visibleLine(tool),
      standing,
      ...(reason === undefined ? {} : { why: reason }),
    })),
  };
}

const sentence = (error: unknown): string =>
  `${messageOf(error)}${error instanceof FairleadError && error.hint !== undefined ? ` ${error.hint}` : ''}`;
