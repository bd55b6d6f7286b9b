// The completion script for fish.
import type { Flag, Place, Source } from './grammar.ts';

/** The script that completes at these places. */
export const fishScript = (places: readonly Place[]): string => `# Completes fairlead in fish.

# Whether an option takes a word of its own at a place.
function __fairlead_takes
  contains -- "$argv" ${valued(places).map(quoted).join(' ')}
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
      .map(({ name }) => quoted(name))
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
${places.flatMap(firstLines).join('\n')}
${flagLines(places).join('\n')}
`;

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const valued = (places: readonly Place[]): readonly string[] =>
  places.flatMap(({ name, flags }) =>
    flags.flatMap(({ spellings, takes }) => (takes === undefined ? [] : spellings.map((each) => `${name} ${each}`))),
  );

function firstLines({ name, first }: Place): readonly string[] {
  const when = `complete -c fairlead -n ${quoted(`__fairlead_first ${quoted(name)}`)}`;
  if (typeof first === 'string') return first === 'anything' ? [] : [`${when} ${asked(first)}`];
  return first.map(
    ({ word, about }) => `${when} -a ${quoted(quoted(word))}${about === '' ? '' : ` -d ${quoted(about)}`}`,
  );
}

/** One line a flag, for all the places that have it. */
function flagLines(places: readonly Place[]): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const { name, flags } of places)
    for (const flag of flags) {
      const line = flagLine(flag);
      lines.set(line, [...(lines.get(line) ?? []), name]);
    }
  return [...lines].map(
    ([line, names]) => `complete -c fairlead -n ${quoted(`__fairlead_at ${names.map(quoted).join(' ')}`)} ${line}`,
  );
}

function flagLine({ spellings, about, takes }: Flag): string {
  const names = spellings.map((each) => (each.startsWith('--') ? `-l ${each.slice(2)}` : `-s ${each.slice(1)}`));
  const value =
    takes === undefined ? [] : [typeof takes === 'string' ? asked(takes) : `-x -a ${quoted(listed(takes))}`];
  return [...names, ...value, `-d ${quoted(about)}`].join(' ');
}

const listed = (words: Exclude<Source, string>): string => words.map(({ word }) => quoted(word)).join(' ');

function asked(source: Source & string): string {
  if (source === 'files') return '-r -F';
  return source === 'anything' ? '-x' : `-x -a '(__fairlead_values ${source})'`;
}
