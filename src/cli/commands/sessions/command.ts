// The `sessions` command: parses its arguments and runs the subcommand.
import { parseArgs } from 'node:util';
import { FairleadError, closestMatches, formatError } from '../../../core/index.ts';
import type { Command } from '../../args/command.ts';
import { printErr, printUsage } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/index.ts';
import { sessionsSubcommands, type SessionsSubcommand, type SessionsOptions } from './subcommands.ts';

const options = {
  all: { type: 'boolean' },
  json: { type: 'boolean' },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  empty: { type: 'boolean' },
  fleet: { type: 'boolean' },
  store: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Lists, shows and changes sessions; exit code 0 done, 1 failed, 2 invalid arguments. */
export const run: Command['run'] = async (args) => {
  const parsed = parseSessionsArgs(args);
  if (parsed === undefined) {
    printUsage(formatUsage());
    return 0;
  }
  if (typeof parsed === 'string') {
    printErr(`${parsed}\n${formatUsage()}\n`);
    return 2;
  }
  try {
    return await parsed.subcommand.run(parsed.args, { ...parsed.options, dirs: readSettings().dirs });
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatError(error)}\n`);
    return 1;
  }
};

type SessionsArgs = {
  readonly subcommand: SessionsSubcommand;
  readonly args: readonly string[];
  readonly options: Omit<SessionsOptions, 'dirs'>;
};

/** Parses the arguments; returns a message if they are invalid, undefined for --help. */
function parseSessionsArgs(args: readonly string[]): SessionsArgs | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = 'list', ...rest] = positionals;
    const subcommand = Object.hasOwn(sessionsSubcommands, verb) ? sessionsSubcommands[verb] : undefined;
    if (!subcommand) return `Unknown subcommand: sessions ${verb}.${suggestSubcommand(verb)}`;
    const stray = Object.keys(values).find((name) => !subcommand.options.includes(name));
    if (stray !== undefined) return `"fairlead sessions ${verb}" has no option --${stray}.`;
    const [min, max] = subcommand.argumentCount;
    if (rest.length < min) return `Missing argument: fairlead sessions ${verb} ${subcommand.usage}`;
    if (rest.length > max) return `Unexpected argument "${rest[max]}" for "fairlead sessions ${verb}".`;
    return { subcommand, args: rest, options: { ...values } };
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

function suggestSubcommand(verb: string): string {
  const [similar] = closestMatches(verb, Object.keys(sessionsSubcommands));
  return similar === undefined ? '' : ` Did you mean "${similar}"?`;
}

function formatUsage(): string {
  const lines = Object.entries(sessionsSubcommands).map(
    ([verb, { usage, description }]) => `  ${`${verb} ${usage}`.padEnd(52)} ${description}`,
  );
  const fleet =
    'Sessions of queued runs are in the store of the fleet: use --fleet or --store <file or url> with list, show, export and verify.';
  return ['Usage: fairlead sessions <command>', ...lines, fleet].join('\n');
}
