// Reads the commands of package managers: the manager behind interpreters and runners, what it installs, and from which words.
import { programName } from './nested-commands.ts';
import {
  executorPattern,
  installOptions,
  managerProgramPattern,
  managerScriptPattern,
  packageManagers,
  type PackageManager,
} from './package-managers.ts';
import { takesValue } from './package-options.ts';
import type { ShellWord } from './shell.ts';

/** The program of a command and its arguments, after interpreters were removed. */
export type PackageCommand = { readonly program: string; readonly args: readonly ShellWord[] };

/** What a command installs. */
export type PackageInstall = {
  readonly manager: PackageManager;
  readonly packages: readonly string[];
  /** The arguments that the package manager itself reads; those after a package to run belong to that package. */
  readonly ownArgs: readonly ShellWord[];
};

/** Longer words are not package names. */
export const maxArgumentLength = 500;

/** Programs other than package managers that run the command in their arguments. */
const runners: ReadonlySet<string> = new Set(
  'nodemon cross-env cross-env-shell dotenv direnv concurrently npm-run-all doppler turbo lerna rush watchexec chokidar onchange'.split(
    ' ',
  ),
);

/** Returns true for package managers and programs that run their arguments. */
const runsArguments = (program: string): boolean => managerProgramPattern.test(program) || runners.has(program);

/** Max words of all commands in the arguments of one command, together. */
const maxInnerWords = 20_000;
/** Max words before the last command in the arguments. */
const maxInnerStart = 64;

/** Returns the command itself and the commands of package managers in its arguments; undefined if there are too many. */
export function readPackageCommands(words: readonly ShellWord[]): readonly PackageCommand[] | undefined {
  const command = readPackageCommand(words);
  const { program, args } = command;
  if (program === 'pipx' && args[0]?.text === 'runpip') return [command, { program: 'pip', args: args.slice(2) }];
  if (!runsArguments(program)) return [command];
  const starts = args.flatMap((word, at) => (isManagerWord(word) ? [at] : []));
  if (starts.some((at) => at >= maxInnerStart) || starts.length * args.length > maxInnerWords) return undefined;
  const inner = starts.map((at) => readPackageCommand([...splitWord(args[at]), ...args.slice(at + 1)]));
  return [command, ...inner];
}

/** Splits a word that holds a command line, such as the value of an option. */
const splitWord = (word: ShellWord | undefined): readonly ShellWord[] =>
  word === undefined
    ? []
    : word.text
        .trim()
        .split(/\s+/)
        .map((text) => ({ ...word, text }));

const isManagerWord = ({ text }: ShellWord): boolean => {
  const [first = ''] = text.slice(0, maxArgumentLength).trimStart().split(/\s/, 1);
  return managerProgramPattern.test(normalizeProgram(first)) || /^python[\d.]*$/.test(first);
};

/** Returns the program name without folder, version and the ending of its script. */
const normalizeProgram = (text: string): string => {
  const name = programName({ text, known: true }).replace(/(?<=.)@.*$/, '');
  return managerScriptPattern.exec(name)?.[1] ?? name;
};

function readPackageCommand(words: readonly ShellWord[]): PackageCommand {
  const [first, ...args] = words;
  const program = normalizeProgram(first?.text ?? '');
  if (/^python[\d.]*$/.test(program)) return readPythonModule(program, args);
  const script = program === 'node' ? args.findIndex(({ text }) => !text.startsWith('-')) : -1;
  const scriptProgram = normalizeProgram(args[script]?.text ?? '');
  if (script >= 0 && managerProgramPattern.test(scriptProgram))
    return { program: scriptProgram, args: args.slice(script + 1) };
  return { program, args };
}

/** Converts `python -m module` and `python -mmodule` to the program that the module is. */
function readPythonModule(program: string, args: readonly ShellWord[]): PackageCommand {
  const first = args.findIndex(({ text }) => !text.startsWith('-') || /^-[A-Za-z]*m[a-z_]{2,}$/.test(text));
  const word = args[first]?.text ?? '';
  const [, module] = /^-[A-Za-z]*?m([a-z_]{2,})$/.exec(word) ?? [];
  if (module !== undefined) return { program: module, args: args.slice(first + 1) };
  const isModule = /^-[A-Za-z]*m$/.test(args[first - 1]?.text ?? '');
  return isModule ? { program: word, args: args.slice(first + 1) } : { program, args };
}

/** Returns what a command installs; undefined if it installs nothing. */
export function parseInstall({ program, args }: PackageCommand): PackageInstall | undefined {
  const byOption = parseOptionInstall(program, args);
  if (byOption) return byOption;
  const operands = operandIndexes(program, args);
  // An option before the subcommand that is not known may take a value.
  const cautious = args.flatMap(({ text }, at) =>
    text.startsWith('-') || /^--?[^=]+$/.test(args[at - 1]?.text ?? '') ? [] : [at],
  );
  for (const reading of [operands, cautious]) {
    const line = [program, ...reading.map((at) => args[at]?.text.slice(0, maxArgumentLength) ?? '')].join(' ');
    const manager = packageManagers.find(({ installPattern }) => installPattern.test(line));
    const [installCommand] = manager?.installPattern.exec(line) ?? [];
    if (manager === undefined || installCommand === undefined) continue;
    const commandLength = installCommand.split(' ').length - 1;
    const lastWord = commandLength === 0 ? -1 : (reading[commandLength - 1] ?? -1);
    const packages = operands.filter((at) => at > lastWord);
    const textsOf = (indexes: readonly number[]): readonly string[] =>
      indexes.map((at) => args[at]?.text.slice(0, maxArgumentLength) ?? '');
    if (!executorPattern.test(installCommand)) return { manager, packages: textsOf(packages), ownArgs: args };
    // npm reads options after the package that it runs, too, until `--`.
    const end = program === 'npm' ? args.findIndex(({ text }) => text === '--') : (packages[0] ?? -2) + 1;
    return { manager, packages: textsOf(packages.slice(0, 1)), ownArgs: end < 0 ? args : args.slice(0, end) };
  }
  return undefined;
}

function parseOptionInstall(program: string, args: readonly ShellWord[]): PackageInstall | undefined {
  const pattern = Object.hasOwn(installOptions, program) ? installOptions[program] : undefined;
  const manager = packageManagers.at(-1);
  if (!manager || !args.some(({ text }) => pattern?.test(text))) return undefined;
  const packages = args.flatMap(({ text }) => (text.startsWith('-') ? (/=(.+)$/s.exec(text)?.[1] ?? []) : text));
  return { manager, packages: packages.length > 0 ? packages : ['all packages'], ownArgs: args };
}

/** Returns the indexes of the words that are neither an option nor the value of one. */
export const operandIndexes = (program: string, args: readonly ShellWord[]): readonly number[] =>
  args.flatMap(({ text }, at) => (text.startsWith('-') || takesValue(program, args[at - 1]?.text ?? '') ? [] : [at]));

/** Returns the packages that options name: `npx --package=name`, `npx -pname`, `uv run --with name`. */
export function packagesInOptions({ program, args }: PackageCommand, install?: PackageInstall): readonly string[] {
  // deno takes modules as operands and in several options.
  if (program === 'deno') return args.flatMap(({ text }) => /^(?:--[\w-]+=)?((?:npm|jsr):.+)$/s.exec(text)?.[1] ?? []);
  if (!/^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|uv|uvx|pipx)$/.test(program)) return [];
  const runsPackage = /^(?:npx|pnpx|bunx)$/.test(program) || args.some(({ text }) => /^(?:dlx|x)$/.test(text));
  const shortPattern = /^uvx?$/.test(program)
    ? /^-w(.*)$/s
    : runsPackage && program !== 'npm'
      ? /^-[a-oq-z]*p(.*)$/s
      : undefined;
  const own = new Set(install?.ownArgs ?? args);
  // Words after `--` belong to the script or the package that runs.
  const end = args.findIndex(({ text }) => text === '--');
  return (end < 0 ? args : args.slice(0, end)).flatMap((word, at) => {
    const [, long, value] =
      /^--(pac|pack|packa|packag|package|with|from|with-editable|spec|preinstall)(?:=(.*))?$/s.exec(word.text) ?? [];
    // `uv run --package` names a part of the project.
    if (long !== undefined) return program === 'uv' && long === 'package' ? [] : [value ?? args[at + 1]?.text ?? ''];
    const [, short] = (own.has(word) && shortPattern?.exec(word.text)) || [];
    return short === undefined ? [] : [short === '' ? (args[at + 1]?.text ?? '') : short.replace(/^=/, '')];
  });
}

/** Returns the package manager whose files list the packages that the options of this program name. */
export const managerOfOptions = (program: string): PackageManager | undefined => {
  const manifest =
    program === 'deno' ? 'deno.lock' : /^(?:uv|uvx|pipx)$/.test(program) ? 'uv.lock' : 'package-lock.json';
  return packageManagers.find(({ manifests }) => manifests.includes(manifest));
};
