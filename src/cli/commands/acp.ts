// The `acp` command: serves sessions to an editor over standard input and output (Agent Client Protocol). Standard output carries only the protocol.
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { agentProtocolRouter } from '@agentclientprotocol/sdk/experimental/v2';
import type { Command } from '../args/command.ts';
import { parseCliArgs, type CliArgs } from '../args/parse-args.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { printErr, printUsage } from '../args/stdio.ts';
import { reserveStdout } from '../args/reserve-stdout.ts';
import { exitCodeOf } from '../args/with-usage.ts';
import { withDebugLog, startBackgroundCleanup } from '../../coding-agent/state/index.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { createTtyHost } from '../print-mode/tty-prompter.ts';
import { version } from '../version.ts';
import { createAcpSessionRegistry, createV1Agent, createV2Agent } from '../../server/acp/index.ts';

const usage = `Usage: fairlead acp [--model <name>] [--private] [--auto-approve] [--no-sandbox] [--max-turns <n>] [--max-budget-usd <dollars>]

Serves sessions to an editor that supports the Agent Client Protocol, on standard input and output. Each is a normal
session: "fairlead sessions list" shows it, and the terminal can resume it.`;

/** Serves an editor until it disconnects; exit code 0 then, 2 invalid arguments, 130 or 143 by a signal. */
export const run: Command['run'] = async (args) => {
  if (args[0] === '--help' || args[0] === '-h') {
    printUsage(usage);
    return exitCodes.answered;
  }
  const parsed = parseCliArgs(args, { command: 'chat', isInteractive: true });
  if ('message' in parsed || parsed.action || parsed.session.type !== 'new') {
    printErr(
      `${'message' in parsed ? parsed.message : 'The editor selects the session and sends the prompts.'}\n${usage}\n`,
    );
    return exitCodes.misused;
  }
  return exitCodeOf(() => withDebugLog(readSettings(), 'acp', printErr, () => serveAcp(parsed)));
};

async function serveAcp(args: CliArgs): Promise<number> {
  const sessions = createAcpSessionRegistry(args, { notify: printErr, host: createTtyHost(printErr) });
  const stream = ndJsonStream(
    Writable.toWeb(reserveStdout()),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  );
  const connection = agentProtocolRouter()
    .withV1(createV1Agent(sessions, version))
    .withV2(createV2Agent(sessions, version))
    .connect(stream);
  const { promise: signalled, resolve } = Promise.withResolvers<number>();
  process.once('SIGINT', () => resolve(exitCodes.interrupted)).once('SIGTERM', () => resolve(exitCodes.terminated));
  const cleanup = startBackgroundCleanup(readSettings().dirs);
  const code = await Promise.race([signalled, connection.closed.then(() => exitCodes.answered)]);
  cleanup.abort();
  await sessions.closeAll();
  // An open pipe would keep the program alive after a signal.
  process.stdin.destroy();
  return code;
}
