// Opens the servers that may be opened, all at once: one that fails, lies or hangs costs its own tools and nothing else.
import type { Tool as Listed } from '@modelcontextprotocol/client';
import { FairleadError, messageOf, visibleLine, type Tool } from '../../core/index.ts';
import { connectionTo, type Connection } from './connection.ts';
import { definitionOf, type Definition } from './definition.ts';
import { signInTo, type OpenUrl } from './oauth.ts';
import type { Answerers } from './requests.ts';
import { reachingTools } from './resources.ts';
import { approvalKey, filledIn, type McpServer } from './server.ts';
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
  /** Approves these definitions of a server's tools, by the hashes that `status` tells and a person saw; they count from the next opening on. */
  approveTools(server: string, hashes: readonly string[]): void;
  close(): Promise<void>;
};

type Stand = { readonly standing: ToolStanding; readonly definition?: Definition; readonly why?: string };
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
const mostTools = 500;

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
  try {
    const approval = server.origin === 'user' ? 'approved' : options.trust.judge(approvalKey(server));
    if (approval !== 'approved') return { ...opened, state: approval };
    const connection = connect(server, options, (listed) => {
      pinFirst(server, listed, options.trust);
      opened.stands = judged(server, listed, options.trust);
    });
    try {
      await connection.client(options.signal ?? new AbortController().signal);
      connection.worked();
      opened.connection = connection;
      opened.state = 'ready';
    } catch (error) {
      await connection.close();
      throw error;
    }
  } catch (error) {
    opened.why = sentence(error);
    opened.stands = new Map();
  }
  return opened;
}

function connect(server: McpServer, options: McpOptions, onTools: (listed: readonly Listed[]) => void): Connection {
  const { environment = process.env, startMs = usualStart } = options;
  const filled = { ...server, reach: filledIn(server.reach, environment, server.name) };
  return connectionTo(filled, { answerers: options, environment, startMs, ...loginFor(filled, options), onTools });
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
      tool: visibleLine(tool),
      standing,
      ...(reason === undefined ? {} : { why: reason }),
      ...(definition ? { hash: definition.hash, description: definition.description } : {}),
    })),
  };
}

const sentence = (error: unknown): string =>
  `${messageOf(error)}${error instanceof FairleadError && error.hint !== undefined ? ` ${error.hint}` : ''}`;
