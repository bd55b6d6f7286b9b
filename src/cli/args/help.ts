// Writes the text of --help from the tables of commands, options and exit codes, and suggests a command for a mistyped name.
import { closestMatches } from '../../core/index.ts';
import type { CommandTable } from './command.ts';
import { exitCodeDescriptions } from './exit-codes.ts';
import { cliOptionGroups, type CliOption, type CliOptionGroup } from './options.ts';

/** The text of --help. */
export function helpText(commands: CommandTable): string {
  const rows = (all: readonly (readonly [string, string])[]): string =>
    all.map(([name, description]) => `  ${name.padEnd(34)} ${description}`).join('\n');
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

/** Returns a suggestion if a single argument is nearly the name of a command, so that "sesions" is not sent to a model. */
export function suggestCommand(word: string, names: readonly string[]): string | undefined {
  if (!/^[a-z-]+$/.test(word) || word.startsWith('-')) return undefined;
  // Up to three letters are close to every short name: "say" and "hi" are prompts, not a mistyped "why".
  const isLike = (name: string): boolean => word.length > 3 || name[0] === word[0];
  const match = closestMatches(word, names).find((name) => isLike(name) && Math.abs(name.length - word.length) <= 2);
  return match === undefined
    ? undefined
    : `There is no command "${word}"; did you mean "${match}"? To send this word to a model: fairlead run ${word}`;
}
