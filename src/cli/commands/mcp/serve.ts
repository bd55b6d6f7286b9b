// `fairlead mcp serve`: an MCP server with the tools of this directory and run_agent. Standard output carries only the protocol.
import { parseArgs } from 'node:util';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { parseCliArgs, type CliArgs } from '../../args/parse-args.ts';
import { exitCodes } from '../../args/exit-codes.ts';
import { printErr, printUsage } from '../../args/stdio.ts';
import { reserveStdout } from '../../args/reserve-stdout.ts';
import { exitCodeOf } from '../../args/with-usage.ts';
import { withDebugLog } from '../../../coding-agent/state/index.ts';
import { mcpServeUsage } from './subcommand-help.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { createTtyHost } from '../../print-mode/tty-prompter.ts';
import { version } from '../../version.ts';
import { createMcpServer, type McpServerHandle } from '../../../server/mcp/index.ts';

const usage = `Usage: ${mcpServeUsage}

Offers the tools of this directory, and run_agent, to an MCP client on standard input and output, or on
http://127.0.0.1:<port>/mcp with --http. In a pipe "serve" can be omitted. Calls that change something need the approval
of the user of the client, and are denied if the client cannot ask; --allow-write approves them. With --no-sandbox
commands run with your permissions. HTTP needs a bearer token: FAIRLEAD_MCP_TOKEN, or one that is generated and shown
in the terminal; without a terminal it is saved in a file that only you can read.`;

type McpServeArgs = { readonly args: CliArgs; readonly port: number | undefined };

/** Serves until the client disconnects; exit code 0 then, 2 invalid arguments, 130 or 143 by a signal. */
export async function serve(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  if (args.includes('--help') || args.includes('-h')) {
    printUsage(usage);
    return exitCodes.answered;
  }
  const parsed = parseMcpServeArgs(verb === 'serve' ? rest : args);
  if (typeof parsed === 'string') {
    printErr(`${parsed}\n${usage}\n`);
    return exitCodes.misused;
  }
  return exitCodeOf(() => withDebugLog(readSettings(), 'mcp serve', printErr, () => serveMcp(parsed)));
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
    const { http, 'allow-write': allowWrite, 'no-sandbox': noSandbox, ...others } = values;
    const port = http === undefined ? undefined : Number(http);
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536))
      return `--http needs a port from 0 to 65535, not "${http}".`;
    const otherArgs = Object.entries(others).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    );
    const flags = [...(allowWrite ? ['--auto-approve'] : []), ...(noSandbox ? ['--no-sandbox'] : [])];
    const parsed = parseCliArgs([...otherArgs, ...flags], { command: 'chat', isInteractive: true });
    return 'message' in parsed ? parsed.message : { args: parsed, port };
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
}

async function serveMcp({ args, port }: McpServeArgs): Promise<number> {
  const settings = readSettings();
  for (const warning of settings.warnings) printErr(`${warning}\n`);
  const server = await createMcpServer(args, settings, {
    notify: printErr,
    host: createTtyHost(printErr),
    version,
  });
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  process.once('SIGINT', () => resolve(exitCodes.interrupted)).once('SIGTERM', () => resolve(exitCodes.terminated));
  try {
    const connection =
      port === undefined ? serveOnStdio(server, resolve) : await serveOnHttp(server, port, settings.dirs.state);
    const code = await ended;
    await connection.close();
    // An open pipe would keep the program alive after a signal.
    process.stdin.destroy();
    return code;
  } finally {
    await server.close();
  }
}

type McpConnection = { close(): Promise<void> };

function serveOnStdio(server: McpServerHandle, end: (code: number) => void): McpConnection {
  const { stdin } = process;
  stdin.once('close', () => end(exitCodes.answered)).once('end', () => end(exitCodes.answered));
  return serveStdio(server.factory, {
    transport: new StdioServerTransport(stdin, reserveStdout()),
    onerror: (error) => printErr(`${error.message}\n`),
  });
}

async function serveOnHttp(server: McpServerHandle, port: number, folder: string): Promise<McpConnection> {
  const { listenMcpHttp, loadOrCreateToken } = await import('../../../server/mcp/index.ts');
  const envToken = process.env['FAIRLEAD_MCP_TOKEN'];
  // Output that is not a terminal is kept in logs: the token goes to a file instead.
  const saved =
    envToken || process.stderr.isTTY ? undefined : loadOrCreateToken(folder, 'mcp-token', 'FAIRLEAD_MCP_TOKEN');
  const { url, token, close } = await listenMcpHttp(server.factory, port, printErr, envToken || saved?.key);
  const access = saved ? `The token is in ${saved.file}` : `Send this header: Authorization: Bearer ${token}`;
  printErr(`Listening at ${url}\n${envToken ? '' : `${access}\n`}`);
  return { close };
}
