// The `sessions` command: reads its words and hands them to what can be done with sessions.
import { parseArgs } from 'node:util';
import { FairleadError, closestMatches, formatError } from '../../../core/index.ts';
import type { Command } from '../../args/command.ts';
import { printErr } from '../../args/stdio.ts';
import { readSettings } from '../../../coding-agent/settings/settings.ts';
import { sessionsSubcommands, type SessionsSubcommand, type SessionsOptions } from './subcommands.ts';

const options = {
  json: { type: 'boolean' },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  empty: { type: 'boolean' },
  fleet: { type: 'boolean' },
  store: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Lists, shows and changes sessions: 0 done, 1 not, 2 misused. */
export const run: Command['run'] = async (args) => {
  const asked = parseSessionsArgs(args);
  if (asked === undefined) {
    process.stdout.write(`${formatUsage()}\n`);
    return 0;
  }
  if (typeof asked === 'string') {
    printErr(`${asked}\n${formatUsage()}\n`);
    return 2;
  }
  try {
    return await asked.subcommand.run(asked.words, { ...asked.options, dirs: readSettings().dirs });
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatError(error)}\n`);
    return 1;
  }
};

type SessionsArgs = {
  readonly subcommand: SessionsSubcommand;
  readonly words: readonly string[];
  readonly options: Omit<SessionsOptions, 'dirs'>;
};

/** What is asked for, what is wrong with it, or nothing where only the usage is. */
function parseSessionsArgs(args: readonly string[]): SessionsArgs | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = 'list', ...words] = positionals;
    const act = Object.hasOwn(sessionsSubcommands, verb) ? sessionsSubcommands[verb] : undefined;
    if (!act) return `There is no "fairlead sessions ${verb}".${suggestSubcommand(verb)}`;
    const stray = Object.keys(values).find((name) => !act.options.includes(name));
    if (stray !== undefined) return `--${stray} has no meaning for "fairlead sessions ${verb}".`;
    const [least, most] = act.argumentCount;
    if (words.length < least) return `"fairlead sessions ${verb}" needs more: ${act.usage}.`;
    if (words.length > most) return `"${words[most]}" is one too many for "fairlead sessions ${verb}".`;
    return { subcommand: act, words, options: { ...values } };
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

function suggestSubcommand(verb: string): string {
  const [near] = closestMatches(verb, Object.keys(sessionsSubcommands));
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

function formatUsage(): string {
  const lines = Object.entries(sessionsSubcommands).map(
    ([verb, { usage, description }]) => `  ${`${verb} ${usage}`.padEnd(52)} ${description}`,
  );
  const fleet =
    'Those of queued runs are in the store of the fleet: list, show, export and verify take --fleet, or --store <file or address>.';
  return ['Usage: fairlead sessions <command>', ...lines, fleet].join('\n');
}
