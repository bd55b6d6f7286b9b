// `/mcp`: how the MCP servers of this conversation stand, a way to approve one or to log in to it, and the prompts that they offer.
import { escapeInvisibleLine } from '../../core/index.ts';
import { fileTrust } from '../../guards/index.ts';
import { formatMcpStatus, getMcpPrompt, listMcpPrompts, getMcpServers, type McpPrompt } from '../../tools/mcp/index.ts';
import type { Choice } from '../face/face.ts';
import type { Desk, SlashCommand } from './desk.ts';

const forms = 'approve, revoke or login <server>, reload, prompts, prompt <server> <name> [key=value …]';
const words = ['approve', 'revoke', 'login'] as const;

/** The command about MCP servers. */
export const mcp: SlashCommand = {
  name: 'mcp',
  about: `MCP servers and how they stand; ${forms}`,
  takes: 'approve <server>|…',
  complete: (_, { talk }) => [
    ...['reload', 'prompts', 'prompt '].map(choice),
    ...getMcpServers(talk.outfit.tools)
      .status()
      .flatMap(({ server }) => words.map((word) => choice(`${word} ${server}`))),
  ],
  async run(args, desk) {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(args) ?? [];
    const verb = words.find((each) => each === word);
    if (word === '') return show(desk);
    if (word === 'reload') return reload(desk);
    if (word === 'prompts') return prompts(desk);
    if (word === 'prompt' && rest !== '') return prompt(rest, desk);
    if (!verb || rest === '') return desk.say(`It is /mcp alone or with one of these: ${forms}.`, 'warning');
    return act(verb, rest, desk);
  },
};

async function act(verb: (typeof words)[number], server: string, desk: Desk): Promise<void> {
  const [acts, { personOn }] = await Promise.all([import('../mcp/acts.ts'), import('../conversation/prepare.ts')]);
  const { talk, face, signal, say } = desk;
  const { settings, outfit } = talk;
  const trust = fileTrust(`${settings.dirs.state}/approved.json`);
  const post = { settings, cwd: outfit.workspace.cwd, trust, person: personOn(face), signal };
  const { done, text } = await acts[verb](post, server);
  say(text, done ? 'info' : 'warning');
  if (done) await reload(desk);
}

/** The tools are made ready anew, as for another folder. */
async function reload(desk: Desk): Promise<void> {
  await desk.talk.moveTo('.');
  show(desk);
}

function show({ talk, page, say }: Desk): void {
  const all = getMcpServers(talk.outfit.tools).status();
  if (all.length === 0)
    return say(`No MCP server is named, neither in ${talk.settings.dirs.config}/mcp.json nor in .mcp.json here.`);
  return page(all.map(formatMcpStatus).join('\n\n'), 'MCP servers');
}

async function prompts({ talk, page, say, signal }: Desk): Promise<void> {
  const found = await listMcpPrompts(getMcpServers(talk.outfit.tools).connections, signal);
  if (found.length === 0) return say('No MCP server here offers a prompt.');
  return page(found.map(promptLine).join('\n'), 'Prompts of MCP servers');
}

const promptLine = ({ server, name, description, arguments: taken }: McpPrompt): string => {
  const words = taken.map((each) => (each.required ? `${each.name}=…` : `[${each.name}=…]`));
  return escapeInvisibleLine(
    [`/mcp prompt ${server} ${name}`, ...words].join(' ') + (description ? `: ${description}` : ''),
  );
};

/** The person chose the words of a server: they are said as their own, without the secrets that nobody has read before. */
async function prompt(rest: string, { talk, say, signal, converse }: Desk): Promise<void> {
  const [, server = '', name = '', given = ''] = /^(\S+)\s+(\S+)\s*(.*)$/s.exec(rest) ?? [];
  if (name === '') return say('It is /mcp prompt, the name of a server and the name of a prompt.', 'warning');
  const pairs = [...given.matchAll(/([^\s=]+)=("([^"]*)"|\S*)/g)].map(([, key, word, quoted]) => [key, quoted ?? word]);
  const values = Object.fromEntries(pairs) as Readonly<Record<string, string>>;
  const said = await getMcpPrompt(getMcpServers(talk.outfit.tools).connections, { server, name }, values, signal);
  return converse(talk.outfit.secrets.redact(said));
}

const choice = (value: string): Choice => ({ value, label: value });
