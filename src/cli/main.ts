// The terminal's front door: picks a command, answers --help and --version itself, and hands everything else to the front. What it imports is paid for at every start.
import { commands as ownCommands, type CommandTable } from './command-table.ts';
import { version } from './version.ts';

/** Runs a command line and answers with the exit code. */
export async function main(args: readonly string[], commands: CommandTable = ownCommands): Promise<number> {
  const [first, ...rest] = args;
  if (first === '--version' || first === '-v') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const entry = first !== undefined && Object.hasOwn(commands, first) ? commands[first] : undefined;
  const isOurs = entry === undefined || first === 'chat' || first === 'run';
  if (first === 'help' || (isOurs && wantsHelp(args))) {
    const { helpText } = await import('./args/help.ts');
    process.stdout.write(helpText(commands));
    return 0;
  }
  if (entry) return (await entry.load()).run(rest);
  if (first !== undefined && rest.length === 0) {
    const { suggestCommand } = await import('./args/suggest-command.ts');
    const wrong = suggestCommand(first, Object.keys(commands));
    if (wrong !== undefined) {
      process.stderr.write(`${wrong}\n`);
      return 2;
    }
  }
  const { runConversationCommand } = await import('./commands/conversation.ts');
  return runConversationCommand(args, undefined);
}

/** Lets a reader go away: whoever read standard output has read enough, which ends conversations as a closed terminal does; without a standard error the work goes on. */
export function surviveClosedPipes(): void {
  const { stdout, stderr } = process;
  let gone = false;
  const fault = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void => {
    // Work that ends in order when its reader goes listens itself.
    if (stream.listenerCount('error') > 1) return;
    // A terminal that is closed refuses what is written before the signal of it arrives.
    if (error.code !== 'EPIPE' && !(error.code === 'EIO' && stream.isTTY)) throw error;
    // A second signal would break off what the first one ends in order.
    if (stream === stderr || gone) return;
    gone = true;
    if (process.listenerCount('SIGHUP') > 0) process.kill(process.pid, 'SIGHUP');
    else process.exit();
  };
  for (const stream of [stdout, stderr]) stream.on('error', (error) => fault(stream, error));
}

/** Help is given wherever it is asked for, unless what follows two dashes is a prompt. */
function wantsHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.some((word, i) => (end < 0 || i < end) && (word === '--help' || word === '-h'));
}
