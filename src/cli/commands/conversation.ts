// Runs a command line as an interactive conversation or as a single prompt (`fairlead`, `fairlead chat`, `fairlead run`).
import { formatCliError, withProgramName } from '../args/program-name.ts';
import path from 'node:path';
import { FairleadError, systemErrorCode } from '../../core/index.ts';
import { parseCliArgs, type CliArgs, type Invocation } from '../args/parse-args.ts';
import { exitCodes } from '../args/exit-codes.ts';
import { readProfile } from '../args/profile.ts';
import { print, printErr } from '../args/stdio.ts';
import { hasPipedInput } from '../print-mode/read-stdin.ts';
import { exitCodeOf } from '../args/with-usage.ts';

/** Runs the arguments of `chat`, `run` or no command, and returns the exit code. `commands` are names that are not taken for a prompt. */
export async function runConversationCommand(
  args: readonly string[],
  command: Invocation['command'],
  commands: readonly string[] = [],
): Promise<number> {
  const parsed = parseCliArgs(args, {
    // A getter: opening standard input takes longer than parsing the command line, and few arguments need it.
    get isInteractive() {
      return process.stdin.isTTY;
    },
    get hasPipedText() {
      return hasPipedInput();
    },
    commands,
    // The settings are read a second time below, so they are read here only for a command line with such an option.
    ...(hasShortOptions(args) ? { shortOptions: (await readProfile()).shortOptions } : {}),
    ...(command === undefined ? {} : { command }),
  });
  if ('message' in parsed) {
    printErr(`${parsed.message}\n${withProgramName('Run fairlead --help for usage.')}\n`);
    if (namesJsonOutput(args)) await printFailureJson(parsed.message);
    return exitCodes.misused;
  }
  return exitCodeOf(async () => {
    if (parsed.mode === 'one-shot') return runOnce(parsed);
    changeDirectory(parsed.cwd);
    return (await import('../interactive/interactive.ts')).runInteractive(parsed);
  });
}

/** Runs one action. A reader of JSON output finds a result in the last line, also if no run was started. */
async function runOnce(args: CliArgs): Promise<number> {
  try {
    changeDirectory(args.cwd);
    return await (await import('../print-mode/print-mode.ts')).runPrintMode(args);
  } catch (error) {
    if (args.outputFormat !== 'text')
      await printFailureJson(error instanceof Error ? formatCliError(error) : String(error));
    throw error;
  }
}

async function printFailureJson(message: string): Promise<void> {
  const { formatFailureJson } = await import('../print-mode/printers.ts');
  print(formatFailureJson(message));
}

/** Whether an argument has short options, whose meaning depends on the profile. */
const hasShortOptions = (args: readonly string[]): boolean => args.some((arg) => /^-[a-z]*c/i.test(arg));

/** Whether the arguments ask for JSON; read from the words, since they could not be parsed. */
function namesJsonOutput(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end < 0 ? args : args.slice(0, end);
  return options.some(
    (arg, i) =>
      arg === '--json' ||
      /^--output-format=(?:stream-)?json$/.test(arg) ||
      (arg === '--output-format' && /^(?:stream-)?json$/.test(options[i + 1] ?? '')),
  );
}

/** Works in the folder of --cwd: settings, project files and relative paths are those of a start in that folder. */
function changeDirectory(cwd: string | undefined): void {
  if (cwd === undefined) return;
  try {
    process.chdir(cwd);
  } catch (error) {
    const reason = { ENOENT: 'does not exist', ENOTDIR: 'is not a folder' }[systemErrorCode(error) ?? ''];
    throw new FairleadError('cli/bad-cwd', `The folder of --cwd ${reason ?? 'cannot be used'}: ${path.resolve(cwd)}`, {
      blame: 'user',
      cause: error,
    });
  }
}
