// Writes the text of --help from the tables of commands, options and exit codes.
import type { CommandTable } from './command.ts';
import { exitCodeDescriptions } from './exit-codes.ts';
import type { Profile } from '../../coding-agent/settings/index.ts';
import { getOptionGroups, type CliOption, type CliOptionGroup } from './options.ts';

/** The text of --help with the program name, the title and the short options of a profile. */
export function helpText(commands: CommandTable, profile: Pick<Profile, 'title' | 'program' | 'shortOptions'>): string {
  const groups = getOptionGroups(profile);
  const { title: heading, program } = profile;
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
    heading,
    '',
    `Usage: ${program} [options]${' '.repeat(14)}open the prompt`,
    `       ${program} [options] "<prompt>"   answer once and exit; piped text is sent with the prompt`,
    `       ${program} ${groups.flatMap(formatExclusiveUsage).join(' ')}`,
    `       ${program} <command> [options]`,
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
