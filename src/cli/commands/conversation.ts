// Runs a command line as an interactive conversation or as a single prompt (`fairlead`, `fairlead chat`, `fairlead run`).
import { parseCliArgs, type Invocation } from '../args/parse-args.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { printErr } from '../args/stdio.ts';
import { exitCodeOf } from '../args/with-usage.ts';

/** Runs the arguments of `chat`, `run` or no command, and returns the exit code. */
export async function runConversationCommand(args: readonly string[], command: Invocation['command']): Promise<number> {
  const parsed = parseCliArgs(args, {
    // A getter: opening standard input takes longer than parsing the command line, and few arguments need it.
    get isInteractive() {
      return process.stdin.isTTY;
    },
    ...(command === undefined ? {} : { command }),
  });
  if ('message' in parsed) {
    printErr(`${parsed.message}\nRun fairlead --help for usage.\n`);
    return exitCodes.misused;
  }
  return exitCodeOf(async () => {
    if (parsed.mode === 'one-shot') return (await import('../print-mode/print-mode.ts')).runPrintMode(parsed);
    return (await import('../interactive/interactive.ts')).runInteractive(parsed);
  });
}
