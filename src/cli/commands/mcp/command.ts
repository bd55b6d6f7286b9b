// The `mcp` command: what a person does with the MCP servers of a folder. Anything else is the server that this program is itself.
import { realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileTrust } from '../../../guards/index.ts';
import { formatMcpStatus } from '../../../tools/mcp/index.ts';
import type { Command } from '../../args/command.ts';
import type { UserPrompter } from '../../../coding-agent/integrations/index.ts';
import { formatMcpTransport } from '../../../coding-agent/integrations/mcp-format.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { print, printErr } from '../../args/stdio.ts';
import { exitCodeOf } from '../../args/with-usage.ts';
import { createTtyPrompter } from '../../print-mode/tty-prompter.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  approveMcpServer,
  loginToMcpServer,
  readMcpServers,
  revokeMcpServer,
  listMcpStatus,
  readMcpServerStatus,
  formatMcpTool,
  type McpActionResult,
  type McpActionContext,
} from '../../mcp/server-actions.ts';
import { mcpServeUsage, mcpSubcommands } from './subcommand-help.ts';

const options = { json: { type: 'boolean' }, yes: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** Does something with the servers of this folder, or serves: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = async (args) => {
  const [verb = ''] = args;
  if (args.length === 0 && process.stdin.isTTY) return printAndReturn(`${formatUsage()}\n`, exitCodes.misused);
  if (verb === 'help' || verb === '--help' || verb === '-h')
    return printAndReturn(`${formatUsage()}\n`, exitCodes.answered);
  if (!Object.hasOwn(mcpSubcommands, verb)) return (await import('./serve.ts')).serve(args);
  const asked = parseMcpArgs(args);
  if (typeof asked === 'string') return (printErr(`${asked}\n${formatUsage()}\n`), exitCodes.misused);
  if (asked === undefined) return printAndReturn(`${formatUsage()}\n`, exitCodes.answered);
  return exitCodeOf(() => runSubcommand(asked));
};

type McpArgs = { readonly verb: string; readonly server: string; readonly json: boolean; readonly yes: boolean };

function parseMcpArgs(args: readonly string[]): McpArgs | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = '', server = '', ...more] = positionals;
    const stray = Object.keys(values).find((name) => !mcpSubcommands[verb]?.options.includes(name));
    if (stray !== undefined) return `--${stray} has no meaning for "fairlead mcp ${verb}".`;
    if (verb !== 'list' && server === '') return `"fairlead mcp ${verb}" needs the name of a server.`;
    const extra = verb === 'list' ? positionals[1] : more[0];
    if (extra !== undefined) return `"${extra}" is one too many for "fairlead mcp ${verb}".`;
    return { verb, server, json: values.json === true, yes: values.yes === true };
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

async function runSubcommand({ verb, server, json, yes }: McpArgs): Promise<number> {
  const settings = readSettings();
  const trust = fileTrust(`${settings.dirs.state}/approved.json`);
  const post: McpActionContext = { settings, cwd: realpathSync(process.cwd()), trust, prompter: createPrompter(yes) };
  if (verb === 'list') return listServers(post, json);
  if (verb !== 'tools') return printActionResult(await serverActions[verb as keyof typeof serverActions](post, server));
  const status = await readMcpServerStatus(post, server);
  const text = json
    ? JSON.stringify(status, null, 2)
    : [formatMcpStatus(status), ...status.tools.map(formatMcpTool)].join('\n\n');
  return printAndReturn(`${text}\n`, status.state === 'ready' ? exitCodes.answered : exitCodes.failed);
}

const serverActions = { approve: approveMcpServer, revoke: revokeMcpServer, login: loginToMcpServer } as const;

/** The person at the terminal; with `--yes` what is asked is shown, and agreed to. */
function createPrompter(yes: boolean): UserPrompter {
  const person = createTtyPrompter(printErr);
  if (!yes) return person;
  return {
    ...person,
    confirm: async (question, detail) => {
      printErr(`${question} yes\n${detail === undefined ? '' : `${detail}\n`}`);
      return true;
    },
  };
}

async function listServers(post: McpActionContext, json: boolean): Promise<number> {
  const { servers, problems } = readMcpServers(post);
  for (const problem of problems) printErr(`${problem}\n`);
  const all = await listMcpStatus(post);
  if (json) return printAndReturn(`${JSON.stringify(all, null, 2)}\n`, exitCodes.answered);
  if (all.length === 0)
    return printAndReturn(
      `No MCP server is named, neither in ${post.settings.dirs.config}/mcp.json nor in ${post.cwd}/.mcp.json.\n`,
      0,
    );
  const indented = (text: string): string => text.replaceAll(/^/gm, '  ');
  const texts = all.map(
    (status, i) => `${formatMcpStatus(status)}\n${indented(formatMcpTransport(servers[i] as (typeof servers)[0]))}`,
  );
  return printAndReturn(`${texts.join('\n\n')}\n`, exitCodes.answered);
}

const printActionResult = ({ done, text }: McpActionResult): number => {
  printErr(`${text}\n`);
  return done ? exitCodes.answered : exitCodes.failed;
};

function printAndReturn(text: string, code: number): number {
  print(text);
  return code;
}

const formatUsage = (): string =>
  [
    `Usage: ${mcpServeUsage}: offer the tools of this folder to other programs`,
    ...Object.entries(mcpSubcommands).map(
      ([verb, { usage: takes, description }]) => `       fairlead mcp ${verb} ${takes}: ${description}`,
    ),
  ].join('\n');
