// Commands that stand in the arguments of others: in options, subscripts and words by which a program runs them.
import type { Inner } from './risky.ts';
import type { ShellWord } from './shell.ts';

const named = <T>(names: string, value: T): Readonly<Record<string, T>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, value]));

/** Options by which a program runs a command. The command is what follows in the same word, or else the next word. */
const runners: Readonly<Record<string, RegExp>> = {
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
  ...named('mapfile readarray complete compgen', /^-[a-z]*C/),
  bind: /^-[a-z]*x/,
  ...named('vi vim nvim ex view', /^(?:-c|--cmd|\+)!?/),
  gdb: /^--?(?:ex|eval-command)(?:=|$)/,
  expect: /^-c/,
};

/** Builtins of the shell that take names of variables, whose subscripts it evaluates. */
const namers: ReadonlySet<string> = new Set(
  'test [ printf read unset declare typeset local export readonly let wait mapfile readarray getopts'.split(' '),
);

/** Words of git behind which a command follows. */
const gitRuns = /^(?:submodule foreach|bisect run|rebase (?:-x|--exec)|filter-branch --[a-z-]+-filter)$/;

/** Programs of several words whose command comes somewhere behind. */
const starters: ReadonlySet<string> = new Set(
  'docker podman nerdctl kubectl uv poetry bundle conda mise direnv tmux screen ssh hyperfine perf nix'.split(' '),
);

const mostWords = 8;

/** The commands in the arguments of this program. */
export function ranBy(program: string, args: readonly ShellWord[]): readonly Inner[] {
  const unclear = (source: string): Inner => ({ source, clear: false });
  const listed = Object.hasOwn(runners, program) ? runners[program] : undefined;
  const inOptions = args.flatMap(({ text }, at) => {
    const [option] = listed?.exec(text) ?? [];
    if (option === undefined) return [];
    const value = text.length > option.length ? text.slice(option.length) : (args[at + 1]?.text ?? '');
    return [unclear(value.replace(/^[=\s]*(?:[A-Za-z]+Command[= ])?(?:"[^"]*":)?!?/, ''))];
  });
  const inNames = namers.has(program)
    ? args.filter(({ text }) => /\[.*(?:\$\(|`|<\()/s.test(text)).map(({ text }) => unclear(`: "${text}"`))
    : [];
  const afterGit = program === 'git' ? args.findIndex((_, at) => gitRuns.test(pair(args, at))) : -1;
  const inGit = afterGit < 0 ? [] : [unclear(textFrom(args, afterGit + 2))];
  const inSocat =
    program === 'socat'
      ? args.flatMap(({ text }) => /^(?:EXEC|SYSTEM|SHELL):([^,]*)/i.exec(text)?.[1] ?? []).map(unclear)
      : [];
  const behind = starters.has(program)
    ? args.slice(0, mostWords).map((_, at): Inner => ({ words: args.slice(at), clear: false }))
    : [];
  return [...inOptions, ...inNames, ...inGit, ...inSocat, ...behind];
}

const pair = (args: readonly ShellWord[], at: number): string => textFrom(args.slice(0, at + 2), at);

const textFrom = (args: readonly ShellWord[], at: number): string =>
  args
    .slice(at)
    .map(({ text }) => text)
    .join(' ');
