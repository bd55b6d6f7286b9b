// The completion script for zsh: to be sourced after compinit, or put on fpath as _fairlead.

import { shellWord } from '../shell-word.ts';
import type { Place, Source } from './grammar.ts';

/** The script that completes at these places. */
export const zshScript = (places: readonly Place[]): string => `#compdef fairlead start-harness

# What may stand at a place: options in flags, and its first word in source and list.
_fairlead_place() {
  flags=() source= list=()
  case $1 in
${places.map(placeCase).join('\n')}
  (*) return 1 ;;
  esac
}

# What the option $2 takes at the place $1; fails for one that takes nothing.
_fairlead_takes() {
  source= list=()
  case "$1 $2" in
${places.flatMap(takesCases).join('\n')}
  (*) return 1 ;;
  esac
}

${completing}
if [[ $funcstack[1] == _fairlead ]]; then _fairlead "$@"; else compdef _fairlead fairlead start-harness; fi
`;

/** A word and what it means, as zsh has them described. */
const described = (word: string, about: string): string =>
  shellWord(`${word.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`);

const sourceOf = (source: Source): string =>
  typeof source === 'string'
    ? `source=${source}`
    : `source=list list=(${source.map(({ word, about }) => described(word, about)).join(' ')})`;

const placeCase = ({ name, flags, first }: Place): string =>
  `  (${shellWord(name)}) flags=(${flags
    .flatMap(({ spellings, about }) => spellings.map((each) => described(each, about)))
    .join(' ')}) ${sourceOf(first)} ;;`;

const takesCases = ({ name, flags }: Place): readonly string[] =>
  flags.flatMap(({ spellings, takes }) =>
    takes === undefined
      ? []
      : [`  (${spellings.map((each) => shellWord(`${name} ${each}`)).join(' | ')}) ${sourceOf(takes)} ;;`],
  );

const completing = `_fairlead_offer_source() {
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
      # A value of its own follows, unless it is the word that is being typed.
      if [[ $word != *=* && $words[i+1] != -* ]] && ((i + 1 < CURRENT)) && _fairlead_takes "$place" "$word"; then i=$((i + 1)); fi
    elif ((count == 0)) && _fairlead_place "\${place:+$place }$word"; then place="\${place:+$place }$word"
    else
      # Words that are no command are a prompt.
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
