// How a command with options of its own ends when it cannot do its work: a sentence, and how it is used where it was misused.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { FairleadError, formatError } from '../../core/index.ts';
import { print, printErr } from './stdio.ts';

/** Does a command's work and gives its exit code: 1 for an error of ours, 2 for options that it does not take. */
export async function withUsage(usage: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TypeError) {
      printErr(`${error.message.split('\n')[0]}\n${usage}\n`);
      return 2;
    }
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatError(error)}\n`);
    return 1;
  }
}

/** Options as `parseArgs` takes them. */
type ParseOptions = NonNullable<ParseArgsConfig['options']>;

/** What was given for such options. */
export type ParsedOptions<O extends ParseOptions> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O }>
>['values'];

/** How a command is used, the options it takes beside `--help`, and whether it takes words too. */
export type CommandOptions<O extends ParseOptions> = {
  readonly usage: string;
  readonly options: O;
  readonly allowPositionals?: boolean;
};

/** A command that has its options read: asked for help it says how it is used and does nothing. */
export const withOptions =
  <O extends ParseOptions>(
    { usage, options, allowPositionals = false }: CommandOptions<O>,
    work: (given: ParsedOptions<O>, words: readonly string[]) => Promise<number>,
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
      print(`${usage}\n`);
      return 0;
    });
