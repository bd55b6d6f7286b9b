// The completion script for fish.
import type { CompletionFlag, CompletionSource } from './completion-flag.ts';
import type { CompletionPoint } from './completion-spec.ts';

/** Formats the script for these completion points. */
export const formatFishScript = (points: readonly CompletionPoint[]): string => `# Completes fairlead in fish.

# Whether an option of a command takes a value.
function __fairlead_takes
  contains -- "$argv" ${formatFishValueCases(points).map(quoteFish).join(' ')}
end

# The command of the command line, and how many words follow it: two lines.
function __fairlead_place
  set -l place ''
  set -l count 0
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1; and not string match -q -- '-*' $word
      set skip 0
      continue
    end
    set skip 0
    if string match -q -- '-*' $word
      __fairlead_takes "$place" $word; and set skip 1
    else if test $count = 0; and contains -- (string trim -- "$place $word") ${points
      .filter(({ name }) => name !== '')
      .map(({ name }) => quoteFish(name))
      .join(' ')}
      set place (string trim -- "$place $word")
    else
      # Words that are not a command are a prompt.
      test -z "$place"; and set place run
      set count (math $count + 1)
    end
  end
  echo -- $place
  echo $count
end

# Whether the command line is at one of these commands.
function __fairlead_at
  set -l now (__fairlead_place)
  contains -- "$now[1]" $argv
end

# Whether it is there with no word after it.
function __fairlead_first
  set -l now (__fairlead_place)
  test "$now[2]" = 0; and contains -- "$now[1]" $argv
end

function __fairlead_values
  command fairlead completions --values $argv 2>/dev/null </dev/null
end

complete -c start-harness -w fairlead
complete -c start-harness-jayjader -w fairlead
complete -c fairlead -e
complete -c fairlead -f
${points.flatMap(formatFishFirstWords).join('\n')}
${formatFishFlags(points).join('\n')}
`;

const quoteFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const formatFishValueCases = (points: readonly CompletionPoint[]): readonly string[] =>
  points.flatMap(({ name, flags }) =>
    flags.flatMap(({ spellings, value }) => (value === undefined ? [] : spellings.map((each) => `${name} ${each}`))),
  );

function formatFishFirstWords({ name, firstWord }: CompletionPoint): readonly string[] {
  const condition = `complete -c fairlead -n ${quoteFish(`__fairlead_first ${quoteFish(name)}`)}`;
  if (typeof firstWord === 'string')
    return firstWord === 'anything' ? [] : [`${condition} ${formatFishSource(firstWord)}`];
  return firstWord.map(
    ({ word, description }) =>
      `${condition} -a ${quoteFish(quoteFish(word))}${description === '' ? '' : ` -d ${quoteFish(description)}`}`,
  );
}

/** Formats one line per flag, for all commands that have it. */
function formatFishFlags(points: readonly CompletionPoint[]): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const { name, flags } of points)
    for (const flag of flags) {
      const line = formatFishFlag(flag);
      lines.set(line, [...(lines.get(line) ?? []), name]);
    }
  return [...lines].map(
    ([line, names]) =>
      `complete -c fairlead -n ${quoteFish(`__fairlead_at ${names.map(quoteFish).join(' ')}`)} ${line}`,
  );
}

function formatFishFlag({ spellings, description, value }: CompletionFlag): string {
  const names = spellings.map((each) => (each.startsWith('--') ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`));
  const values =
    value === undefined
      ? []
      : [typeof value === 'string' ? formatFishSource(value) : `-x -a ${quoteFish(formatFishWordList(value))}`];
  return [...names, ...values, `-d ${quoteFish(description)}`].join(' ');
}

const formatFishWordList = (words: Exclude<CompletionSource, string>): string =>
  words.map(({ word }) => quoteFish(word)).join(' ');

function formatFishSource(source: CompletionSource & string): string {
  if (source === 'files') return '-r -F';
  return source === 'anything' ? '-x' : `-x -a '(__fairlead_values ${source})'`;
}
