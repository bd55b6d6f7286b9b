// Finds commands in the arguments of other commands: options, subscripts and words that a program executes.
import type { NestedCommand } from './nested-commands.ts';
import type { ShellWord } from './shell.ts';

const forEachName = <T>(names: string, value: T): Readonly<Record<string, T>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, value]));

/** Options that make a program run a command. The command is the rest of the same word, or else the next word. */
const commandOptions: Readonly<Record<string, RegExp>> = {
  rg: /^--(?:pre|hostname-bin)(?:=|$)/,
  sort: /^--compress-p[a-z]*(?:=|$)/,
  tar: /^(?:--checkpoint-action(?:=exec)?|--to-command|--use-compress-program|--info-script|--new-volume-script|--rsh-command|--rmt-command)(?:=|$)|^-[a-zA-Z]*[IF]/,
  git: /^(?:-O|--open-files-in-pager|--upload-pack|--receive-pack|--exec|--extcmd|-x)(?:=|$)?/,
  go: /^--?(?:exec|toolexec|vettool)(?:=|$)/,
  man: /^(?:-P|--pager|-H|--html)(?:=|$)?/,
  less: /^\+!?/,
  bat: /^--pager(?:=|$)/,
  split: /^--filter(?:=|$)/,
  zip: /^(?:-TT|--unzip-command)(?:=|$)?/,
  rsync: /^(?:-e|--rsh|--rsync-path)(?:=|$)?/,
  scp: /^-S/,
  ssh: /^-o(?:\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ])?/i,
  npm: /^--(?:script-shell|node-options)(?:=|$)/,
  make: /^(?:SHELL=|--eval(?:=|$))/,
  nc: /^-[a-z]*[ec]/,
  ncat: /^(?:-[a-z]*[ec]|--exec|--sh-exec)/,
  ...forEachName('mapfile readarray complete compgen', /^-[a-z]*C/),
  bind: /^-[a-z]*x/,
  ...forEachName('vi vim nvim ex view', /^(?:-c|--cmd|\+)!?/),
  gdb: /^--?(?:ex|eval-command)(?:=|$)/,
  expect: /^-c/,
};

/** Shell builtins that take variable names, whose subscripts the shell evaluates. */
const variableBuiltins: ReadonlySet<string> = new Set(
  'test [ printf read unset declare typeset local export readonly let wait mapfile readarray getopts'.split(' '),
);

/** Git subcommands that are followed by a command. */
const gitCommandPattern = /^(?:submodule foreach|bisect run|rebase (?:-x|--exec)|filter-branch --[a-z-]+-filter)$/;

/** Programs of several words whose command comes later in the arguments. */
const multiWordRunners: ReadonlySet<string> = new Set(
  'docker podman nerdctl kubectl uv poetry bundle conda mise direnv tmux screen ssh hyperfine perf nix'.split(' '),
);

const maxPrefixLength = 8;

/** Returns the commands in the arguments of this program. */
export function findArgumentCommands(program: string, args: readonly ShellWord[]): readonly NestedCommand[] {
  const incompleteCommand = (source: string): NestedCommand => ({ source, isComplete: false });
  const optionPattern = Object.hasOwn(commandOptions, program) ? commandOptions[program] : undefined;
  const inOptions = args.flatMap(({ text }, at) => {
    const [option] = optionPattern?.exec(text) ?? [];
    if (option === undefined) return [];
    const value = text.length > option.length ? text.slice(option.length) : (args[at + 1]?.text ?? '');
    return [incompleteCommand(value.replace(/^[=\s]*(?:[A-Za-z]+Command[= ])?(?:"[^"]*":)?!?/, ''))];
  });
  const inSubscripts = variableBuiltins.has(program)
    ? args.filter(({ text }) => hasSubscriptCommand(text)).map(({ text }) => incompleteCommand(`: "${text}"`))
    : [];
  const gitCommandIndex =
    program === 'git' ? args.findIndex((_, at) => gitCommandPattern.test(joinPair(args, at))) : -1;
  const inGit = gitCommandIndex < 0 ? [] : [incompleteCommand(joinFrom(args, gitCommandIndex + 2))];
  const inSocat =
    program === 'socat'
      ? args.flatMap(({ text }) => /^(?:EXEC|SYSTEM|SHELL):([^,]*)/i.exec(text)?.[1] ?? []).map(incompleteCommand)
      : [];
  const afterRunner = multiWordRunners.has(program)
    ? args.slice(0, maxPrefixLength).map((_, at): NestedCommand => ({ argv: args.slice(at), isComplete: false }))
    : [];
  return [...inOptions, ...inSubscripts, ...inGit, ...inSocat, ...afterRunner];
}

const joinPair = (args: readonly ShellWord[], at: number): string => joinFrom(args.slice(at, at + 2), 0);

/** Returns true if a subscript in this text contains a command substitution. */
const hasSubscriptCommand = (text: string): boolean =>
  text.includes('[') && /\$\(|`|<\(/.test(text.slice(text.indexOf('[')));

const joinFrom = (args: readonly ShellWord[], at: number): string =>
  args
    .slice(at)
    .map(({ text }) => text)
    .join(' ');
