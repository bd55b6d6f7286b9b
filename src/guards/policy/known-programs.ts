// The programs whose harmless options are known: an allow rule covers these options and no others.
import { isSubcommandProgram } from './executing-programs.ts';

/** The options of a program that neither run a command, nor name a file to read or write, nor load code. */
export type ProgramOptions = {
  /** Short options without a value, one letter each. */
  readonly flags?: string;
  /** Short options with a value: the rest of the word, or the next word. */
  readonly valued?: string;
  /** Short options whose value, if any, is the rest of the word. */
  readonly attached?: string;
  /** Long options without a value, separated by blanks. */
  readonly long?: string;
  /** Long options with a value, after `=` or in the next word. */
  readonly longValued?: string;
  /** Long options whose value, if any, follows `=`. */
  readonly longAttached?: string;
  /** Options with one dash that are whole words, as those of find and go. */
  readonly words?: string;
  /** Such options with a value, after `=` or in the next word. */
  readonly wordsValued?: string;
  /** True if a dash and digits are an option, as in `head -20`. */
  readonly isNumberOption?: true;
  /** True if the program prints or ignores all its arguments. */
  readonly isAnyText?: true;
  /** True if the first argument may be option letters without a dash, as those of tar. */
  readonly isOldStyle?: true;
  readonly maxOperands?: number;
  /** Returns true if the value of an option is harmless. */
  readonly isValue?: (text: string) => boolean;
  /** True if a value is in the next word, because it is a path that must be evaluated. */
  readonly isValueInNextWord?: true;
  /** Returns true if an operand is harmless. */
  readonly isOperand?: (text: string) => boolean;
  /** Returns true if the first operand is harmless, if it is code or a format and the others are not. */
  readonly isFirstOperand?: (text: string) => boolean;
};

const gitDiffOptions = {
  flags: 'pcmsuzbwaR',
  attached: 'UMCB',
  valued: 'SG',
  long: 'patch no-patch raw cached staged name-only name-status numstat shortstat summary no-color no-ext-diff no-textconv no-renames minimal patience histogram ignore-all-space ignore-space-change ignore-blank-lines check exit-code quiet text no-prefix full-index pickaxe-regex merge-base',
  longAttached:
    'stat color word-diff find-renames find-copies unified diff-filter relative diff-algorithm abbrev submodule color-words',
};

const gitLogOptions: ProgramOptions = {
  ...gitDiffOptions,
  flags: `${gitDiffOptions.flags}giEF`,
  valued: `${gitDiffOptions.valued}n`,
  isNumberOption: true,
  long: `${gitDiffOptions.long} oneline graph all follow reverse merges no-merges first-parent abbrev-commit no-abbrev-commit no-decorate full-diff topo-order date-order author-date-order left-right cherry-pick walk-reflogs source all-match invert-grep full-history no-walk no-notes`,
  longAttached: `${gitDiffOptions.longAttached} decorate pretty format date since until after before author committer grep max-count skip branches tags remotes`,
};

const isNoOption = (text: string): boolean => !text.startsWith('-');
const anyText: ProgramOptions = { isAnyText: true };
const goOptions: ProgramOptions = {
  words: 'v race short cover json failfast x n a benchmem',
  wordsValued: 'run count timeout bench parallel tags skip covermode',
};
const cargoOptions: ProgramOptions = {
  flags: 'vqr',
  valued: 'pFj',
  long: 'release all workspace quiet verbose all-targets all-features no-default-features lib bins tests examples no-run no-fail-fast locked offline doc check',
  longValued: 'package features test bin example jobs profile color exclude',
  isOperand: isNoOption,
};

/** Returns true if a format of printf has only conversions that assign no variable. */
function isPrintfFormat(text: string): boolean {
  const withoutPercent = text.replaceAll('%%', '');
  return withoutPercent
    .split('%')
    .slice(1)
    .every((rest) => /^[-+ 0#]{0,4}\d{0,4}(?:\.\d{0,4})?[sdiuxXofeEgGcbq]/.test(rest));
}

const options: Readonly<Record<string, ProgramOptions>> = {
  'true false : echo': anyText,
  printf: { isFirstOperand: isPrintfFormat },
  'pwd whoami nproc arch tty': { maxOperands: 0 },
  'basename dirname sleep seq expr which sync': { flags: 'asz' },
  uname: { flags: 'asnrvmpio', maxOperands: 0 },
  id: { flags: 'ugnGrz' },
  hostname: { flags: 'fsiId', maxOperands: 0 },
  set: {
    flags: 'eu',
    valued: 'o',
    isValue: (text) => ['pipefail', 'errexit', 'nounset'].includes(text),
    maxOperands: 0,
  },
  test: { words: 'e f d n z s r w x L h a o' },
  ls: {
    flags: 'aAlhtrSRFp1dcuUXBbCfgGHikmnNoqQsvxZL',
    long: 'all almost-all human-readable recursive reverse group-directories-first full-time directory size inode no-group classify',
    longValued: 'sort time time-style format',
    longAttached: 'color',
  },
  cat: { flags: 'AbeEnstTuv', long: 'number number-nonblank show-all show-ends show-tabs squeeze-blank' },
  'head tail': {
    flags: 'qvzfF',
    valued: 'nc',
    isNumberOption: true,
    long: 'quiet verbose silent',
    longValued: 'lines bytes',
    longAttached: 'follow',
  },
  wc: { flags: 'lwcmL', long: 'lines words bytes chars max-line-length' },
  sort: {
    flags: 'bdfgiMhnRrVcCmsuz',
    valued: 'kt',
    long: 'numeric-sort reverse unique human-numeric-sort version-sort ignore-case stable',
    longValued: 'key field-separator',
  },
  uniq: { flags: 'cduiz', valued: 'fsw', long: 'count repeated unique ignore-case', maxOperands: 1 },
  cut: {
    flags: 'snz',
    valued: 'bcdf',
    long: 'complement only-delimited',
    longValued: 'fields delimiter characters bytes output-delimiter',
  },
  tr: { flags: 'cCdst' },
  'nl rev tac fold paste comm join': { flags: '123' },
  'realpath readlink': { flags: 'femnqsz' },
  stat: { flags: 'Lft', valued: 'c', longValued: 'format printf' },
  file: { flags: 'bik', long: 'brief mime mime-type' },
  du: { flags: 'abchkmsx', valued: 'd', long: 'all human-readable summarize total', longValued: 'max-depth' },
  df: { flags: 'ahikT', long: 'human-readable' },
  'md5sum sha1sum sha256sum sha512sum cksum': { flags: 'bt' },
  date: {
    flags: 'uR',
    attached: 'I',
    valued: 'd',
    long: 'utc',
    longValued: 'date',
    longAttached: 'iso-8601 rfc-3339',
    isOperand: (text) => text.startsWith('+'),
  },
  'diff cmp': {
    flags: 'urqbBwiNyapsEZtTdc',
    valued: 'UWI',
    long: 'recursive brief ignore-case ignore-all-space ignore-space-change ignore-blank-lines new-file side-by-side text report-identical-files',
    longAttached: 'unified context color',
    longValued: 'exclude width',
  },
  grep: {
    flags: 'inlcwvFEGPoLrHhsxqzZaIUbT',
    valued: 'eABCm',
    isNumberOption: true,
    long: 'line-number ignore-case count recursive files-with-matches files-without-match only-matching word-regexp line-regexp fixed-strings extended-regexp basic-regexp perl-regexp invert-match no-messages with-filename no-filename quiet silent text',
    longValued: 'include exclude exclude-dir max-count context after-context before-context regexp',
    longAttached: 'color colour',
  },
  rg: {
    flags: 'inlcwvFSsoNHPxq0U',
    valued: 'egtTABCmMjr',
    long: 'line-number ignore-case smart-case case-sensitive count count-matches files files-with-matches files-without-match only-matching word-regexp line-regexp fixed-strings invert-match no-messages with-filename no-filename no-heading heading hidden json multiline multiline-dotall no-line-number pcre2 quiet stats trim vimgrep column null',
    longValued:
      'glob iglob type type-not after-context before-context context max-count max-columns max-depth color sort sortr regexp replace',
  },
  find: {
    words:
      'not o or a and print print0 empty L H P prune ls true false depth mount xdev follow nouser nogroup readable writable executable',
    wordsValued:
      'name iname type maxdepth mindepth path ipath wholename regex iregex regextype size mtime mmin atime amin ctime cmin perm user group links',
  },
  'fd fdfind': {
    flags: 'HIsigap0',
    valued: 'etdE',
    long: 'hidden no-ignore case-sensitive ignore-case glob absolute-path full-path print0',
    longValued: 'extension type max-depth min-depth exact-depth exclude color max-results',
  },
  tree: { flags: 'adfipshguDFrtvCnx', valued: 'LIP', long: 'dirsfirst noreport gitignore' },
  sed: {
    flags: 'nErsuz',
    long: 'quiet silent regexp-extended',
    isFirstOperand: isPrintingSedScript,
  },
  jq: {
    flags: 'rcesnSMCja',
    long: 'raw-output compact-output slurp null-input sort-keys tab exit-status join-output ascii-output monochrome-output color-output raw-input',
    longValued: 'indent',
    // A filter may load modules and read the variables of the environment.
    isFirstOperand: (text) => !/import|include|env|input|modulemeta|debug|stderr|halt|\$__/i.test(text),
  },
  xxd: { flags: 'beEipu', valued: 'cglso', maxOperands: 1 },
  'less more': { flags: 'NSRXF', isOperand: (text) => !text.startsWith('+') },
  man: { flags: 'kf', isOperand: (text) => !text.includes('/') },
  curl: {
    flags: 'sSfiIv46',
    valued: 'm',
    long: 'silent show-error fail head include verbose compressed ipv4 ipv6 http1.1 http2',
    longValued: 'max-time connect-timeout',
  },
  tar: {
    flags: 'tvzjJ',
    valued: 'f',
    isOldStyle: true,
    isValueInNextWord: true,
    isOperand: (text) => !text.includes(':'),
  },
  mkdir: { flags: 'pv', long: 'parents verbose' },
  rmdir: { flags: 'pv' },
  touch: { flags: 'acm' },
  'cp mv': { flags: 'rRapvfinuT', long: 'recursive verbose force no-clobber update archive' },
  ln: { flags: 'sfvnrT' },
  rm: { flags: 'rRfivd', long: 'recursive force verbose' },
  chmod: { flags: 'Rvcf', long: 'recursive verbose' },
  tee: { flags: 'ai', long: 'append' },
  make: {
    flags: 'ksnBiwq',
    attached: 'j',
    long: 'silent quiet keep-going dry-run always-make no-print-directory',
    longAttached: 'jobs',
    isOperand: (text) => !/[=:$]/.test(text),
  },
  pytest: {
    flags: 'vqxsl',
    valued: 'km',
    // Old versions evaluate the value as Python code.
    isValue: (text) => /^[\w -]*$/.test(text),
    long: 'verbose quiet exitfirst last-failed lf failed-first ff collect-only no-header',
    longAttached: 'tb maxfail durations',
  },
  eslint: { long: 'quiet cache no-color', longValued: 'max-warnings ext' },
  prettier: { flags: 'cl', long: 'check list-different no-color' },
  tsc: { long: 'noEmit pretty strict version' },
  'git log': gitLogOptions,
  'git shortlog': { ...gitLogOptions, flags: 'nse' },
  'git show': gitLogOptions,
  'git diff': gitDiffOptions,
  'git status': {
    flags: 'sbvuz',
    long: 'short branch long verbose show-stash',
    longAttached: 'porcelain untracked-files ignored column',
  },
  'git blame': {
    flags: 'lstfnewcb',
    attached: 'CM',
    valued: 'L',
    long: 'porcelain show-name show-email',
    longAttached: 'date abbrev',
  },
  'git rev-parse': {
    long: 'abbrev-ref show-toplevel verify quiet is-inside-work-tree git-dir show-prefix symbolic-full-name',
    longAttached: 'short',
  },
  'git ls-files': {
    flags: 'cdmoiskuzt',
    valued: 'x',
    long: 'cached deleted modified others ignored stage exclude-standard full-name error-unmatch',
    longAttached: 'exclude',
  },
  'git describe': { long: 'tags all always long exact-match', longAttached: 'abbrev dirty match' },
  'git branch': {
    flags: 'arvl',
    long: 'all remotes verbose list show-current no-color',
    longAttached: 'contains merged no-merged sort format color',
  },
  'git add': { flags: 'AunvN', long: 'all update dry-run verbose intent-to-add' },
  'git commit': {
    flags: 'avqs',
    valued: 'm',
    long: 'all amend no-edit quiet signoff verbose allow-empty dry-run',
    longValued: 'message',
  },
  'git grep': {
    flags: 'inlcwvFEGPohHqLza',
    valued: 'eABCm',
    long: 'line-number ignore-case count files-with-matches only-matching word-regexp fixed-strings extended-regexp perl-regexp cached untracked',
    longAttached: 'color',
  },
  'git stash': { long: 'include-untracked', flags: 'u' },
  'git tag': { flags: 'lan', valued: 'm', long: 'list', longAttached: 'sort contains' },
  'git checkout': { flags: 'bq', long: 'quiet' },
  'git switch': { flags: 'cq', long: 'quiet create' },
  'git restore': { flags: 'SWq', long: 'staged worktree quiet' },
  'git reset': { flags: 'q', long: 'hard soft mixed quiet' },
  'git fetch git pull git push git merge git cherry-pick git revert git mv git rm git init': {
    isOperand: (text) => !text.includes(':'),
  },
  'npm test npm t npm start npm ci npm outdated npm audit': { flags: 's', long: 'silent', maxOperands: 0 },
  'npm run npm run-script': { flags: 's', long: 'silent', maxOperands: 1 },
  'npm ls npm list npm view': { long: 'json all', isOperand: isNoOption },
  'npm install npm i': { flags: 'sDEPO', long: 'silent save-dev save-exact', isOperand: isNoOption },
  'go test go build go vet go list go version go fmt': goOptions,
  'cargo test cargo build cargo check cargo clippy cargo fmt cargo tree': cargoOptions,
};

/** Prints line numbers and ranges, and nothing else: other sed scripts can run commands and write files. */
function isPrintingSedScript(text: string): boolean {
  return /^(?:\d{1,9}|\$)(?:,(?:\d{1,9}|\$))?[pq=d]?$/.test(text);
}

const table: ReadonlyMap<string, ProgramOptions> = new Map(
  Object.entries(options).flatMap(([names, value]) => {
    const words = names.split(' ');
    const isPaired = isSubcommandProgram(words[0] ?? '');
    const keys = isPaired ? words.flatMap((_, at) => (at % 2 ? [] : [`${words[at]} ${words[at + 1]}`])) : words;
    return keys.map((key) => [key, value] as const);
  }),
);

/** A known program: its options, and the number of words that name it. */
export type KnownProgram = { readonly options: ProgramOptions; readonly nameLength: number };

/** Returns what is known about the program, or the subcommand, that these words name; undefined if nothing is. */
export function findKnownProgram(program: string, subcommand: string | undefined): KnownProgram | undefined {
  const isPair = isSubcommandProgram(program);
  const found = table.get(isPair ? `${program} ${subcommand}` : program);
  return found && { options: found, nameLength: isPair ? 2 : 1 };
}
