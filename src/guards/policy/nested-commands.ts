// Finds commands nested in other commands: those of wrappers, shells, interpreters and find.
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

/** The arguments of a wrapper that has no effect of its own. */
type TransparentArguments = {
  /** Matches options without a value in the next word. */
  readonly flag?: RegExp;
  /** Matches options with a value in the next word. */
  readonly valued?: RegExp;
  /** Matches the operand before the command. */
  readonly operand?: RegExp;
};

/** Wrappers for which only the nested command is evaluated, if they have these arguments and no others. */
const transparentWrappers: Readonly<Record<string, TransparentArguments>> = {
  command: {},
  nohup: {},
  exec: {},
  env: {},
  nice: { flag: /^-\d{1,2}$/, valued: /^-n$/ },
  stdbuf: { flag: /^-[ioe](?:0|L|\d{1,6})$/ },
  timeout: {
    flag: /^(?:--foreground|--preserve-status|-v)$/,
    valued: /^-[ks]$/,
    operand: /^\d{1,9}(?:\.\d{1,9})?[smhd]?$/,
  },
};

/** Returns the command in the arguments of a transparent wrapper; undefined if an argument is not known. */
function transparentCommand(program: string, args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const known = Object.hasOwn(transparentWrappers, program) ? transparentWrappers[program] : undefined;
  if (known === undefined) return undefined;
  let at = 0;
  for (; args[at]?.text.startsWith('-'); at += 1) {
    const option = args[at]?.text ?? '';
    if (known.valued?.test(option) && /^[\w.]+$/.test(args[at + 1]?.text ?? '')) at += 1;
    else if (!known.flag?.test(option)) return undefined;
  }
  if (known.operand) {
    if (!known.operand.test(args[at]?.text ?? '')) return undefined;
    at += 1;
  }
  const name = args[at]?.text;
  return name === undefined || name.startsWith('-') || name.includes('=') ? undefined : args.slice(at);
}

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
  const transparent = transparentCommand(program, args);
  if (transparent) return [{ argv: transparent, isComplete: true }];
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
  // What looks like the command may be the value of an option before it.
  return [start, start + 1].map((first) => ({ argv: args.slice(first), isComplete: false }));
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
