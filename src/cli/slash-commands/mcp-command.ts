// The slash command /mcp: shows the MCP servers of the conversation, approves or logs in to one, and runs the prompts they offer.
import { withProgramName } from '../args/program-name.ts';
import { escapeInvisibleLine } from '../../core/index.ts';
import { fileTrust } from '../../guards/index.ts';
import { formatMcpStatus, getMcpPrompt, listMcpPrompts, getMcpServers, type McpPrompt } from '../../tools/mcp/index.ts';
import type { McpActionContext } from '../mcp/server-actions.ts';
import { createUiPrompter, type UiChoice } from '../tui/index.ts';
import type { CommandContext, SlashCommand } from './slash-command.ts';

const usageText =
  'approve, revoke or login <server>, on or off <server> <tool>, reload, prompts, prompt <server> <name> [key=value …]';
const serverVerbs = ['approve', 'revoke', 'login'] as const;

/** The slash command `/mcp`. */
export const mcpCommand: SlashCommand = {
  name: 'mcp',
  description: `MCP servers and their status; ${usageText}`,
  argumentHint: 'approve <server>|…',
  complete: (_, { conversation }) => [
    ...['reload', 'prompts', 'prompt '].map(toChoice),
    ...getMcpServers(conversation.agent.tools)
      .status()
      .flatMap(({ server, tools }) => [
        ...serverVerbs.map((word) => toChoice(`${word} ${server}`)),
        ...tools.flatMap(({ tool, status }) => {
          if (status !== 'usable' && status !== 'off') return [];
          return toChoice(`${status === 'off' ? 'on' : 'off'} ${server} ${tool}`);
        }),
      ]),
  ],
  async run(args, context) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(args) ?? [];
    if ((word === 'on' || word === 'off') && rest !== '') return switchServerTool(word === 'on', rest, context);
    const verb = serverVerbs.find((each) => each === word);
    if (word === '') return showServers(context);
    if (word === 'reload') return reloadServers(context);
    if (word === 'prompts') return showPrompts(context);
    if (word === 'prompt' && rest !== '') return runPrompt(rest, context);
    if (!verb || rest === '') return context.notify(`Use /mcp alone or with one of these: ${usageText}.`, 'warning');
    return runServerAction(verb, rest, context);
  },
};

async function runServerAction(
  verb: (typeof serverVerbs)[number],
  server: string,
  context: CommandContext,
): Promise<void> {
  const { approveMcpServer, loginToMcpServer, revokeMcpServer } = await import('../mcp/server-actions.ts');
  const actions = { approve: approveMcpServer, revoke: revokeMcpServer, login: loginToMcpServer };
  const { done, text } = await actions[verb](toActionContext(context), server);
  context.notify(text, done ? 'info' : 'warning');
  if (done) await reloadServers(context);
}

/** Switches one tool on or off; the name of a server may have spaces, that of a tool is the last word. */
async function switchServerTool(isOn: boolean, rest: string, context: CommandContext): Promise<void> {
  const { switchTool } = await import('../mcp/server-actions.ts');
  const [, server = rest, tool = ''] = /^(.*\S)\s+(\S+)$/s.exec(rest) ?? [];
  if (tool === '') return context.notify(`Use /mcp ${isOn ? 'on' : 'off'} <server> <tool>.`, 'warning');
  const { text } = await switchTool(toActionContext(context), { server, tool }, isOn);
  context.notify(text);
  await reloadServers(context);
}

const toActionContext = ({ conversation: { settings, agent }, ui, signal }: CommandContext): McpActionContext => ({
  settings,
  cwd: agent.workspace.cwd,
  sandbox: agent.sandbox,
  trust: fileTrust(`${settings.dirs.state}/approved.json`),
  prompter: createUiPrompter(ui),
  signal,
});

/** Opens the tools again, as a change of the working directory does. */
async function reloadServers(context: CommandContext): Promise<void> {
  await context.conversation.changeDirectory('.');
  showServers(context);
}

function showServers({ conversation, showPage, notify }: CommandContext): void {
  const all = getMcpServers(conversation.agent.tools).status();
  if (all.length === 0)
    return notify(
      `No MCP servers configured (looked in ${conversation.settings.dirs.config}/mcp.json, .mcp.json). ${withProgramName('To add one: fairlead mcp add <name>')} <command …|url>`,
    );
  return showPage(all.map(formatMcpStatus).join('\n\n'), 'MCP servers');
}

async function showPrompts({ conversation, showPage, notify, signal }: CommandContext): Promise<void> {
  const prompts = await listMcpPrompts(getMcpServers(conversation.agent.tools).connections, signal);
  if (prompts.length === 0) return notify('No MCP server offers a prompt.');
  return showPage(prompts.map(formatPrompt).join('\n'), 'Prompts of MCP servers');
}

const formatPrompt = ({ server, name, description, arguments: args }: McpPrompt): string => {
  const params = args.map((each) => (each.required ? `${each.name}=…` : `[${each.name}=…]`));
  return escapeInvisibleLine(
    [`/mcp prompt ${server} ${name}`, ...params].join(' ') + (description ? `: ${description}` : ''),
  );
};

/** Sends a prompt of a server: its text is a note, because the user has not written or seen it, and secrets in it are redacted. */
async function runPrompt(rest: string, { conversation, notify, signal, runAgent }: CommandContext): Promise<void> {
  const [, server = '', name = '', args = ''] = /^(\S+)\s+(\S+)\s*(.*)$/s.exec(rest) ?? [];
  if (name === '') return notify('Use /mcp prompt <server> <name>.', 'warning');
  const pairs = [...args.matchAll(/([^\s=]+)=("([^"]*)"|\S*)/g)].map(([, key, word, quoted]) => [key, quoted ?? word]);
  const values = Object.fromEntries(pairs) as Readonly<Record<string, string>>;
  const text = await getMcpPrompt(
    getMcpServers(conversation.agent.tools).connections,
    { server, name },
    values,
    signal,
  );
  await conversation.addNote(conversation.agent.redactor.redact(text));
  return runAgent(`Do what the prompt ${name} of the MCP server ${server} says${args === '' ? '' : ` (${args})`}.`);
}

const toChoice = (value: string): UiChoice => ({ value, label: value });
