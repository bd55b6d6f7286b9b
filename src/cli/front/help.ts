// The help: usage, commands, options by group, exit codes; all of it from the tables that are also parsed.
import type { CommandTable } from '../commands.ts';
import { exitMeanings } from './exit-codes.ts';
import { optionGroups, type Option, type OptionGroup } from './options.ts';

/** The text of --help. */
export function helpText(commands: CommandTable): string {
  const rows = (all: readonly (readonly [string, string])[]): string =>
    all.map(([name, about]) => `  ${name.padEnd(34)} ${about}`).join('\n');
  const sections: readonly (readonly [string, string])[] = [
    ['Commands', rows(Object.entries(commands).map(([name, { summary }]) => [name, summary]))],
    ...optionGroups.map(({ title, exclusive, options }): readonly [string, string] => [
      exclusive ? `${title} (one of these)` : title,
      rows(options.map((option) => [flagsOf(option), option.about])),
    ]),
    [
      'Other',
      rows([
        ['-h, --help', 'show this text'],
        ['-v, --version', 'show the version'],
      ]),
    ],
    ['Exit codes', rows(exitMeanings.map(([code, meaning]) => [String(code), meaning]))],
  ];
  return [
    'Fairlead, an agent harness for any model',
    '',
    'Usage: fairlead [options]              open the prompt',
    '       fairlead [options] <prompt>     answer once and exit',
    `       fairlead ${optionGroups.flatMap(usageOf).join(' ')}`,
    '       fairlead <command> [options]',
    '',
    ...sections.flatMap(([title, text]) => [`${title}:`, text, '']),
  ].join('\n');
}

function flagsOf({ names, short, value, optional }: Option): string {
  const taken = value === undefined ? '' : optional ? ` [${value.slice(1, -1)}]` : ` ${value}`;
  return `${short === undefined ? '    ' : `-${short}, `}${names.map((name) => `--${name}`).join(', ')}${taken}`;
}

/** The groups of which one may be given, as a usage line shows them. */
function usageOf({ exclusive, options }: OptionGroup): readonly string[] {
  if (!exclusive) return [];
  return [
    `[${options.map(({ names, value }) => `--${names[0]}${value === undefined ? '' : ` ${value}`}`).join(' | ')}]`,
  ];
}
