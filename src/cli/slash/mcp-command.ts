// `/mcp`: how the MCP servers of this conversation stand, and a way to approve one or to log in to it.
import { fileTrust } from '../../guards/index.ts';
import { describe, serversAmong } from '../../tools/mcp/index.ts';
import type { Choice } from '../face/face.ts';
import type { Desk, SlashCommand } from './desk.ts';

const words = ['approve', 'revoke', 'login'] as const;

/** The command about MCP servers. */
export const mcp: SlashCommand = {
  name: 'mcp',
  about: 'MCP servers and how they stand; approve <server>, revoke <server>, login <server>',
  takes: words.join('|'),
  complete: (_, { talk }) =>
    words.flatMap((word) => serversAmong(talk.outfit.tools).map(({ server }) => choice(`${word} ${server}`))),
  async run(args, desk) {
    const [, word = '', server = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(args) ?? [];
    const verb = words.find((each) => each === word);
    if (word === '') return show(desk);
    if (!verb || server === '')
      return desk.say(`It is /mcp, or /mcp ${words.join('|')} and the name of a server.`, 'warning');
    const [acts, { personOn }] = await Promise.all([import('../mcp/acts.ts'), import('../conversation/prepare.ts')]);
    const { talk, face, signal, say } = desk;
    const { settings, outfit } = talk;
    const trust = fileTrust(`${settings.dirs.state}/approved.json`);
    const post = { settings, cwd: outfit.workspace.cwd, trust, person: personOn(face), signal };
    const { done, text } = await acts[verb](post, server);
    say(text, done ? 'info' : 'warning');
    if (!done) return undefined;
    // The tools are made ready anew, as for another folder.
    await talk.moveTo('.');
    return show(desk);
  },
};

function show({ talk, page, say }: Desk): void {
  const all = serversAmong(talk.outfit.tools);
  if (all.length === 0)
    return say(`No MCP server is named, neither in ${talk.settings.dirs.config}/mcp.json nor in .mcp.json here.`);
  return page(all.map(describe).join('\n\n'), 'MCP servers');
}

const choice = (value: string): Choice => ({ value, label: value });
