// Finds commands nested in other commands, and options by which otherwise harmless programs run commands or write files.
import { findArgumentCommands } from './argument-commands.ts';
import type { ShellWord, SimpleCommand } from './shell.ts';

/** Programs that run the command in their arguments. The pattern matches their own options and operands before it. */
const wrapperOptions: Readonly<Record<string, RegExp>> = {
  command: /^-p$/,
  builtin: /^(?!)/,
  exec: /^-[cl]+$/,
  env: /^(-i|-|--ignore-environment|[A-Za-z_]\w*=.*)$/,
  nohup: /^(?!)/,
  nice: /^(-n?-?\d+|-n|\d+)$/,
  ionice: /^(-[cn]\d*|\d+|-t)$/,
  setsid: /^-[cfw]+$/,
  time: /^-p$/,
  timeout: /^(-[ksv].*|--\S+|\d[\d.]*[smhd]?|[A-Z]+)$/,
  stdbuf: /^(-[ioe]\S*|[0-9L]\w*)$/,
  busybox: /^(?!)/,
  toybox: /^(?!)/,
  sudo: /^-\S*$/,
  doas: /^-\S*$/,
  xargs: /^(-\S*|\d+)$/,
  parallel: /^(-\S*|\d+)$/,
  watch: /^(-\S*|\d[\d.]*)$/,
  strace: /^-\S*$/,
  chroot: /^(-\S*|\/\S*)$/,
  unshare: /^-\S*$/,
  proxychains: /^-\S*$/,
  flock: /^-\S*$/,
  taskset: /^(-\S*|[\da-fx,]+)$/,
  chrt: /^(-\S*|\d+)$/,
  setarch: /^-\S*$/,
  nsenter: /^-\S*$/,
  firejail: /^-\S*$/,
  valgrind: /^-\S*$/,
  ...Object.fromEntries(
    'ltrace systemd-run pkexec setpriv prlimit fakeroot entr numactl choom capsh rlwrap unbuffer faketime catchsegv ld.so'
      .split(' ')
      .map((name) => [name, /^-\S*$/]),
  ),
};

/** Programs other than shells that take a complete command after -c. */
const dashCPrograms: ReadonlySet<string> = new Set('su runuser script flock nix-shell'.split(' '));

/** Programs that take code as an argument, which may run anything. */
const inlineCodePrograms: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries('awk gawk mawk nawk original-awk source .'.split(' ').map((name) => [name, /^/])),
  ...Object.fromEntries(
    'python python3 perl ruby node php lua deno bun osascript tclsh'
      .split(' ')
      .map((name) => [name, /^(-\w*[ceErp]|--eval|--print|eval$)/]),
  ),
};

/** Wrappers that add no effect of their own if they have no options: only the nested command is evaluated. */
const transparentWrappers: ReadonlySet<string> = new Set('command nohup nice time timeout stdbuf exec env'.split(' '));

const maxWrapperOptions = 6;

const shellPrograms: ReadonlySet<string> = new Set('sh bash dash zsh ksh ash fish mksh rbash busybox'.split(' '));

/** A nested command: words, or text that a shell parses; `isComplete` if the outer command has no other effect. */
export type NestedCommand = {
  readonly argv?: readonly ShellWord[];
  readonly source?: string;
  readonly isComplete: boolean;
};

/** Returns the program name: the last segment of its path. */
export const programName = (word: ShellWord | undefined): string => word?.text.split('/').at(-1) ?? '';

/** Returns the commands that this command runs besides itself. */
export function findNestedCommands(command: SimpleCommand): readonly NestedCommand[] {
  const [name, ...args] = command.argv;
  return [...findArgumentCommands(programName(name), args), ...wrappedCommands(command)];
}

/** The dynamic loader runs any program it is given. */
const loaderPattern = /^ld-linux.*\.so|^ld-musl/;

function wrappedCommands({ argv, stdinTexts, openedFiles }: SimpleCommand): readonly NestedCommand[] {
  const [name, ...args] = argv;
  const program = loaderPattern.test(programName(name)) ? 'ld.so' : programName(name);
  if (program === 'eval') return [{ source: args.map(({ text }) => text).join(' '), isComplete: false }];
  if (program === 'alias') return args.map(({ text }) => ({ source: text.replace(/^[^=]*=/, ''), isComplete: false }));
  const codePattern = Object.hasOwn(inlineCodePrograms, program) ? inlineCodePrograms[program] : undefined;
  // Text on the stdin of an interpreter is a program.
  const readsStdinText = stdinTexts.length > 0 || openedFiles.some(({ mode }) => mode === 'read');
  if (codePattern && (args.some(({ text }) => codePattern.test(text)) || (readsStdinText && args.length === 0)))
    return [{ source: '', isComplete: false }];
  // Options before the subcommand set git configuration, and some settings are commands.
  if (
    program === 'git' &&
    args[0]?.text.startsWith('-') &&
    args.some(({ text }) => /^(-c|--config-env|--exec-path)/.test(text))
  )
    return [{ source: '', isComplete: false }];
  if (program === 'trap') return args.slice(0, 1).map(({ text }) => ({ source: text, isComplete: false }));
  if (shellPrograms.has(program) && (args.length === 0 || /^[-+]/.test(args[0]?.text ?? ''))) {
    const at = args.findIndex(({ text }) => /^-[a-z]*c[a-z]*$/i.test(text));
    const script = at < 0 ? undefined : args.slice(at + 1).find(({ text }) => !/^[-+]/.test(text));
    const sources = [...(script ? [script.text] : []), ...stdinTexts];
    // Without arguments it reads commands from stdin, which are unknown.
    if (program !== 'busybox')
      return (sources.length > 0 ? sources : ['']).map((source) => ({ source, isComplete: false }));
  }
  const commandOption = dashCPrograms.has(program) ? args.findIndex(({ text }) => /^-\w*c$/.test(text)) : -1;
  if (commandOption >= 0)
    return args.slice(commandOption + 1, commandOption + 2).map(({ text }) => ({ source: text, isComplete: false }));
  if (program === 'find' || program === 'fd' || program === 'fdfind') return [...execActionCommands(args)];
  const optionPattern = Object.hasOwn(wrapperOptions, program) ? wrapperOptions[program] : undefined;
  if (optionPattern === undefined) return [];
  const start = args.findIndex(({ text }) => text !== '--' && !optionPattern.test(text));
  if (start < 0) return [];
  // An unknown option may take the next word as its value, or contain a complete command.
  if (args[start]?.text.startsWith('-')) {
    const rest = args.slice(start + 1);
    const suffixes = rest.slice(0, maxWrapperOptions).map((_, at) => ({ argv: rest.slice(at), isComplete: false }));
    return [...suffixes, { source: rest.map(({ text }) => text).join(' '), isComplete: false }];
  }
  const ownArguments = args.slice(0, start);
  const isTransparent =
    transparentWrappers.has(program) && ownArguments.every(({ text }) => !text.includes('=') && text !== '-i');
  const wrapped = { argv: args.slice(start), isComplete: isTransparent };
  // What looks like the command may be the value of an option before it.
  return transparentWrappers.has(program)
    ? [wrapped]
    : [wrapped, { argv: args.slice(start + 1), isComplete: isTransparent }];
}

/** Returns the commands after -exec and similar actions of find. */
function* execActionCommands(args: readonly ShellWord[]): Generator<NestedCommand> {
  for (const [at, { text }] of args.entries()) {
    if (!/^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(text)) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex((word) => word.text === ';' || word.text === '+');
    yield { argv: end < 0 ? rest : rest.slice(0, end), isComplete: false };
  }
}

/** Arguments by which a read-only program runs a command, writes a file, or reads a list of files. */
const riskyOptions: Readonly<Record<string, RegExp>> = {
  rg: /^(--pre|--hostname-bin|--search-zip)(=|$)|^-[a-zA-Z]*z/,
  grep: /^(--file|-[a-zA-Z]*f)/,
  sort: /^(--output|--compress-program|--files0-from|--temporary-directory|-[a-zA-Z]*[oT])/,
  uniq: /^(?!-)/,
  find: /^-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from)$/,
  fd: /^(-x|-X|--exec)/,
  fdfind: /^(-x|-X|--exec)/,
  git: /^((ext|fd)::.*|ssh:\/\/-.*|-O.*|-o|--remote|--filters|--output|--ext-diff|--textconv|--upload-pack|--receive-pack|--open-files-in-pager|--exec|--no-index|--contents)(=|$)/,
  tar: /^(--checkpoint-action|--to-command|--use-compress-program|--info-script|--new-volume-script|--rsh-command|--rmt-command|-[a-zA-Z]*[IF])/,
  go: /^--?(exec|toolexec|vettool|overlay|modfile|o|\w*profile|trace|outputdir)(=|$)/,
  man: /^(-P|--pager|-H|--html|-C|--config-file|-l|--local-file)/,
  date: /^(-f|--file|-s|--set|-r|--reference|\d)/,
  tree: /^(-o|--output|--fromfile|-R)/,
  less: /^(-[oOkLt]|\+|--log-file|--lesskey)/,
  file: /^(-m|--magic-file|-f|--files-from|-C|--compile)/,
  wc: /^--files0-from/,
  du: /^(--files0-from|-X|--exclude-from)/,
  diff: /^(--to-file|--from-file|--paginate|-l|--output)/,
  xxd: /^-[a-z]*r/,
  curl: /^-(?!(s|S|sS|f|fs|fsS|fsSI|i|I|v|4|6|-silent|-show-error|-fail|-head|-include|-verbose|-compressed)$)/,
  npm: /^(--script-shell|--prefix|-C|--globalconfig|--userconfig|--node-options)/,
  make: /^(-f|--file|-C|--directory|--eval|-E|[A-Za-z_]\w*[:?+]?=)/,
  shuf: /^-[a-z]*o/,
  eslint: /^-c/,
  pytest: /^-[pco]/,
  jq: /^(-[a-z]*[fL]|--from-file)/,
  'ssh-keygen': /^-D/,
  hostname: /^(?!-)/,
};

/** Options by which many programs run, load or write something. */
const commonRiskyOptions =
  /^--(exec|command|cmd|shell|pager|editor|plugins?|config|config-file|rcfile|load|require|import|preload|script|eval|hooks?|output|outfile|write|fix|in-place|rulesdir|resolve-plugins-relative-to|browser|web|kubeconfig)(=|$)/;

/** Programs whose first operand is a script. Its exact text decides whether it is harmless. */
const scriptInterpreters: ReadonlySet<string> = new Set(
  [
    'awk gawk mawk nawk original-awk perl python python3 ruby lua php node deno bun ed ex vi vim nvim emacs nano m4 dc bc gdb sqlite3',
    'osascript tclsh expect jjs irb ghci R Rscript octave psql mysql socat nc ncat ssh scp rsync screen tmux script ltrace gcc cc docker',
    'podman crontab at systemctl openssl zip unzip cpio ar install dd source .',
  ].flatMap((line) => line.split(' ')),
);

/** The only sed scripts known to be harmless print line numbers. */
const safeSedPattern = /^(\d+|\$)(,(\d+|\$))?[pq=d]?$/;

/** Returns why a rule that allows the first words of this command does not cover the rest; undefined if it does. `prefixLength` is the number of words that the rule names. */
export function findCommandRisk(words: readonly ShellWord[], prefixLength: number): string | undefined {
  const program = programName(words[0]);
  const rest = words.slice(prefixLength);
  const unknown = rest.find(({ known }) => !known);
  if (unknown) return `the value of ${unknown.text} is not known`;
  if (scriptInterpreters.has(program) && rest.length > 0) return `${program} can run anything its arguments say`;
  if (program === 'sed') {
    const script = rest.find(({ text }) => text !== '-n' && text !== '-E' && text !== '-r');
    if (script && !safeSedPattern.test(script.text)) return 'sed can run anything its script says';
    if (rest.some((each) => each !== script && /^-(?![nEr]$)/.test(each.text))) return 'sed can write what it reads';
  }
  // Options before the git subcommand can change what the subcommand does.
  if (program === 'git' && prefixLength === 1 && rest[0]?.text.startsWith('-'))
    return `git ${rest[0].text} can run anything`;
  if (program === 'xxd' && rest.filter(({ text }) => !text.startsWith('-')).length > 1)
    return 'xxd writes to its second file';
  const programOptions = Object.hasOwn(riskyOptions, program) ? riskyOptions[program] : undefined;
  const riskyOption = rest.find(
    ({ text }) =>
      commonRiskyOptions.test(text) ||
      (programOptions && (programOptions.test(text) || isOptionAbbreviation(text, programOptions))),
  );
  return riskyOption ? `${program} ${riskyOption.text} does more than ${program} does` : undefined;
}

/** Returns true if a long option is an abbreviation of a listed one. Most programs accept those. */
function isOptionAbbreviation(text: string, programOptions: RegExp): boolean {
  const [name = ''] = text.split('=');
  if (!/^--\w/.test(name)) return false;
  return [...programOptions.source.matchAll(/--[a-z\d-]+/g)].some(([option]) => option.startsWith(name));
}
