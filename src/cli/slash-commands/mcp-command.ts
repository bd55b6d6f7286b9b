// `/mcp`: how the MCP servers of this conversation stand, a way to approve one or to log in to it, and the prompts that they offer.
import { escapeInvisibleLine } from '../../core/index.ts';
import { fileTrust } from '../../guards/index.ts';
import { formatMcpStatus, getMcpPrompt, listMcpPrompts, getMcpServers, type McpPrompt } from '../../tools/mcp/index.ts';
import type { UiChoice } from '../tui/ui.ts';
import type { CommandContext, SlashCommand } from './context.ts';

const usageText = 'approve, revoke or login <server>, reload, prompts, prompt <server> <name> [key=value …]';
const serverVerbs = ['approve', 'revoke', 'login'] as const;

/** The command about MCP servers. */
export const mcpCommand: SlashCommand = {
  name: 'mcp',
  description: `MCP servers and how they stand; ${usageText}`,
  argumentHint: 'approve <server>|…',
  complete: (_, { conversation }) => [
    ...['reload', 'prompts', 'prompt '].map(toChoice),
    ...getMcpServers(conversation.agent.tools)
      .status()
      .flatMap(({ server }) => serverVerbs.map((word) => toChoice(`${word} ${server}`))),
  ],
  async run(args, desk) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(args) ?? [];
    const verb = serverVerbs.find((each) => each === word);
    if (word === '') return showServers(desk);
    if (word === 'reload') return reloadServers(desk);
    if (word === 'prompts') return showPrompts(desk);
    if (word === 'prompt' && rest !== '') return runPrompt(rest, desk);
    if (!verb || rest === '') return desk.notify(`It is /mcp alone or with one of these: ${usageText}.`, 'warning');
    return runServerAction(verb, rest, desk);
  },
};

async function runServerAction(
  verb: (typeof serverVerbs)[number],
  server: string,
  desk: CommandContext,
): Promise<void> {
  const [acts, { createUiPrompter }] = await Promise.all([
    import('../mcp/server-actions.ts'),
    import('../interactive/startup.ts'),
  ]);
  const { conversation, ui, signal, notify } = desk;
  const { settings, agent } = conversation;
  const trust = fileTrust(`${settings.dirs.state}/approved.json`);
  const post = { settings, cwd: agent.workspace.cwd, trust, prompter: createUiPrompter(ui), signal };
  const actions = { approve: acts.approveMcpServer, revoke: acts.revokeMcpServer, login: acts.loginToMcpServer };
  const { done, text } = await actions[verb](post, server);
  notify(text, done ? 'info' : 'warning');
  if (done) await reloadServers(desk);
}

/** The tools are made ready anew, as for another folder. */
async function reloadServers(desk: CommandContext): Promise<void> {
  await desk.conversation.changeDirectory('.');
  showServers(desk);
}

function showServers({ conversation, showPage, notify }: CommandContext): void {
  const all = getMcpServers(conversation.agent.tools).status();
  if (all.length === 0)
    return notify(
      `No MCP server is named, neither in ${conversation.settings.dirs.config}/mcp.json nor in .mcp.json here.`,
    );
  return showPage(all.map(formatMcpStatus).join('\n\n'), 'MCP servers');
}

async function showPrompts({ conversation, showPage, notify, signal }: CommandContext): Promise<void> {
  const found = await listMcpPrompts(getMcpServers(conversation.agent.tools).connections, signal);
  if (found.length === 0) return notify('No MCP server here offers a prompt.');
  return showPage(found.map(formatPrompt).join('\n'), 'Prompts of MCP servers');
}

const formatPrompt = ({ server, name, description, arguments: taken }: McpPrompt): string => {
  const words = taken.map((each) => (each.required ? `${each.name}=…` : `[${each.name}=…]`));
  return escapeInvisibleLine(
    [`/mcp prompt ${server} ${name}`, ...words].join(' ') + (description ? `: ${description}` : ''),
  );
};

/** The person chose the words of a server: they are said as their own, without the secrets that nobody has read before. */
async function runPrompt(rest: string, { conversation, notify, signal, runAgent }: CommandContext): Promise<void> {
  const [, server = '', name = '', given = ''] = /^(\S+)\s+(\S+)\s*(.*)$/s.exec(rest) ?? [];
  if (name === '') return notify('It is /mcp prompt, the name of a server and the name of a prompt.', 'warning');
  const pairs = [...given.matchAll(/([^\s=]+)=("([^"]*)"|\S*)/g)].map(([, key, word, quoted]) => [key, quoted ?? word]);
  const values = Object.fromEntries(pairs) as Readonly<Record<string, string>>;
  const said = await getMcpPrompt(
    getMcpServers(conversation.agent.tools).connections,
    { server, name },
    values,
    signal,
  );
  return runAgent(conversation.agent.redactor.redact(said));
}

const toChoice = (value: string): UiChoice => ({ value, label: value });
