// The `acp` command: an editor drives sessions over standard input and output. Standard output carries the protocol and nothing else.
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { agentProtocolRouter } from '@agentclientprotocol/sdk/experimental/v2';
import type { Command } from '../args/command.ts';
import { parseCliArgs, type CliArgs } from '../args/parse-args.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { printErr } from '../args/stdio.ts';
import { reserveStdout } from '../args/reserve-stdout.ts';
import { exitCodeOf } from '../args/with-usage.ts';
import { withDebugLog, startBackgroundCleanup } from '../../coding-agent/state/index.ts';
import { readSettings } from '../../coding-agent/settings/index.ts';
import { createTtyHost } from '../print-mode/tty-prompter.ts';
import { version } from '../version.ts';
import { createAcpSessionRegistry } from '../../server/acp/session-registry.ts';
import { createV1Agent } from '../../server/acp/v1.ts';
import { createV2Agent } from '../../server/acp/v2.ts';

const usage = `Usage: fairlead acp [--model <name>] [--private] [--auto-approve] [--no-sandbox] [--max-turns <n>] [--max-budget-usd <dollars>]

Lets an editor that speaks the Agent Client Protocol drive sessions on standard input and output. Each is a session like
any other: "fairlead sessions list" shows it, and a terminal can go on with it.`;

/** Serves an editor until it hangs up: 0 when it did, 2 misused, 130 or 143 by a signal. */
export const run: Command['run'] = async (args) => {
  if (args[0] === '--help' || args[0] === '-h') {
    process.stdout.write(`${usage}\n`);
    return exitCodes.answered;
  }
  const asked = parseCliArgs(args, { command: 'chat', isInteractive: true });
  if ('message' in asked || asked.action || asked.session.type !== 'new') {
    printErr(`${'message' in asked ? asked.message : 'An editor says itself what is to be done.'}\n${usage}\n`);
    return exitCodes.misused;
  }
  return exitCodeOf(() => withDebugLog(readSettings(), 'acp', printErr, () => serveAcp(asked)));
};

async function serveAcp(asked: CliArgs): Promise<number> {
  const seats = createAcpSessionRegistry(asked, { notify: printErr, host: createTtyHost(printErr) });
  const stream = ndJsonStream(
    Writable.toWeb(reserveStdout()),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  );
  const connection = agentProtocolRouter()
    .withV1(createV1Agent(seats, version))
    .withV2(createV2Agent(seats, version))
    .connect(stream);
  const { promise: told, resolve } = Promise.withResolvers<number>();
  process.once('SIGINT', () => resolve(exitCodes.interrupted)).once('SIGTERM', () => resolve(exitCodes.terminated));
  const tidying = startBackgroundCleanup(readSettings().dirs);
  const code = await Promise.race([told, connection.closed.then(() => exitCodes.answered)]);
  tidying.abort();
  await seats.closeAll();
  // An open pipe would keep the program alive after a signal.
  process.stdin.destroy();
  return code;
}
