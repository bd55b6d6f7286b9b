// Finds packages that a command would install and that the project does not use yet. A model may invent names, and attackers register them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isObject, escapeInvisibleLine, type ToolCall, type Gate } from '../../core/index.ts';
import { grantKey, type Grants } from '../grants.ts';
import { formatApprovalPrompt } from '../permission.ts';
import { callOperations, type PathContext } from './operations.ts';
import { programName } from './nested-commands.ts';
import type { ShellWord } from './shell.ts';

/** How a package manager installs packages, and in which files a project lists them. */
type PackageManager = {
  /** Matches the words that install something, starting at the program. */
  readonly installPattern: RegExp;
  readonly manifests: readonly string[];
  /** Folders that contain installed packages by name. */
  readonly installFolders?: readonly string[];
  /** Returns the package name in an argument such as `name@1.2`. */
  readonly parseName: (argument: string) => string;
};

const stripVersion = (argument: string): string => argument.replace(/[@:].*$/, '');

const packageManagers: readonly PackageManager[] = [
  {
    installPattern:
      /^(?:(?:npm|pnpm|yarn|bun) (?:global |workspace \S+ )?(?:i|it|install-test|in|ins|inst|insta|instal|install|isnt|isnta|isntal|isntall|add|exec|x|dlx|init|create)|npx|pnpx|bunx)(?= |$)/,
    manifests: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'package.json'],
    installFolders: ['node_modules', 'node_modules/.bin'],
    parseName: (argument) => (/@npm:(.+)/.exec(argument)?.[1] ?? argument).replace(/(?<=.)@[^/]*$/, ''),
  },
  {
    installPattern:
      /^(?:(?:uv )?pip[\d.]* install|(?:poetry|uv|pdm) add|pipenv install|pipx (?:install|run)|uv tool (?:install|run)|uvx)(?= |$)/,
    manifests: 'requirements.txt poetry.lock uv.lock pdm.lock Pipfile.lock pyproject.toml setup.cfg Pipfile'.split(' '),
    parseName: (argument) => argument.replace(/[[<>=!~;@ ].*$/s, ''),
  },
  {
    installPattern: /^cargo (?:\+\S+ )?(?:add|install)(?= |$)/,
    manifests: ['Cargo.lock', 'Cargo.toml'],
    parseName: stripVersion,
  },
  {
    installPattern: /^go (?:(?:get|install)(?= |$)|run(?= [^ ]+@[^ ]))/,
    manifests: ['go.sum', 'go.mod'],
    parseName: stripVersion,
  },
  {
    installPattern: /^(?:gem (?:i|install)|bundle add)(?= |$)/,
    manifests: ['Gemfile.lock', 'Gemfile'],
    parseName: stripVersion,
  },
];

/** Commands whose first operand is a package to run; the arguments after it belong to that package. */
const executorPattern = /(?:^| )(?:npx|pnpx|bunx|uvx|exec|x|dlx|init|create|run)$/;

const managerPattern = /\b(?:npm|npx|pnpm|pnpx|yarn|bunx?|pip|uvx?|python|poetry|pdm|pipenv|pipx|cargo|go|gem|bundle)/;

/** Options that take the next word as their value. */
const optionsWithValue =
  /^(?:-w|--workspace|--prefix|--registry|-C|--dir|--filter|-F|--tag|-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-t|--target|--features|--version|-v|--vers|--git|--branch|--path|--bin|--group|-G)$/;

/** Stands for packages in a command that is too large or too deeply nested to be evaluated. */
const unreadablePackages = 'packages of a command that is too large to be evaluated';

const maxArgumentLength = 500;

/** Returns the package names in a call that no file of the working folder mentions, without duplicates. */
export async function unknownPackages(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  context: PathContext,
): Promise<readonly string[]> {
  const { command } = isObject(input) ? input : {};
  // Quotes and backslashes inside a name would hide it from this check, but not from the shell.
  if (typeof command !== 'string' || !managerPattern.test(command.replaceAll(/["'\\]/g, ''))) return [];
  const { operations, isIncomplete } = await callOperations({ tool, input }, context);
  const unknownNames = operations.flatMap(({ argv = [] }) => findUnknownPackages(argv, context.cwd));
  return [...new Set([...unknownNames, ...(isIncomplete ? [unreadablePackages] : [])])];
}

/** Adds a question before an unknown package is installed, in every mode and even if a rule allows the command. */
export function packageInstallGate(gate: Gate, grants: Grants, context: PathContext): Gate {
  return async (call, state) => {
    const decision = await gate(call, state);
    if (decision.type === 'deny' || grants.has(grantKey(call, context.locate))) return decision;
    const unknownNames = await unknownPackages(call, context);
    if (unknownNames.length === 0) return decision;
    const warning = `Warning: not in the lockfile or manifest of this project, so the package is new here: ${unknownNames.map(escapeInvisibleLine).join(', ')}.`;
    const question = decision.type === 'ask' ? decision.question : formatApprovalPrompt(call, context.locate);
    return { type: 'ask', question: `${question}\n${warning}` };
  };
}

function findUnknownPackages(words: readonly ShellWord[], cwd: string): readonly string[] {
  const [program = '', ...args] = pythonModuleCommand([
    programName(words[0]),
    ...words.slice(1).map(({ text }) => text.slice(0, maxArgumentLength)),
  ]);
  const install = [installOperands(args), installOperands(args, /^--?[^=]+$/)].flatMap(
    (names) => parseInstall(program, names) ?? [],
  )[0];
  if (!install) return [];
  const isKnown = createKnownPackageCheck(install.manager, cwd);
  return install.packages
    .filter((argument) => !isLocalPackage(argument))
    .map((argument) => install.manager.parseName(argument))
    .filter((name) => name !== '' && !isKnown(name));
}

/** Converts `python -m module` to the program that the module is. */
function pythonModuleCommand(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word, at) => at > 0 && !word.startsWith('-'));
  return /^python[\d.]*$/.test(words[0] ?? '') && /^-[A-Za-z]*m$/.test(words[first - 1] ?? '')
    ? words.slice(first)
    : words;
}

/** Returns the packages that these words install; undefined if they install nothing. */
function parseInstall(
  program: string,
  names: readonly string[],
): { readonly manager: PackageManager; readonly packages: readonly string[] } | undefined {
  const line = [program, ...names].join(' ');
  const manager = packageManagers.find(({ installPattern }) => installPattern.test(line));
  const [installCommand] = manager?.installPattern.exec(line) ?? [];
  if (manager === undefined || installCommand === undefined) return undefined;
  return {
    manager,
    packages: names
      .slice(installCommand.split(' ').length - 1)
      .slice(0, executorPattern.test(installCommand) ? 1 : undefined),
  };
}

/** Returns the words that are neither an option nor the value of one. */
const installOperands = (args: readonly string[], withValue: RegExp = optionsWithValue): readonly string[] =>
  args.filter((word, at) => !word.startsWith('-') && !withValue.test(args[at - 1] ?? ''));

/** Returns true for local folders and files, which are not registry packages. */
const isLocalPackage = (argument: string): boolean => /^(?:\.{0,2}\/|~\/|\.{1,2}$|file:)/.test(argument);

const maxManifestBytes = 32 * 2 ** 20;

/** Creates a function that returns whether the files of a folder mention a package as a complete word. */
function createKnownPackageCheck(
  { manifests, installFolders = [] }: PackageManager,
  cwd: string,
): (name: string) => boolean {
  const texts = manifests.map((file) => readTextOrEmpty(path.join(cwd, file)).toLowerCase());
  const isInstalled = (name: string): boolean =>
    !name.includes('..') && installFolders.some((folder) => existsSync(path.join(cwd, folder, name)));
  return (name) => {
    const escapedName = name.toLowerCase().replaceAll(/[^\w-]/g, '\\$&');
    const word = new RegExp(
      `(?:^|["'\\s,]|node_modules/)${escapedName.replaceAll(/[-_]/g, '[-_.]')}(?:["'@\\s:=<>~!;,[(]|$)`,
      'm',
    );
    return isInstalled(name) || texts.some((text) => word.test(text));
  };
}

function readTextOrEmpty(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= maxManifestBytes ? readFileSync(file, 'utf8') : '';
}
