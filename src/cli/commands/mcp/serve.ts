// The `mcp` command: other programs use this folder's tools, or let an agent work in it. Standard output carries the protocol and nothing else.
import { parseArgs } from 'node:util';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { parseCliArgs, type CliArgs } from '../../args/parse-args.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { printErr } from '../../args/stdio.ts';
import { reserveStdout } from '../../args/reserve-stdout.ts';
import { exitCodeOf } from '../../args/with-usage.ts';
import { withDebugLog } from '../../../coding-agent/state/index.ts';
import { mcpServeUsage } from './subcommand-help.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';
import { version } from '../../version.ts';
import { createMcpServer, type McpServerHandle } from '../../../server/mcp/server.ts';

const usage = `Usage: ${mcpServeUsage}

Offers the tools of this folder, and run_agent, to a program that speaks the Model Context Protocol on standard input
and output, or on http://127.0.0.1:<port>/mcp with --http. In a pipe "serve" can be left away. What changes something is
put to the person at the client, and refused where that cannot be; --allow-write allows it unasked. With --no-sandbox
commands run as you, and reach all that you can. Over HTTP a bearer token is needed: FAIRLEAD_MCP_TOKEN, or one that is
made up and printed on standard error.`;

type McpServeArgs = { readonly args: CliArgs; readonly port: number | undefined };

/** Serves until the client hangs up: 0 when it did, 2 misused, 130 or 143 by a signal. */
export async function serve(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    return exitCodes.answered;
  }
  const wanted = parseMcpServeArgs(verb === 'serve' ? rest : args);
  if (typeof wanted === 'string') {
    printErr(`${wanted}\n${usage}\n`);
    return exitCodes.misused;
  }
  return exitCodeOf(() => withDebugLog(readSettings(), 'mcp serve', printErr, () => serveMcp(wanted)));
}

function parseMcpServeArgs(args: readonly string[]): McpServeArgs | string {
  const options = {
    'allow-write': { type: 'boolean', default: false },
    'no-sandbox': { type: 'boolean', default: false },
    http: { type: 'string' },
    model: { type: 'string' },
    'max-turns': { type: 'string' },
    'max-budget-usd': { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    const { http, 'allow-write': write, 'no-sandbox': bare, ...others } = values;
    const port = http === undefined ? undefined : Number(http);
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536))
      return `--http needs a port from 0 to 65535, not "${http}".`;
    const given = Object.entries(others).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    );
    const flags = [...(write ? ['--auto-approve'] : []), ...(bare ? ['--no-sandbox'] : [])];
    const asked = parseCliArgs([...given, ...flags], { command: 'chat', isInteractive: true });
    return 'message' in asked ? asked.message : { args: asked, port };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function serveMcp({ args, port }: McpServeArgs): Promise<number> {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  const offer = await createMcpServer(args, settings, {
    notify: printErr,
    host: createTtyHost(printErr),
    version,
  });
  const { promise: over, resolve } = Promise.withResolvers<number>();
  process.once('SIGINT', () => resolve(exitCodes.interrupted)).once('SIGTERM', () => resolve(exitCodes.terminated));
  try {
    const connection = port === undefined ? serveOnStdio(offer, resolve) : await serveOnHttp(offer, port);
    const code = await over;
    await connection.close();
    // An open pipe would keep the program alive after a signal.
    process.stdin.destroy();
    return code;
  } finally {
    await offer.close();
  }
}

type McpConnection = { close(): Promise<void> };

function serveOnStdio(offer: McpServerHandle, over: (code: number) => void): McpConnection {
  const { stdin } = process;
  stdin.once('close', () => over(exitCodes.answered)).once('end', () => over(exitCodes.answered));
  return serveStdio(offer.factory, {
    transport: new StdioServerTransport(stdin, reserveStdout()),
    onerror: (error) => printErr(`${error.message}\n`),
  });
}

async function serveOnHttp(offer: McpServerHandle, port: number): Promise<McpConnection> {
  const { listenMcpHttp } = await import('../../../server/mcp/http.ts');
  const given = process.env['FAIRLEAD_MCP_TOKEN'];
  const { url, token, close } = await listenMcpHttp(offer.factory, port, printErr, given || undefined);
  printErr(`Listening at ${url}\n`);
  if (!given) printErr(`Send this header: Authorization: Bearer ${token}\n`);
  return { close };
}
