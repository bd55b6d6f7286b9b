// Where a command line becomes a conversation or a single run; what goes wrong on the way is one sentence and an exit code.
import { parseCliArgs, type Invocation } from '../args/parse-args.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { printErr } from '../args/stdio.ts';
import { exitCodeOf } from '../args/format-error.ts';

/** Does what a command line asks for and answers with the exit code. */
export async function runConversationCommand(args: readonly string[], as: Invocation['command']): Promise<number> {
  if (args.length === 0 && as === undefined && !process.stdin.isTTY && (await isEmptyStream(process.stdin))) {
    const [{ helpText }, { commands }] = await Promise.all([import('../args/help.ts'), import('../command-table.ts')]);
    process.stdout.write(helpText(commands));
    return exitCodes.answered;
  }
  const asked = parseCliArgs(args, {
    // Looked up where it counts: opening standard input costs a start more than reading the command line.
    get isInteractive() {
      return process.stdin.isTTY;
    },
    ...(as === undefined ? {} : { command: as }),
  });
  if ('message' in asked) {
    printErr(`${asked.message}\nfairlead --help shows how it is used.\n`);
    return exitCodes.misused;
  }
  return exitCodeOf(async () => {
    if (asked.mode === 'one-shot') return (await import('../print-mode/print-mode.ts')).runPrintMode(asked);
    return (await import('../interactive/interactive.ts')).runInteractive(asked);
  });
}

/** Whether nothing will come on this stream; what does come is left in it. */
async function isEmptyStream(stream: NodeJS.ReadStream): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  stream.once('readable', () => {
    const piece = stream.read() as Buffer | null;
    if (piece !== null) stream.unshift(piece);
    resolve(piece === null);
  });
  stream.once('error', () => resolve(true));
  return promise;
}
