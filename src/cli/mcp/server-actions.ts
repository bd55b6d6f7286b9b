// What a person can do with the MCP servers of a folder, from the command line and from the prompt alike.
import { FairleadError, closestMatches, escapeInvisible, escapeInvisibleLine } from '../../core/index.ts';
import type { TrustStore } from '../../guards/index.ts';
import {
  approvalKey,
  formatMcpStatus,
  isApprovalOf,
  openMcp,
  formatToolCount,
  type McpClients,
  type McpOptions,
  type McpServer,
  type McpStatus,
  type McpToolCache,
} from '../../tools/mcp/index.ts';
import type { UserPrompter } from '../../coding-agent/integrations/index.ts';
import {
  mayStartMcpServer,
  getRefusalKey,
  readMcpServerConfig,
  defaultMcpOptions,
} from '../../coding-agent/integrations/open-mcp.ts';
import { createMcpAnswerers, offerMcpLogin } from '../../coding-agent/integrations/mcp-elicitation.ts';
import { formatMcpTransport } from '../../coding-agent/integrations/mcp-format.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';

/** Where something is done with servers, and who is asked. */
export type McpActionContext = {
  readonly settings: Settings;
  /** The working folder, whose real path it is. */
  readonly cwd: string;
  readonly trust: TrustStore;
  readonly prompter: UserPrompter;
  readonly signal?: AbortSignal;
};

/** What came of it, in words; `done` is false where it is not what was wanted. */
export type McpActionResult = { readonly done: boolean; readonly text: string };

/** The servers of the folder and what is wrong with the files that name them. */
export const readMcpServers = ({
  settings,
  cwd,
}: Pick<McpActionContext, 'settings' | 'cwd'>): ReturnType<typeof readMcpServerConfig> =>
  readMcpServerConfig({ paths: { cwd, home: '', configDir: settings.dirs.config } });

/** How the servers stand as far as it is known; none is started for it. */
export async function listMcpStatus(post: McpActionContext): Promise<readonly McpStatus[]> {
  const mcp = await openMcp(readMcpServers(post).servers, { ...createMcpOptions(post), statusOnly: true });
  return mcp.status();
}

/** Starts a server and tells which tools it has. */
export async function readMcpServerStatus(post: McpActionContext, name: string): Promise<McpStatus> {
  const server = requireMcpServer(post, name);
  if (!mayStartMcpServer(server, post.trust)) throw notApprovedError(server);
  return withMcpServer(post, server, {}, (mcp) => firstStatus(mcp));
}

/** Lets a server be started as it is now, and its tools be used as it defines them now. */
export async function approveMcpServer(post: McpActionContext, name: string): Promise<McpActionResult> {
  const { trust, prompter } = post;
  const server = requireMcpServer(post, name);
  if (!mayStartMcpServer(server, trust)) {
    const agreed = await prompter.confirm(
      `Start the MCP server ${escapeInvisibleLine(name)}?`,
      formatMcpTransport(server),
      post.signal,
    );
    if (!agreed) return { done: false, text: formatNotApproved(prompter) };
    trust.approve([approvalKey(server)]);
    trust.revoke(getRefusalKey(server).subject);
  }
  return withMcpServer(post, server, {}, async (mcp) => {
    const { state, tools } = firstStatus(mcp);
    if (state !== 'ready') return { done: false, text: formatMcpStatus(firstStatus(mcp)) };
    const off = tools.filter(({ standing: how }) => how === 'changed' || how === 'new');
    if (off.length > 0) {
      const question = `Let the model use ${off.length === 1 ? 'this tool' : 'these tools'} of ${escapeInvisibleLine(name)}, as defined now?`;
      if (!(await prompter.confirm(question, off.map(formatMcpTool).join('\n\n'), post.signal)))
        return { done: false, text: formatNotApproved(prompter) };
      mcp.approveTools(
        server.name,
        off.flatMap(({ hash }) => hash ?? []),
      );
    }
    return {
      done: true,
      text: `The MCP server ${escapeInvisibleLine(name)} is approved, with ${formatToolCount(tools.length)}.`,
    };
  });
}

/** Forgets that a server was approved or refused, what it had, and the login to it. */
export function revokeMcpServer(post: McpActionContext, name: string): McpActionResult {
  const { trust } = post;
  const server = requireMcpServer(post, name);
  const { memory, tokens } = createMcpOptions(post);
  const about = trust.list().filter(({ subject }) => isApprovalOf(server, subject));
  for (const { subject } of about) trust.revoke(subject);
  // Otherwise they would be asked at the next start what they have just said.
  if (server.origin !== 'user') trust.approve([getRefusalKey(server)]);
  memory.remove(server);
  const { transport } = server;
  if ('url' in transport && tokens?.get(transport.url).tokens) tokens.set(transport.url, {});
  const then =
    server.origin === 'user'
      ? 'its tools are taken as they are at its next start'
      : 'it is not started before you approve it';
  return { done: true, text: `Forgotten what was approved of the MCP server ${escapeInvisibleLine(name)}: ${then}.` };
}

/** Logs in to a server, where it asks for that. */
export async function loginToMcpServer(post: McpActionContext, name: string): Promise<McpActionResult> {
  const server = requireMcpServer(post, name);
  if (!mayStartMcpServer(server, post.trust)) throw notApprovedError(server);
  let asked = false;
  const over = new AbortController();
  const openUrl: McpOptions['openUrl'] = (of, url) => {
    asked = true;
    offerMcpLogin(post.prompter, of, url, over.signal);
  };
  return withMcpServer(post, server, { openUrl }, (mcp) => {
    // They may have opened the page themselves.
    over.abort();
    const status = firstStatus(mcp);
    if (status.state !== 'ready') return { done: false, text: formatMcpStatus(status) };
    const how = asked ? 'You are logged in to' : 'No login is needed now for';
    return {
      done: true,
      text: `${how} the MCP server ${escapeInvisibleLine(name)}, which has ${formatToolCount(status.tools.length)}.`,
    };
  });
}

/** A tool in all that is approved of it. */
export const formatMcpTool = ({
  tool,
  standing: how,
  why,
  description = '',
  input,
}: McpStatus['tools'][number]): string =>
  [`${tool} (${how}${why === undefined ? '' : `: ${why}`})`, description, ...(input ? [JSON.stringify(input)] : [])]
    .filter((line) => line !== '')
    .map(escapeInvisible)
    .join('\n');

const createMcpOptions = ({ settings, trust, cwd }: McpActionContext): ReturnType<typeof defaultMcpOptions> =>
  defaultMcpOptions(settings, trust, cwd);

/** Starts one server for some work, whatever was known of it, and ends it. */
async function withMcpServer<T>(
  post: McpActionContext,
  server: McpServer,
  more: Partial<McpOptions>,
  work: (mcp: McpClients) => T | Promise<T>,
): Promise<T> {
  const usual = createMcpOptions(post);
  const fresh: McpToolCache = { ...usual.memory, get: () => undefined };
  post.prompter.notify(`Starting the MCP server ${escapeInvisibleLine(server.name)}.`);
  const { signal } = post;
  const answerers = createMcpAnswerers({ prompter: post.prompter, model: throwNoModel });
  const options = { ...usual, ...answerers, ...more, ...(signal ? { signal } : {}), memory: fresh };
  const mcp = await openMcp([server], options);
  try {
    return await work(mcp);
  } finally {
    await mcp.close();
  }
}

function throwNoModel(): never {
  throw new FairleadError('cli/no-model', 'No model answers while servers are looked after.', { blame: 'user' });
}

const firstStatus = (mcp: McpClients): McpStatus => mcp.status()[0] as McpStatus;

function requireMcpServer(post: McpActionContext, name: string): McpServer {
  const { servers } = readMcpServers(post);
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  const names = servers.map((server) => server.name);
  const [near] = closestMatches(name, names);
  const there = names.length === 0 ? 'None is named here.' : `There are: ${names.map(escapeInvisibleLine).join(', ')}.`;
  throw new FairleadError('mcp/no-server', `There is no MCP server "${escapeInvisibleLine(name)}".`, {
    blame: 'user',
    hint: near === undefined ? there : `Did you mean ${escapeInvisibleLine(near)}?`,
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
    ? 'Nothing was approved: nobody is here to say yes. Run it in a terminal, or add --yes.'
    : 'Nothing was approved.';
