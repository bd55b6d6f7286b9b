// Actions on the MCP servers of a directory: list, approve, revoke, log in. Used by `fairlead mcp` and by `/mcp`.
import { FairleadError, closestMatches, escapeInvisible, escapeInvisibleLine } from '../../core/index.ts';
import type { Sandbox, TrustStore } from '../../guards/index.ts';
import {
  approvalKey,
  formatMcpStatus,
  isApprovalOf,
  mustApproveServer,
  openMcp,
  formatToolCount,
  type McpClients,
  type McpOptions,
  type McpServer,
  type McpStatus,
  type McpToolCache,
} from '../../tools/mcp/index.ts';
import {
  type UserPrompter,
  mayStartMcpServer,
  getRefusalKey,
  readMcpServerConfig,
  defaultMcpOptions,
  createMcpAnswerers,
  offerMcpLogin,
  formatMcpTransport,
  switchMcpTool,
} from '../../coding-agent/integrations/index.ts';
import { selectSandbox } from '../../coding-agent/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';

/** What an action needs: the settings, the directory, and how to ask the user. */
export type McpActionContext = {
  readonly settings: Settings;
  /** The real path of the working directory. */
  readonly cwd: string;
  readonly trust: TrustStore;
  readonly prompter: UserPrompter;
  /** The sandbox of the conversation; default: the best one. */
  readonly sandbox?: Sandbox;
  readonly signal?: AbortSignal;
};

/** The message about an action; `done` is false if it was not done. */
export type McpActionResult = { readonly done: boolean; readonly text: string };

/** Reads the servers of the directory, and the problems of their files. */
export const readMcpServers = ({
  settings,
  cwd,
}: Pick<McpActionContext, 'settings' | 'cwd'>): ReturnType<typeof readMcpServerConfig> =>
  readMcpServerConfig({ paths: { cwd, home: '', configDir: settings.dirs.config } });

/** Returns the known status of the servers without starting one. */
export async function listMcpStatus(context: McpActionContext): Promise<readonly McpStatus[]> {
  const mcp = await openMcp(readMcpServers(context).servers, { ...createMcpOptions(context), statusOnly: true });
  return mcp.status();
}

/** Starts a server and returns its status with its tools. */
export async function readMcpServerStatus(context: McpActionContext, name: string): Promise<McpStatus> {
  const server = requireMcpServer(context, name);
  if (!mayStartMcpServer(server, context.trust)) throw notApprovedError(server);
  return withMcpServer(context, server, {}, (mcp) => firstStatus(mcp));
}

/** Approves a server with its current configuration, and its tools with their current definitions. */
export async function approveMcpServer(context: McpActionContext, name: string): Promise<McpActionResult> {
  const { trust, prompter } = context;
  const server = requireMcpServer(context, name);
  if (!mayStartMcpServer(server, trust)) {
    const confirmed = await prompter.confirm(
      `Start the MCP server ${escapeInvisibleLine(name)}?`,
      formatMcpTransport(server),
      context.signal,
    );
    if (!confirmed) return { done: false, text: formatNotApproved(prompter) };
    trust.approve([approvalKey(server)]);
    trust.revoke(getRefusalKey(server).subject);
  }
  return withMcpServer(context, server, {}, async (mcp) => {
    const { state, tools } = firstStatus(mcp);
    if (state !== 'ready') return { done: false, text: formatMcpStatus(firstStatus(mcp)) };
    const pending = tools.filter(({ status }) => status === 'changed' || status === 'new');
    if (pending.length > 0) {
      const question = `Let the model use ${pending.length === 1 ? 'this tool' : 'these tools'} of ${escapeInvisibleLine(name)}, as defined now?`;
      if (!(await prompter.confirm(question, pending.map(formatMcpTool).join('\n\n'), context.signal)))
        return { done: false, text: formatNotApproved(prompter) };
      mcp.approveTools(
        server.name,
        pending.flatMap(({ hash }) => hash ?? []),
      );
    }
    return {
      done: true,
      text: `The MCP server ${escapeInvisibleLine(name)} is approved, with ${formatToolCount(tools.length)}.`,
    };
  });
}

/** Removes the approval or refusal of a server, its cached tools, and its login. */
export function revokeMcpServer(context: McpActionContext, name: string): McpActionResult {
  const { trust } = context;
  const server = requireMcpServer(context, name);
  const { memory, tokens } = createMcpOptions(context);
  const approvals = trust.list().filter(({ subject }) => isApprovalOf(server, subject));
  for (const { subject } of approvals) trust.revoke(subject);
  // Recorded as refused, so that the next start does not ask about the server again.
  if (mustApproveServer(server)) trust.approve([getRefusalKey(server)]);
  memory.remove(server);
  const { transport } = server;
  if ('url' in transport && tokens?.get(transport.url).tokens) tokens.set(transport.url, {});
  const effect = mustApproveServer(server)
    ? 'it is not started before you approve it'
    : 'its tools are approved as they are at its next start';
  return { done: true, text: `Revoked the approval of the MCP server ${escapeInvisibleLine(name)}: ${effect}.` };
}

/** Logs in to a server if it requires a login. */
export async function loginToMcpServer(context: McpActionContext, name: string): Promise<McpActionResult> {
  const server = requireMcpServer(context, name);
  if (!mayStartMcpServer(server, context.trust)) throw notApprovedError(server);
  let loginRequested = false;
  const loggedIn = new AbortController();
  const openUrl: McpOptions['openUrl'] = (serverName, url) => {
    loginRequested = true;
    offerMcpLogin(context.prompter, serverName, url, loggedIn.signal);
  };
  return withMcpServer(context, server, { openUrl }, (mcp) => {
    // The user may have opened the page without answering the question.
    loggedIn.abort();
    const status = firstStatus(mcp);
    if (status.state !== 'ready') return { done: false, text: formatMcpStatus(status) };
    const result = loginRequested ? 'You are logged in to' : 'No login is needed for';
    return {
      done: true,
      text: `${result} the MCP server ${escapeInvisibleLine(name)}, which has ${formatToolCount(status.tools.length)}.`,
    };
  });
}

/** Formats a tool with everything that an approval covers. */
export const formatMcpTool = ({ tool, status, why, description = '', input }: McpStatus['tools'][number]): string =>
  [`${tool} (${status}${why === undefined ? '' : `: ${why}`})`, description, ...(input ? [JSON.stringify(input)] : [])]
    .filter((line) => line !== '')
    .map(escapeInvisible)
    .join('\n');

/** Switches a tool of a server on or off for the user. A tool that is on needs its approval as before. */
export async function switchTool(
  context: McpActionContext,
  { server: name, tool }: { readonly server: string; readonly tool: string },
  isOn: boolean,
): Promise<McpActionResult> {
  const server = requireMcpServer(context, name);
  const known = await listMcpStatus(context);
  const names = known.find((each) => each.server === server.name)?.tools.map((each) => each.tool) ?? [];
  // The tools of a server that has never run are not known: they can be switched off before it does.
  if (names.length > 0 && !names.includes(tool)) throw noToolError(name, tool, names);
  switchMcpTool(context.settings.dirs.config, server.name, tool, isOn);
  const text = `The tool ${escapeInvisibleLine(tool)} of the MCP server ${escapeInvisibleLine(name)} is ${isOn ? 'on' : 'off'}.`;
  return { done: true, text };
}

function noToolError(server: string, tool: string, names: readonly string[]): FairleadError {
  const [similar] = closestMatches(tool, names);
  return new FairleadError(
    'mcp/no-tool',
    `The MCP server ${escapeInvisibleLine(server)} has no tool "${escapeInvisibleLine(tool)}".`,
    { blame: 'user', hint: similar === undefined ? `There are: ${names.join(', ')}.` : `Did you mean ${similar}?` },
  );
}

const createMcpOptions = ({ settings, trust, cwd, sandbox }: McpActionContext): ReturnType<typeof defaultMcpOptions> =>
  defaultMcpOptions(settings, trust, cwd, () => sandbox ?? selectSandbox(settings, cwd));

/** Starts one server without its cached tools, runs some work, and closes it. */
async function withMcpServer<T>(
  context: McpActionContext,
  server: McpServer,
  extraOptions: Partial<McpOptions>,
  work: (mcp: McpClients) => T | Promise<T>,
): Promise<T> {
  const defaults = createMcpOptions(context);
  const noCache: McpToolCache = { ...defaults.memory, get: () => undefined };
  context.prompter.notify(`Starting the MCP server ${escapeInvisibleLine(server.name)}.`);
  const { signal } = context;
  const answerers = createMcpAnswerers({ prompter: context.prompter, model: throwNoModel });
  const options = { ...defaults, ...answerers, ...extraOptions, ...(signal ? { signal } : {}), memory: noCache };
  const mcp = await openMcp([server], options);
  try {
    return await work(mcp);
  } finally {
    await mcp.close();
  }
}

function throwNoModel(): never {
  throw new FairleadError('cli/no-model', 'No model is available to the MCP server during this command.', {
    blame: 'user',
  });
}

const firstStatus = (mcp: McpClients): McpStatus => mcp.status()[0] as McpStatus;

function requireMcpServer(context: McpActionContext, name: string): McpServer {
  const { servers } = readMcpServers(context);
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  const names = servers.map((server) => server.name);
  const [similar] = closestMatches(name, names);
  const available =
    names.length === 0 ? 'None is configured.' : `There are: ${names.map(escapeInvisibleLine).join(', ')}.`;
  throw new FairleadError('mcp/no-server', `There is no MCP server "${escapeInvisibleLine(name)}".`, {
    blame: 'user',
    hint: similar === undefined ? available : `Did you mean ${escapeInvisibleLine(similar)}?`,
  });
}

const notApprovedError = ({ name }: McpServer): FairleadError =>
  new FairleadError(
    'mcp/not-approved',
    `The MCP server ${escapeInvisibleLine(name)} was not approved, so it is not started.`,
    {
      blame: 'user',
      hint: `Approve it: fairlead mcp approve ${escapeInvisibleLine(name)}`,
    },
  );

const formatNotApproved = ({ isAbsent }: UserPrompter): string =>
  isAbsent === true
    ? 'Nothing was approved: there is no terminal to ask. Run it in a terminal, or add --yes.'
    : 'Nothing was approved.';
