// Writes the text of --help from the tables of commands, options and exit codes.
import type { CommandTable } from './command.ts';
import { exitCodeDescriptions } from './exit-codes.ts';
import { getOptionGroups, type CliOption, type CliOptionGroup, type ShortOptions } from './options.ts';

/** The text of --help. */
export function helpText(commands: CommandTable, shortOptions: ShortOptions = 'fairlead'): string {
  const groups = getOptionGroups(shortOptions);
  const rows = (all: readonly (readonly [string, string])[]): string =>
    all.map(([name, description]) => `  ${name.padEnd(34)} ${description}`).join('\n');
  const sections: readonly (readonly [string, string])[] = [
    ['Commands', rows(Object.entries(commands).map(([name, { summary }]) => [name, summary]))],
    ...groups.map(({ title, exclusive, options }): readonly [string, string] => [
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
    '       fairlead [options] "<prompt>"   answer once and exit; piped text is sent with the prompt',
    `       fairlead ${groups.flatMap(formatExclusiveUsage).join(' ')}`,
    '       fairlead <command> [options]',
    '',
    ...sections.flatMap(([title, text]) => [`${title}:`, text, '']),
  ].join('\n');
}

function formatFlags({ names, short, value, optional }: CliOption): string {
  const argument = value === undefined ? '' : optional ? ` [${value.slice(1, -1)}]` : ` ${value}`;
  return `${short === undefined ? '    ' : `-${short}, `}${names.map((name) => `--${name}`).join(', ')}${argument}`;
}

/** The options of an exclusive group as the usage line shows them. */
function formatExclusiveUsage({ exclusive, options }: CliOptionGroup): readonly string[] {
  if (!exclusive) return [];
  return [
    `[${options.map(({ names, value }) => `--${names[0]}${value === undefined ? '' : ` ${value}`}`).join(' | ')}]`,
  ];
}
