// The help: usage, commands, options by group, exit codes; all of it from the tables that are also parsed.
import type { CommandTable } from '../command-table.ts';
import { exitCodeDescriptions } from './exit-codes.ts';
import { cliOptionGroups, type CliOption, type CliOptionGroup } from './options.ts';

/** The text of --help. */
export function helpText(commands: CommandTable): string {
  const rows = (all: readonly (readonly [string, string])[]): string =>
    all.map(([name, about]) => `  ${name.padEnd(34)} ${about}`).join('\n');
  const sections: readonly (readonly [string, string])[] = [
    ['Commands', rows(Object.entries(commands).map(([name, { summary }]) => [name, summary]))],
    ...cliOptionGroups.map(({ title, exclusive, options }): readonly [string, string] => [
      exclusive ? `${title} (one of these)` : title,
      rows(options.map((option) => [formatFlags(option), option.description])),
    ]),
    [
      'Other',
      rows([
        ['-h, --help', 'show this text'],
        ['-v, --version', 'show the version'],
      ]),
    ],
    ['Exit codes', rows(exitCodeDescriptions.map(([code, meaning]) => [String(code), meaning]))],
  ];
  return [
    'Fairlead, an agent harness for any model',
    '',
    'Usage: fairlead [options]              open the prompt',
    '       fairlead [options] <prompt>     answer once and exit',
    `       fairlead ${cliOptionGroups.flatMap(formatExclusiveUsage).join(' ')}`,
    '       fairlead <command> [options]',
    '',
    ...sections.flatMap(([title, text]) => [`${title}:`, text, '']),
  ].join('\n');
}

function formatFlags({ names, short, value, optional }: CliOption): string {
  const taken = value === undefined ? '' : optional ? ` [${value.slice(1, -1)}]` : ` ${value}`;
  return `${short === undefined ? '    ' : `-${short}, `}${names.map((name) => `--${name}`).join(', ')}${taken}`;
}

/** The groups of which one may be given, as a usage line shows them. */
function formatExclusiveUsage({ exclusive, options }: CliOptionGroup): readonly string[] {
  if (!exclusive) return [];
  return [
    `[${options.map(({ names, value }) => `--${names[0]}${value === undefined ? '' : ` ${value}`}`).join(' | ')}]`,
  ];
}
