// The `sessions` command: reads its words and hands them to what can be done with sessions.
import { parseArgs } from 'node:util';
import { FairleadError, closestMatches } from '../../core/index.ts';
import type { Command } from '../commands.ts';
import { tell } from '../front/print.ts';
import { sentence } from '../front/sentence.ts';
import { readSettings } from '../settings/settings.ts';
import { acts, type Act, type Given } from './acts.ts';

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
  const asked = read(args);
  if (asked === undefined) {
    process.stdout.write(`${usage()}\n`);
    return 0;
  }
  if (typeof asked === 'string') {
    tell(`${asked}\n${usage()}\n`);
    return 2;
  }
  try {
    return await asked.act.run(asked.words, { ...asked.given, shelf: readSettings().dirs });
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    tell(`${sentence(error)}\n`);
    return 1;
  }
};

type Asked = { readonly act: Act; readonly words: readonly string[]; readonly given: Omit<Given, 'shelf'> };

/** What is asked for, what is wrong with it, or nothing where only the usage is. */
function read(args: readonly string[]): Asked | string | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help) return undefined;
    const [verb = 'list', ...words] = positionals;
    const act = Object.hasOwn(acts, verb) ? acts[verb] : undefined;
    if (!act) return `There is no "fairlead sessions ${verb}".${meant(verb)}`;
    const stray = Object.keys(values).find((name) => !act.options.includes(name));
    if (stray !== undefined) return `--${stray} has no meaning for "fairlead sessions ${verb}".`;
    const [least, most] = act.takes;
    if (words.length < least) return `"fairlead sessions ${verb}" needs more: ${act.usage}.`;
    if (words.length > most) return `"${words[most]}" is one too many for "fairlead sessions ${verb}".`;
    return { act, words, given: { ...values } };
  } catch (error) {
    return (error as Error).message.replace(/\. To specify[^]*$/, '.');
  }
}

function meant(verb: string): string {
  const [near] = closestMatches(verb, Object.keys(acts));
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

function usage(): string {
  const lines = Object.entries(acts).map(([verb, { usage, about }]) => `  ${`${verb} ${usage}`.padEnd(52)} ${about}`);
  const fleet =
    'Those of queued runs are in the store of the fleet: list, show, export and verify take --fleet, or --store <file or address>.';
  return ['Usage: fairlead sessions <command>', ...lines, fleet].join('\n');
}
