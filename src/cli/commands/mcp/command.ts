// The `mcp` command: manages the MCP servers of a directory; `mcp serve` runs Fairlead as an MCP server.
import { withProgramName } from '../../args/program-name.ts';
import { realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fileTrust } from '../../../guards/index.ts';
import { formatMcpStatus } from '../../../tools/mcp/index.ts';
import type { Command } from '../../args/command.ts';
import { type UserPrompter, formatMcpTransport } from '../../../coding-agent/integrations/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { printAndReturn, printErr } from '../../args/stdio.ts';
import { exitCodeOf } from '../../args/with-usage.ts';
import { createTtyPrompter } from '../../print-mode/tty-prompter.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import {
  approveMcpServer,
  loginToMcpServer,
  readMcpServers,
  revokeMcpServer,
  switchTool,
  listMcpStatus,
  readMcpServerStatus,
  formatMcpTool,
  type McpActionResult,
  type McpActionContext,
} from '../../mcp/server-actions.ts';
import { mcpServeUsage, mcpSubcommands } from './subcommand-help.ts';

const options = { json: { type: 'boolean' }, yes: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** Manages the servers of this directory, or serves; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const [verb = ''] = args;
  if (args.length === 0 && process.stdin.isTTY)
    return printAndReturn(withProgramName(formatUsage()), exitCodes.misused);
  if (verb === 'help' || verb === '--help' || verb === '-h')
    return printAndReturn(withProgramName(formatUsage()), exitCodes.answered);
  if (verb === '') printErr(servesMessage);
  if (verb === 'add' || verb === 'remove') {
    const { runConfigEdit } = await import('./edit-config.ts');
    return runConfigEdit(args, formatUsage());
  }
  if (!Object.hasOwn(mcpSubcommands, verb) && verb !== 'serve' && verb !== '' && !verb.startsWith('-'))
    return (printErr(`Unknown subcommand: mcp ${verb}\n${formatUsage()}\n`), exitCodes.misused);
  if (!Object.hasOwn(mcpSubcommands, verb)) return (await import('./serve.ts')).serve(args);
  const parsed = parseMcpArgs(args);
  if (typeof parsed === 'string') return (printErr(`${parsed}\n${formatUsage()}\n`), exitCodes.misused);
  if (parsed === undefined) return printAndReturn(withProgramName(formatUsage()), exitCodes.answered);
  return exitCodeOf(() => runSubcommand(parsed));
};

const servesMessage =
  'Fairlead runs as an MCP server on standard input and output. "fairlead mcp list" lists the servers that it uses itself.\n';

type McpArgs = {
  readonly verb: string;
  readonly server: string;
  readonly tool: string;
  readonly json: boolean;
  readonly yes: boolean;
};

function parseMcpArgs(args: readonly string[]): McpArgs | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = '', server = '', ...words] = positionals;
    const isSwitch = verb === 'on' || verb === 'off';
    const [tool = '', ...more] = isSwitch ? words : ['', ...words];
    const stray = Object.keys(values).find((name) => !mcpSubcommands[verb]?.options.includes(name));
    if (stray !== undefined) return `"fairlead mcp ${verb}" has no option --${stray}.`;
    if (verb !== 'list' && server === '') return `"fairlead mcp ${verb}" needs the name of a server.`;
    if (isSwitch && tool === '') return `"fairlead mcp ${verb}" needs the name of a tool.`;
    const extra = verb === 'list' ? positionals[1] : more[0];
    if (extra !== undefined) return `Unexpected argument "${extra}" for "fairlead mcp ${verb}".`;
    return { verb, server, tool, json: values.json === true, yes: values.yes === true };
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

async function runSubcommand({ verb, server, tool, json, yes }: McpArgs): Promise<number> {
  const settings = readSettings();
  const trust = fileTrust(`${settings.dirs.state}/approved.json`);
  const context: McpActionContext = {
    settings,
    cwd: realpathSync(process.cwd()),
    trust,
    prompter: createPrompter(yes),
  };
  if (verb === 'list') return listServers(context, json);
  if (verb === 'on' || verb === 'off')
    return printActionResult(await switchTool(context, { server, tool }, verb === 'on'));
  if (verb !== 'tools')
    return printActionResult(await serverActions[verb as keyof typeof serverActions](context, server));
  const status = await readMcpServerStatus(context, server);
  const text = json
    ? JSON.stringify(status, null, 2)
    : [formatMcpStatus(status), ...status.tools.map(formatMcpTool)].join('\n\n');
  return printAndReturn(text, status.state === 'ready' ? exitCodes.answered : exitCodes.failed);
}

const serverActions = { approve: approveMcpServer, revoke: revokeMcpServer, login: loginToMcpServer } as const;

/** Asks on the terminal; with `--yes` each question is printed and confirmed. */
function createPrompter(yes: boolean): UserPrompter {
  const prompter = createTtyPrompter(printErr);
  if (!yes) return prompter;
  return {
    ...prompter,
    confirm: async (question, detail) => {
      printErr(`${question} yes\n${detail === undefined ? '' : `${detail}\n`}`);
      return true;
    },
  };
}

async function listServers(context: McpActionContext, json: boolean): Promise<number> {
  const { servers, problems } = readMcpServers(context);
  for (const problem of problems) printErr(`${problem}\n`);
  const all = await listMcpStatus(context);
  if (json) return printAndReturn(JSON.stringify(all, null, 2), exitCodes.answered);
  if (all.length === 0)
    return printAndReturn(
      `No MCP servers configured (looked in ${context.settings.dirs.config}/mcp.json, ${context.cwd}/.mcp.json).`,
      0,
    );
  const indented = (text: string): string => text.replaceAll(/^/gm, '  ');
  const texts = all.map(
    (status, i) => `${formatMcpStatus(status)}\n${indented(formatMcpTransport(servers[i] as (typeof servers)[0]))}`,
  );
  return printAndReturn(texts.join('\n\n'), exitCodes.answered);
}

const printActionResult = ({ done, text }: McpActionResult): number => {
  printErr(`${text}\n`);
  return done ? exitCodes.answered : exitCodes.failed;
};

const formatUsage = (): string =>
  [
    `Usage: ${mcpServeUsage}: offer the tools of this directory to other programs`,
    ...Object.entries(mcpSubcommands).map(
      ([verb, { usage, description }]) => `       fairlead mcp ${verb} ${usage}: ${description}`,
    ),
  ].join('\n');
