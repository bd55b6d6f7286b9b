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
import { getLoginFiles } from '../protected-paths.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';
import { createMcpCache, type McpCache } from './mcp-cache.ts';
import { createMcpAnswerers, throwMcpLoginNeeded, offerMcpLogin } from './mcp-elicitation.ts';
import { withTokenRedaction, redactServerSecrets } from './mcp-redaction.ts';
import { formatToolsOff, formatMcpProblems, formatMcpTransport, originLabels } from './mcp-format.ts';

/** Milliseconds a server may take to start, and how many of them a person waits for it before the prompt opens: not again for one that was too slow. */
const startTimeoutMs = 60_000;
const startWaitMs = 20_000;
const slowServerWaitMs = 500;

/** The servers that are named for a folder. */
export function readMcpServerConfig({
  paths,
  mcpServers = [],
}: Pick<IntegrationContext, 'paths' | 'mcpServers'>): McpConfig {
  const configured = readMcpConfig({ user: path.join(paths.configDir, 'mcp.json'), project: paths.cwd });
  // A server that the program names replaces a configured one of the same name; a server of an editor does not.
  const own = mcpServers.filter(({ origin }) => origin === 'user');
  const servers = [...own, ...configured.servers.filter((server) => !hasName(own, server))];
  const others = mcpServers.filter(({ origin }) => origin !== 'user');
  const skipped = others.filter((server) => hasName(servers, server));
  return {
    servers: [...servers, ...others.filter((server) => !hasName(servers, server))],
    problems: [
      ...configured.problems,
      ...skipped.map(
        ({ name }) => `The editor's MCP server ${escapeInvisibleLine(name)} is left out: there is one of this name.`,
      ),
    ],
  };
}

const hasName = (servers: readonly McpServer[], { name }: McpServer): boolean =>
  servers.some((each) => each.name === name);

/** The options that every caller opens servers with. */
export const defaultMcpOptions = (
  settings: Settings,
  trust: TrustStore,
  cwd: string,
): McpOptions & { memory: McpCache; tokens: McpTokenStore } => ({
  trust,
  cwd,
  roots: [cwd],
  tokens: fileMcpTokens(getLoginFiles(settings).mcp),
  memory: createMcpCache(settings.dirs.cache),
  startTimeoutMs: startTimeoutMs,
});

/** The tools of all servers of a folder, and what is wrong with those that have none. */
export async function openMcpIntegration(ground: IntegrationContext): Promise<Integration> {
  if (process.env[INSIDE_MCP_VARIABLE]) return { ...emptyIntegration, problems: [nestedServerProblem] };
  const { settings, trust, prompter, paths, redactor } = ground;
  const { servers, problems } = readMcpServerConfig(ground);
  for (const server of servers) redactServerSecrets(server, redactor);
  for (const server of servers) await askToStartServer(server, ground);
  const known = defaultMcpOptions(settings, trust, paths.cwd);
  const first = servers.filter(
    (server) => getServerApproval(server, trust) === 'approved' && !known.memory.get(server),
  );
  const starting = `Starting MCP servers (${first.map(({ name }) => escapeInvisibleLine(name)).join(', ')})`;
  const shown = first.length > 0 && !prompter.isAbsent;
  if (shown) prompter.progress(`${starting}: 0 %`);
  // While the program starts nobody is sent to a login page: the prompt would wait for it.
  let open = false;
  const mcp = await openMcp(servers, {
    ...known,
    tokens: withTokenRedaction(known.tokens, redactor),
    openTimeoutMs: (server) => (known.memory.isSlow(server) ? slowServerWaitMs : startWaitMs),
    ...createMcpAnswerers(ground),
    openUrl: (server, url) => (open ? offerMcpLogin(prompter, server, url) : throwMcpLoginNeeded(server)),
    onDisabledTools: (server, tools) => open && prompter.notify(formatToolsOff(server, tools)),
  });
  open = true;
  const stillStarting = new Set(mcp.status().flatMap(({ server, state }) => (state === 'starting' ? server : [])));
  for (const server of servers) if (stillStarting.has(server.name)) known.memory.markSlow(server);
  if (shown) prompter.progress(`${starting}: 100 %`);
  return {
    tools: mcp.tools,
    problems: [...problems, ...mcp.status().flatMap(formatMcpProblems)],
    close: () => mcp.close(),
  };
}

const nestedServerProblem = `No MCP server is opened here, for this program was started as one itself (${INSIDE_MCP_VARIABLE} is set).`;

/** Whether a person has said that it may be started, or named it themselves. */
export const mayStartMcpServer = (server: McpServer, trust: TrustStore): boolean =>
  server.origin === 'user' || trust.check(approvalKey(server)) === 'approved';

/** How a server stands; nothing where approvals cannot be read, which is told when it is opened. */
function getServerApproval(server: McpServer, trust: TrustStore): TrustStatus | 'refused' | undefined {
  try {
    if (mayStartMcpServer(server, trust)) return 'approved';
    return trust.check(getRefusalKey(server)) === 'approved' ? 'refused' : trust.check(approvalKey(server));
  } catch {
    return undefined;
  }
}

/** What a person said no to, kept like an approval: they are asked once for each server as it is. */
export const getRefusalKey = (server: McpServer): { readonly subject: string; readonly hash: string } => {
  const { subject, hash } = approvalKey(server);
  return { subject: `refused ${subject}`, hash };
};

/** Asks once about a server that is not the person's own and is new, or not what they approved. */
async function askToStartServer(
  server: McpServer,
  { trust, prompter }: Pick<IntegrationContext, 'trust' | 'prompter'>,
): Promise<void> {
  const standing = getServerApproval(server, trust);
  if (prompter.isAbsent || (standing !== 'new' && standing !== 'changed')) return;
  const name = escapeInvisibleLine(server.name);
  const question =
    standing === 'changed'
      ? `The MCP server ${name} (${originLabels[server.origin]}) is not what you approved. Start it as it is now?`
      : `Start ${originLabels[server.origin]} MCP server ${name}? You are asked again if it changes.`;
  const yes = await prompter.confirm(question, formatMcpTransport(server));
  // What an editor names can be approved nowhere else, so a no counts for this time.
  if (!yes && server.origin === 'editor') return;
  try {
    trust.approve([yes ? approvalKey(server) : getRefusalKey(server)]);
  } catch (error) {
    prompter.notify(`That could not be written down. ${errorMessage(error)}`);
  }
}
