// The `mcp` command: what a person does with the MCP servers of a folder. Anything else is the server that this program is itself.
import { realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileTrust } from '../../guards/index.ts';
import { formatMcpStatus } from '../../tools/mcp/index.ts';
import type { Command } from '../commands.ts';
import type { Person } from '../equipment/index.ts';
import { reachWords } from '../equipment/mcp-words.ts';
import { exitCodes } from '../front/exit-codes.ts';
import { print, tell } from '../front/print.ts';
import { orSentence } from '../front/sentence.ts';
import { personInTerminal } from '../once/host.ts';
import { readSettings } from '../settings/index.ts';
import { approve, login, namedAt, revoke, standing, toolsOf, toolWords, type Came, type Post } from './acts.ts';
import { serveUsage, verbs } from './verbs.ts';

const options = { json: { type: 'boolean' }, yes: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** Does something with the servers of this folder, or serves: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = async (args) => {
  const [verb = ''] = args;
  if (args.length === 0 && process.stdin.isTTY) return say(`${usage()}\n`, exitCodes.misused);
  if (verb === 'help' || verb === '--help' || verb === '-h') return say(`${usage()}\n`, exitCodes.answered);
  if (!Object.hasOwn(verbs, verb)) return (await import('../mcp-server/command.ts')).run(args);
  const asked = read(args);
  if (typeof asked === 'string') return (tell(`${asked}\n${usage()}\n`), exitCodes.misused);
  if (asked === undefined) return say(`${usage()}\n`, exitCodes.answered);
  return orSentence(() => act(asked));
};

type Asked = { readonly verb: string; readonly server: string; readonly json: boolean; readonly yes: boolean };

function read(args: readonly string[]): Asked | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = '', server = '', ...more] = positionals;
    const stray = Object.keys(values).find((name) => !verbs[verb]?.options.includes(name));
    if (stray !== undefined) return `--${stray} has no meaning for "fairlead mcp ${verb}".`;
    if (verb !== 'list' && server === '') return `"fairlead mcp ${verb}" needs the name of a server.`;
    const extra = verb === 'list' ? positionals[1] : more[0];
    if (extra !== undefined) return `"${extra}" is one too many for "fairlead mcp ${verb}".`;
    return { verb, server, json: values.json === true, yes: values.yes === true };
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

async function act({ verb, server, json, yes }: Asked): Promise<number> {
  const settings = readSettings();
  const trust = fileTrust(`${settings.dirs.state}/approved.json`);
  const post: Post = { settings, cwd: realpathSync(process.cwd()), trust, person: personFor(yes) };
  if (verb === 'list') return list(post, json);
  if (verb !== 'tools') return told(await acts[verb as keyof typeof acts](post, server));
  const status = await toolsOf(post, server);
  const text = json
    ? JSON.stringify(status, null, 2)
    : [formatMcpStatus(status), ...status.tools.map(toolWords)].join('\n\n');
  return say(`${text}\n`, status.state === 'ready' ? exitCodes.answered : exitCodes.failed);
}

const acts = { approve, revoke, login } as const;

/** The person at the terminal; with `--yes` what is asked is shown, and agreed to. */
function personFor(yes: boolean): Person {
  const person = personInTerminal(tell);
  if (!yes) return person;
  return {
    ...person,
    agrees: async (question, detail) => {
      tell(`${question} yes\n${detail === undefined ? '' : `${detail}\n`}`);
      return true;
    },
  };
}

async function list(post: Post, json: boolean): Promise<number> {
  const { servers, problems } = namedAt(post);
  for (const problem of problems) tell(`${problem}\n`);
  const all = await standing(post);
  if (json) return say(`${JSON.stringify(all, null, 2)}\n`, exitCodes.answered);
  if (all.length === 0)
    return say(
      `No MCP server is named, neither in ${post.settings.dirs.config}/mcp.json nor in ${post.cwd}/.mcp.json.\n`,
      0,
    );
  const indented = (text: string): string => text.replaceAll(/^/gm, '  ');
  const texts = all.map(
    (status, i) => `${formatMcpStatus(status)}\n${indented(reachWords(servers[i] as (typeof servers)[0]))}`,
  );
  return say(`${texts.join('\n\n')}\n`, exitCodes.answered);
}

const told = ({ done, text }: Came): number => {
  tell(`${text}\n`);
  return done ? exitCodes.answered : exitCodes.failed;
};

function say(text: string, code: number): number {
  print(text);
  return code;
}

const usage = (): string =>
  [
    `Usage: ${serveUsage}: offer the tools of this folder to other programs`,
    ...Object.entries(verbs).map(([verb, { usage: takes, about }]) => `       fairlead mcp ${verb} ${takes}: ${about}`),
  ].join('\n');
