// The completion script for bash, from 3.2 on. Suggestions are compared and quoted, never expanded: a session may be named `$(…)`.
import { shellQuote } from '../../../workspace/index.ts';
import type { CompletionFlag, CompletionSource } from './completion-flag.ts';
import type { CompletionPoint } from './completion-spec.ts';

/** Formats the script for these completion points. */
export const formatBashScript = (
  points: readonly CompletionPoint[],
): string => `# Completes fairlead in bash: source <(fairlead completions bash)

# The completions of a command: its options in flags, its first word in source and list.
_fairlead_place() {
  flags=() source= list=()
  case $1 in
${points.map(formatBashCase).join('\n')}
  *) return 1 ;;
  esac
}

# The values of the option $2 of the command $1; fails for an option without a value.
_fairlead_takes() {
  source= list=()
  case "$1 $2" in
${points.flatMap(formatBashValueCases).join('\n')}
  *) return 1 ;;
  esac
}

${unquoteFunction}
${offerFunctions}
${completeFunction}
complete -F _fairlead fairlead start-harness start-harness-jayjader
`;

/** Formats a source for the script. */
const formatBashSource = (source: CompletionSource): string =>
  typeof source === 'string'
    ? `source=${source}`
    : `source=list list=(${source.map(({ word }) => shellQuote(word)).join(' ')})`;

const formatBashCase = ({ name, flags, firstWord }: CompletionPoint): string =>
  `  ${shellQuote(name)}) flags=(${flags.flatMap(({ spellings }) => spellings).join(' ')}) ${formatBashSource(firstWord)} ;;`;

const formatBashValueCases = ({ name, flags }: CompletionPoint): readonly string[] =>
  flags.flatMap(({ spellings, value }: CompletionFlag) =>
    value === undefined
      ? []
      : [`  ${spellings.map((each) => shellQuote(`${name} ${each}`)).join(' | ')}) ${formatBashSource(value)} ;;`],
  );

const unquoteFunction = `# Removes the quotes of the word being typed: its text in plain, a quote that is still open in quote.
_fairlead_unquote() {
  local text=$1 i letter
  plain= quote=
  for ((i = 0; i < \${#text}; i++)); do
    letter=\${text:i:1}
    if [[ -z $quote && ( $letter == '"' || $letter == "'" ) ]]; then quote=$letter
    elif [[ -n $quote && $letter == "$quote" ]]; then quote=
    elif [[ $quote != "'" && $letter == \\\\ ]]; then i=$((i + 1)) plain+=\${text:i:1}
    else plain+=$letter
    fi
  done
}

# The words up to the cursor. Words that COMP_WORDBREAKS split at : and = are joined again; glued is the part that readline keeps.
_fairlead_words() {
  local line=\${COMP_LINE-} i word
  line=\${line:0:\${COMP_POINT-0}} words=() glued=
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]-}
    if ((i == 0)) || [[ -z \${COMP_LINE-} || $line == [[:space:]]* ]]; then
      line=\${line#"\${line%%[![:space:]]*}"} glued=
      ((i == COMP_CWORD)) && [[ -n \${COMP_LINE-} ]] && word=$line
      words+=("$word")
    else
      ((i == COMP_CWORD)) && word=$line
      glued=\${words[\${#words[@]} - 1]}
      words[\${#words[@]} - 1]+=$word
      [[ $word == [:=]* ]] && glued+=$word
    fi
    line=\${line#"$word"}
  done
}
`;

const offerFunctions = `# Suggests the lines of standard input that start with the typed text.
_fairlead_offer() {
  local word
  while IFS= read -r word; do
    [[ -n $word ]] && word=$before$word || continue
    [[ $word == "$plain"* ]] || continue
    word=\${word#"$glued"}
    case $quote in
    '') printf -v word %q "$word" ;;
    "'") word=\${word//\\'/\\'\\\\\\'\\'} ;;
    *)
      # Inside double quotes an exclamation mark would trigger history expansion.
      [[ $word == *!* ]] && continue
      word=\${word//\\\\/\\\\\\\\} word=\${word//\\"/\\\\\\"} word=\${word//\\$/\\\\\\$} word=\${word//\\\`/\\\\\\\`}
      ;;
    esac
    COMPREPLY+=("$word")
  done
}

_fairlead_offer_source() {
  case $source in
  list) _fairlead_offer < <(printf '%s\\n' \${list[@]+"\${list[@]}"}) ;;
  models | sessions | trash) _fairlead_offer < <(command fairlead completions --values "$source" 2>/dev/null </dev/null) ;;
  files)
    compopt -o filenames 2>/dev/null
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "\${plain#"$before"}")
    ;;
  esac
}
`;

const completeFunction = `_fairlead() {
  local words glued plain quote flags source list place= count=0 before= i word
  COMPREPLY=()
  _fairlead_words
  local last=$((\${#words[@]} - 1))
  for ((i = 1; i < last; i++)); do
    word=\${words[i]}
    if [[ $word == -* ]]; then
      # The value of the option follows, unless it is the word being typed.
      if [[ $word != *=* && \${words[i + 1]-} != -* ]] && _fairlead_takes "$place" "$word" && ((i + 1 < last)); then i=$((i + 1)); fi
    elif ((count == 0)) && _fairlead_place "\${place:+$place }$word"; then place="\${place:+$place }$word"
    else
      # Words that are not a command are a prompt.
      [[ -z $place ]] && place=run
      count=$((count + 1))
    fi
  done
  _fairlead_unquote "$glued" && glued=$plain
  _fairlead_unquote "\${words[last]}"
  if [[ $plain == --*=* ]]; then
    before=\${plain%%=*}=
    _fairlead_takes "$place" "\${plain%%=*}" && _fairlead_offer_source
    return 0
  fi
  if ((last > 1)) && [[ \${words[last - 1]} == -* && \${words[last - 1]} != *=* && $plain != -* ]] && _fairlead_takes "$place" "\${words[last - 1]}"; then
    _fairlead_offer_source
    return 0
  fi
  _fairlead_place "$place" || return 0
  if [[ $plain == -* ]]; then _fairlead_offer < <(printf '%s\\n' \${flags[@]+"\${flags[@]}"})
  elif ((count == 0)); then _fairlead_offer_source
  fi
}
`;
