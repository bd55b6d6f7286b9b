// Opens the MCP servers of a working directory: asks the user about servers of the project or an editor, and starts what must be started.
import path from 'node:path';
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import type { Sandbox, TrustStatus, TrustStore } from '../../guards/index.ts';
import {
  approvalKey,
  fileMcpTokens,
  INSIDE_MCP_VARIABLE,
  mustApproveServer,
  openMcp,
  readMcpConfig,
  type McpConfig,
  type McpOptions,
  type McpServer,
  type McpTokenStore,
} from '../../tools/mcp/index.ts';
import { createNetworkFetch } from '../../workspace/index.ts';
import { getLoginFiles } from '../protected-paths.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';
import { createMcpCache, type McpCache } from './mcp-cache.ts';
import { confirmMcpLogin, createMcpAnswerers, throwMcpLoginNeeded, offerMcpLogin } from './mcp-elicitation.ts';
import { bindMcpServers, createMcpLaunch, isConfinedServer } from './mcp-launch.ts';
import { withTokenRedaction, redactServerSecrets } from './mcp-redaction.ts';
import { readMcpToolsOff } from './mcp-tools-off.ts';
import { formatToolsOff, formatMcpProblems, formatMcpTransport, originLabels } from './mcp-format.ts';

/** The start timeout of a server, and how long the start of the program waits for it; a server that was slow before is not waited for. */
const startTimeoutMs = 60_000;
const startWaitMs = 20_000;
const slowServerWaitMs = 500;

/** Reads the servers that are configured for a directory, with the files of the directory that they run outside the sandbox. */
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
  const all = [...servers, ...others.filter((server) => !hasName(servers, server))];
  return {
    servers: bindMcpServers(all, paths),
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
  findSandbox: () => Sandbox | Promise<Sandbox>,
): McpOptions & { memory: McpCache; tokens: McpTokenStore } => ({
  trust,
  cwd,
  roots: [cwd],
  launch: createMcpLaunch({ cwd, configDir: settings.dirs.config, findSandbox }),
  tokens: fileMcpTokens(getLoginFiles(settings).mcp),
  memory: createMcpCache(settings.dirs.cache),
  isToolOff: readMcpToolsOff(settings.dirs.config).isOff,
  startTimeoutMs,
  network: createNetworkFetch({ privateHosts: settings.privateHosts }),
});

/** Opens all servers of a directory and returns their tools and problems. */
export async function openMcpIntegration(context: IntegrationContext): Promise<Integration> {
  if (process.env[INSIDE_MCP_VARIABLE]) return { ...emptyIntegration, problems: [nestedServerProblem] };
  const { settings, trust, prompter, paths, redactor } = context;
  const { sandbox } = context;
  const { servers, problems } = readMcpServerConfig(context);
  const off = servers.length === 0 ? [] : readMcpToolsOff(paths.configDir).problems;
  for (const server of servers) redactServerSecrets(server, redactor);
  for (const server of servers) await askToStartServer(server, context);
  const options = defaultMcpOptions(settings, trust, paths.cwd, () => sandbox);
  const uncached = servers.filter(
    (server) => getServerApproval(server, trust) === 'approved' && !options.memory.get(server),
  );
  const starting = `Starting MCP servers (${uncached.map(({ name }) => escapeInvisibleLine(name)).join(', ')})`;
  const showsProgress = uncached.length > 0 && !prompter.isAbsent;
  if (showsProgress) prompter.progress(`${starting}: 0 %`);
  // During the start no login page is shown: the prompt would wait for it.
  let isStarted = false;
  const mcp = await openMcp(servers, {
    ...options,
    tokens: withTokenRedaction(options.tokens, redactor),
    openTimeoutMs: (server) => (options.memory.isSlow(server) ? slowServerWaitMs : startWaitMs),
    ...createMcpAnswerers(context),
    // Nothing of a login is sent before the user wants it.
    confirmLogin: async (server) => (isStarted ? confirmMcpLogin(prompter, server) : throwMcpLoginNeeded(server)),
    openUrl: (server, url) => offerMcpLogin(prompter, server, url),
    onDisabledTools: (server, tools) => isStarted && prompter.notify(formatToolsOff(server, tools)),
  });
  isStarted = true;
  const stillStarting = new Set(mcp.status().flatMap(({ server, state }) => (state === 'starting' ? server : [])));
  for (const server of servers) if (stillStarting.has(server.name)) options.memory.markSlow(server);
  if (showsProgress) prompter.progress(`${starting}: 100 %`);
  return {
    tools: mcp.tools,
    problems: [...problems, ...off, ...mcp.status().flatMap(formatMcpProblems)],
    close: () => mcp.close(),
  };
}

const nestedServerProblem = `No MCP server is opened, because this program was started as an MCP server itself (${INSIDE_MCP_VARIABLE} is set).`;

/** Whether the server needs no approval, or the user approved it. */
export const mayStartMcpServer = (server: McpServer, trust: TrustStore): boolean =>
  !mustApproveServer(server) || trust.check(approvalKey(server)) === 'approved';

/** The approval status of a server; absent if approvals cannot be read, which is reported when the server is opened. */
function getServerApproval(server: McpServer, trust: TrustStore): TrustStatus | 'refused' | undefined {
  try {
    if (mayStartMcpServer(server, trust)) return 'approved';
    return trust.check(getRefusalKey(server)) === 'approved' ? 'refused' : trust.check(approvalKey(server));
  } catch {
    return undefined;
  }
}

/** The key of a refusal, which is stored like an approval: the user is asked once for each version of a server. */
export const getRefusalKey = (server: McpServer): { readonly subject: string; readonly hash: string } => {
  const { subject, hash } = approvalKey(server);
  return { subject: `refused ${subject}`, hash };
};

/** Asks once about a server that needs approval and that is new or changed since its approval. */
async function askToStartServer(
  server: McpServer,
  { trust, prompter, sandbox }: Pick<IntegrationContext, 'trust' | 'prompter' | 'sandbox'>,
): Promise<void> {
  const isConfined = sandbox.name !== 'none' && isConfinedServer(server);
  const status = getServerApproval(server, trust);
  if (prompter.isAbsent || (status !== 'new' && status !== 'changed')) return;
  const name = escapeInvisibleLine(server.name);
  const question =
    status === 'changed'
      ? `The MCP server ${name} (${originLabels[server.origin]}) is not what you approved. Start it as it is now?`
      : `Start ${originLabels[server.origin]} MCP server ${name}? You are asked again if it changes.`;
  const isApproved = await prompter.confirm(question, formatMcpTransport(server, isConfined));
  // A server of an editor cannot be approved elsewhere, so a refusal is not stored.
  if (!isApproved && server.origin === 'editor') return;
  try {
    trust.approve([isApproved ? approvalKey(server) : getRefusalKey(server)]);
  } catch (error) {
    prompter.notify(`The answer could not be saved. ${errorMessage(error)}`);
  }
}
