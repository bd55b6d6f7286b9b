// Opens the MCP servers of a working folder for its agent: asks about those that others named, and starts what has to be started.
import path from 'node:path';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import type { TrustStatus, TrustStore } from '../../guards/index.ts';
import {
  approvalKey,
  fileMcpTokens,
  INSIDE_MCP_VARIABLE,
  openMcp,
  readMcpConfig,
  type McpConfig,
  type McpOptions,
  type McpServer,
  type McpTokenStore,
} from '../../tools/mcp/index.ts';
import { loginFiles } from '../conversation/confinement.ts';
import type { Settings } from '../settings/index.ts';
import { nothing, type Equipment, type Ground } from './ground.ts';
import { mcpMemory, type McpMemory } from './mcp-memory.ts';
import { answerersFor, loginLater, loginPage } from './mcp-person.ts';
import { learningTokens, learnServer } from './mcp-secrets.ts';
import { offSentence, problemOf, reachWords, whose } from './mcp-words.ts';

/** Milliseconds a server may take to start, and how many of them a person waits for it before the prompt opens: not again for one that was too slow. */
const startMs = 60_000;
const waitMs = 20_000;
const shortWaitMs = 500;

/** The servers that are named for a folder. */
export function serversFor({ places, servers = [] }: Pick<Ground, 'places' | 'servers'>): McpConfig {
  const found = readMcpConfig({ user: path.join(places.configDir, 'mcp.json'), project: places.cwd });
  const taken = new Set(found.servers.map(({ name }) => name));
  const free = servers.filter(({ name }) => !taken.has(name));
  const passed = servers.filter(({ name }) => taken.has(name));
  return {
    servers: [...found.servers, ...free],
    problems: [
      ...found.problems,
      ...passed.map(
        ({ name }) => `The editor's MCP server ${escapeInvisibleLine(name)} is left out: there is one of this name.`,
      ),
    ],
  };
}

/** What servers are opened with, whoever opens them. */
export const usualOptions = (
  settings: Settings,
  trust: TrustStore,
  cwd: string,
): McpOptions & { memory: McpMemory; tokens: McpTokenStore } => ({
  trust,
  cwd,
  roots: [cwd],
  tokens: fileMcpTokens(loginFiles(settings).mcp),
  memory: mcpMemory(settings.dirs.cache),
  startTimeoutMs: startMs,
});

/** The tools of all servers of a folder, and what is wrong with those that have none. */
export async function openMcpEquipment(ground: Ground): Promise<Equipment> {
  if (process.env[INSIDE_MCP_VARIABLE]) return { ...nothing, problems: [inside] };
  const { settings, trust, person, places, secrets } = ground;
  const { servers, problems } = serversFor(ground);
  for (const server of servers) learnServer(server, secrets);
  for (const server of servers) await askAbout(server, ground);
  const known = usualOptions(settings, trust, places.cwd);
  const first = servers.filter((server) => standingOf(server, trust) === 'approved' && !known.memory.get(server));
  const starting = `Starting MCP servers (${first.map(({ name }) => escapeInvisibleLine(name)).join(', ')})`;
  const shown = first.length > 0 && !person.absent;
  if (shown) person.progress(`${starting}: 0 %`);
  // While the program starts nobody is sent to a login page: the prompt would wait for it.
  let open = false;
  const mcp = await openMcp(servers, {
    ...known,
    tokens: learningTokens(known.tokens, secrets),
    openTimeoutMs: (server) => (known.memory.wasSlow(server) ? shortWaitMs : waitMs),
    ...answerersFor(ground),
    openUrl: (server, url) => (open ? loginPage(person, server, url) : loginLater(server)),
    onDisabledTools: (server, tools) => open && person.say(offSentence(server, tools)),
  });
  open = true;
  const stillStarting = new Set(mcp.status().flatMap(({ server, state }) => (state === 'starting' ? server : [])));
  for (const server of servers) if (stillStarting.has(server.name)) known.memory.noteSlow(server);
  if (shown) person.progress(`${starting}: 100 %`);
  return {
    tools: mcp.tools,
    problems: [...problems, ...mcp.status().flatMap(problemOf)],
    close: () => mcp.close(),
  };
}

const inside = `No MCP server is opened here, for this program was started as one itself (${INSIDE_MCP_VARIABLE} is set).`;

/** Whether a person has said that it may be started, or named it themselves. */
export const mayStart = (server: McpServer, trust: TrustStore): boolean =>
  server.origin === 'user' || trust.check(approvalKey(server)) === 'approved';

/** How a server stands; nothing where approvals cannot be read, which is told when it is opened. */
function standingOf(server: McpServer, trust: TrustStore): TrustStatus | 'refused' | undefined {
  try {
    if (mayStart(server, trust)) return 'approved';
    return trust.check(refusalOf(server)) === 'approved' ? 'refused' : trust.check(approvalKey(server));
  } catch {
    return undefined;
  }
}

/** What a person said no to, kept like an approval: they are asked once for each server as it is. */
export const refusalOf = (server: McpServer): { readonly subject: string; readonly hash: string } => {
  const { subject, hash } = approvalKey(server);
  return { subject: `refused ${subject}`, hash };
};

/** Asks once about a server that is not the person's own and is new, or not what they approved. */
async function askAbout(server: McpServer, { trust, person }: Pick<Ground, 'trust' | 'person'>): Promise<void> {
  const standing = standingOf(server, trust);
  if (person.absent || (standing !== 'new' && standing !== 'changed')) return;
  const name = escapeInvisibleLine(server.name);
  const question =
    standing === 'changed'
      ? `The MCP server ${name} (${whose[server.origin]}) is not what you approved. Start it as it is now?`
      : `Start ${whose[server.origin]} MCP server ${name}? You are asked again if it changes.`;
  const yes = await person.agrees(question, reachWords(server));
  // What an editor names can be approved nowhere else, so a no counts for this time.
  if (!yes && server.origin === 'editor') return;
  try {
    trust.approve([yes ? approvalKey(server) : refusalOf(server)]);
  } catch (error) {
    person.say(`That could not be written down. ${errorMessage(error)}`);
  }
}
