// The completion script for zsh: to be sourced after compinit, or put on fpath as _fairlead.

import { shellQuote } from '../../../workspace/index.ts';
import type { CompletionSource } from './completion-flag.ts';
import type { CompletionPoint } from './completion-spec.ts';

/** Formats the script for these completion points. */
export const formatZshScript = (
  points: readonly CompletionPoint[],
): string => `#compdef fairlead start-harness start-harness-jayjader

# The completions of a command: its options in flags, its first word in source and list.
_fairlead_place() {
  flags=() source= list=()
  case $1 in
${points.map(formatZshCase).join('\n')}
  (*) return 1 ;;
  esac
}

# The values of the option $2 of the command $1; fails for an option without a value.
_fairlead_takes() {
  source= list=()
  case "$1 $2" in
${points.flatMap(formatZshValueCases).join('\n')}
  (*) return 1 ;;
  esac
}

${completeFunction}
if [[ $funcstack[1] == _fairlead ]]; then _fairlead "$@"; else compdef _fairlead fairlead start-harness start-harness-jayjader; fi
`;

/** Formats a word with its description for zsh. */
const describeZshWord = (word: string, description: string): string =>
  shellQuote(`${word.replaceAll(':', '\\:')}${description === '' ? '' : `:${description}`}`);

const formatZshSource = (source: CompletionSource): string =>
  typeof source === 'string'
    ? `source=${source}`
    : `source=list list=(${source.map(({ word, description }) => describeZshWord(word, description)).join(' ')})`;

const formatZshCase = ({ name, flags, firstWord }: CompletionPoint): string =>
  `  (${shellQuote(name)}) flags=(${flags
    .flatMap(({ spellings, description }) => spellings.map((each) => describeZshWord(each, description)))
    .join(' ')}) ${formatZshSource(firstWord)} ;;`;

const formatZshValueCases = ({ name, flags }: CompletionPoint): readonly string[] =>
  flags.flatMap(({ spellings, value }) =>
    value === undefined
      ? []
      : [`  (${spellings.map((each) => shellQuote(`${name} ${each}`)).join(' | ')}) ${formatZshSource(value)} ;;`],
  );

const completeFunction = `_fairlead_offer_source() {
  local -a names
  case $source in
  (list) _describe -t words word list ;;
  (models | sessions | trash)
    names=(\${(f)"$(command fairlead completions --values $source 2>/dev/null </dev/null)"})
    (( $#names )) && compadd -a names
    ;;
  (files) _files ;;
  esac
}

_fairlead() {
  local -a flags list
  local source place word
  integer i count
  for ((i = 2; i < CURRENT; i++)); do
    word=\${(Q)words[i]}
    if [[ $word == -* ]]; then
      # The value of the option follows, unless it is the word being typed.
      if [[ $word != *=* && $words[i+1] != -* ]] && ((i + 1 < CURRENT)) && _fairlead_takes "$place" "$word"; then i=$((i + 1)); fi
    elif ((count == 0)) && _fairlead_place "\${place:+$place }$word"; then place="\${place:+$place }$word"
    else
      # Words that are not a command are a prompt.
      [[ -z $place ]] && place=run
      count=$((count + 1))
    fi
  done
  word=$words[CURRENT-1]
  if [[ $PREFIX == --*=* ]]; then
    _fairlead_takes "$place" "\${PREFIX%%=*}" && compset -P "\${PREFIX%%=*}=" && _fairlead_offer_source
  elif ((CURRENT > 2)) && [[ $word == -* && $word != *=* && $PREFIX != -* ]] && _fairlead_takes "$place" "$word"; then
    _fairlead_offer_source
  elif _fairlead_place "$place"; then
    if [[ $PREFIX == -* ]]; then _describe -o -t options option flags
    elif ((count == 0)); then _fairlead_offer_source
    fi
  fi
}
`;
