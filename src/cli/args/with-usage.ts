// Runs the work of a command: parses its options, prints its errors and usage, and returns its exit code.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { FairleadError } from '../../core/index.ts';
import { exitCodeForError } from './exit-codes.ts';
import { formatCliError, withProgramName } from './program-name.ts';
import { print, printErr } from './stdio.ts';

/** Returns the exit code of some work; a FairleadError is printed to standard error and gives its exit code. */
export async function exitCodeOf(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatCliError(error)}\n`);
    return exitCodeForError(error.code);
  }
}

/** Returns the exit code of a command's work: 1 for a FairleadError, 2 with the usage for invalid options. */
export async function withUsage(usage: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TypeError) {
      printErr(`${error.message.split('\n')[0]}\n${withProgramName(usage)}\n`);
      return 2;
    }
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatCliError(error)}\n`);
    return 1;
  }
}

/** Options as `parseArgs` expects them. */
type ParseOptions = NonNullable<ParseArgsConfig['options']>;

/** An option with a value. */
export const stringOption = { type: 'string' } as const;

/** The parsed values of such options. */
export type ParsedOptions<O extends ParseOptions> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O }>
>['values'];

/** The usage of a command, its options besides `--help`, and whether it takes positional arguments. */
export type CommandOptions<O extends ParseOptions> = {
  readonly usage: string;
  readonly options: O;
  readonly allowPositionals?: boolean;
};

/** Creates a command function that parses options; with `--help` it prints the usage. */
export const withOptions =
  <O extends ParseOptions>(
    { usage, options, allowPositionals = false }: CommandOptions<O>,
    work: (values: ParsedOptions<O>, positionals: readonly string[]) => Promise<number>,
  ) =>
  (args: readonly string[]): Promise<number> =>
    withUsage(usage, async () => {
      const help = { help: { type: 'boolean', short: 'h' } } as const;
      const { values, positionals } = parseArgs({
        args: [...args],
        options: { ...options, ...help },
        allowPositionals,
      });
      if (!('help' in values)) return work(values, positionals);
      print(`${withProgramName(usage)}\n`);
      return 0;
    });
