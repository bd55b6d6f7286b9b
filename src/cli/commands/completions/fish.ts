// The completion script for fish.
import type { CompletionFlag, CompletionPoint, CompletionSource } from './completion-spec.ts';

/** The script that completes at these places. */
export const formatFishScript = (places: readonly CompletionPoint[]): string => `# Completes fairlead in fish.

# Whether an option takes a word of its own at a place.
function __fairlead_takes
  contains -- "$argv" ${formatFishValueCases(places).map(quoteFish).join(' ')}
end

# Where the command line stands, and how many words follow: two lines.
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
    else if test $count = 0; and contains -- (string trim -- "$place $word") ${places
      .filter(({ name }) => name !== '')
      .map(({ name }) => quoteFish(name))
      .join(' ')}
      set place (string trim -- "$place $word")
    else
      # Words that are no command are a prompt.
      test -z "$place"; and set place run
      set count (math $count + 1)
    end
  end
  echo -- $place
  echo $count
end

# Whether the command line stands at one of these places.
function __fairlead_at
  set -l now (__fairlead_place)
  contains -- "$now[1]" $argv
end

# Whether it stands there with no word after it.
function __fairlead_first
  set -l now (__fairlead_place)
  test "$now[2]" = 0; and contains -- "$now[1]" $argv
end

function __fairlead_values
  command fairlead completions --values $argv 2>/dev/null </dev/null
end

complete -c start-harness -w fairlead
complete -c fairlead -e
complete -c fairlead -f
${places.flatMap(formatFishFirstWords).join('\n')}
${formatFishFlags(places).join('\n')}
`;

const quoteFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const formatFishValueCases = (places: readonly CompletionPoint[]): readonly string[] =>
  places.flatMap(({ name, flags }) =>
    flags.flatMap(({ spellings, value }) => (value === undefined ? [] : spellings.map((each) => `${name} ${each}`))),
  );

function formatFishFirstWords({ name, firstWord }: CompletionPoint): readonly string[] {
  const when = `complete -c fairlead -n ${quoteFish(`__fairlead_first ${quoteFish(name)}`)}`;
  if (typeof firstWord === 'string') return firstWord === 'anything' ? [] : [`${when} ${formatFishSource(firstWord)}`];
  return firstWord.map(
    ({ word, description }) =>
      `${when} -a ${quoteFish(quoteFish(word))}${description === '' ? '' : ` -d ${quoteFish(description)}`}`,
  );
}

/** One line a flag, for all the places that have it. */
function formatFishFlags(places: readonly CompletionPoint[]): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const { name, flags } of places)
    for (const flag of flags) {
      const line = formatFishFlag(flag);
      lines.set(line, [...(lines.get(line) ?? []), name]);
    }
  return [...lines].map(
    ([line, names]) =>
      `complete -c fairlead -n ${quoteFish(`__fairlead_at ${names.map(quoteFish).join(' ')}`)} ${line}`,
  );
}

function formatFishFlag({ spellings, description, value: takes }: CompletionFlag): string {
  const names = spellings.map((each) => (each.startsWith('--') ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`));
  const value =
    takes === undefined
      ? []
      : [typeof takes === 'string' ? formatFishSource(takes) : `-x -a ${quoteFish(formatFishWordList(takes))}`];
  return [...names, ...value, `-d ${quoteFish(description)}`].join(' ');
}

const formatFishWordList = (words: Exclude<CompletionSource, string>): string =>
  words.map(({ word }) => quoteFish(word)).join(' ');

function formatFishSource(source: CompletionSource & string): string {
  if (source === 'files') return '-r -F';
  return source === 'anything' ? '-x' : `-x -a '(__fairlead_values ${source})'`;
}
