// Finds packages that a command would install and that the project does not use yet. A model may invent names, and attackers register them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ToolCall } from '../../core/index.ts';
import { callOperations, type PathContext } from './operations.ts';
import { programName } from './nested-commands.ts';
import { executorPattern, optionsWithValue, packageManagers, type PackageManager } from './package-managers.ts';
import type { ShellWord } from './shell.ts';

/** Stands for packages in a command that is too large or too deeply nested to be evaluated. */
const unreadablePackages = 'packages of a command that is too large to be evaluated';

const maxArgumentLength = 500;

/** Returns the package names in a call that no file of the working folder mentions, without duplicates. */
export async function unknownPackages(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  context: PathContext,
): Promise<readonly string[]> {
  const { operations, isIncomplete } = await callOperations({ tool, input }, context);
  const known = createKnownPackages(context.cwd);
  const unknownNames = operations.flatMap(({ argv = [] }) => findUnknownPackages(argv, known));
  return [...new Set([...unknownNames, ...(isIncomplete ? [unreadablePackages] : [])])];
}

const maxInnerInstalls = 5;

function findUnknownPackages(words: readonly ShellWord[], known: KnownPackages, depth = 0): readonly string[] {
  if (depth > maxInnerInstalls) return [unreadablePackages];
  const texts = [programName(words[0]), ...words.slice(1).map(({ text }) => text.slice(0, maxArgumentLength))];
  const [program = '', ...args] = pythonModuleCommand(texts);
  if (program === 'xargs' || program === 'parallel') return packagesFromStdin(args);
  const inner = innerInstall(program, args);
  if (inner)
    return findUnknownPackages(
      inner.map((text) => ({ text, known: true })),
      known,
      depth + 1,
    );
  const install = [installOperands(args), installOperands(args, /^--?[^=]+$/)].flatMap(
    (names) => parseInstall(program, names) ?? [],
  )[0];
  const optionPackages = packagesInOptions(program, args);
  const [manager] = install ? [install.manager] : managersOf(program);
  if (manager === undefined || (!install && optionPackages.length === 0)) return [];
  const unknownNames = [...(install?.packages ?? []), ...optionPackages]
    .filter((argument) => !isLocalPackage(argument))
    .map((argument) => manager.parseName(argument))
    .filter((name) => name !== '' && !known(manager, name));
  // Another registry or a URL decides what a known name is.
  const sources = args.filter((word) => word.includes('://') && !unknownNames.some((name) => word.includes(name)));
  return [...unknownNames, ...sources];
}

/** Returns the packages that options name: `npx --package=name`, `uv run --with name`. */
function packagesInOptions(program: string, args: readonly string[]): readonly string[] {
  if (!/^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|uv|uvx|pipx)$/.test(program)) return [];
  return args.flatMap((word, at) => {
    const [, name, value] = /^(--(?:package|with|from|with-editable|spec))(?:=(.*))?$/s.exec(word) ?? [];
    return name === undefined ? [] : [value ?? args[at + 1] ?? ''];
  });
}

/** Returns the package managers of a program that runs packages without installing them into the project. */
const managersOf = (program: string): readonly PackageManager[] =>
  packageManagers.filter(({ manifests }) =>
    manifests.includes(/^(?:uv|uvx|pipx)$/.test(program) ? 'uv.lock' : 'package.json'),
  );

const maxInnerWords = 12;

/** Returns a note if the command that xargs runs installs packages, whose names come from standard input. */
function packagesFromStdin(args: readonly string[]): readonly string[] {
  const installs = args
    .slice(0, maxInnerWords)
    .some(
      (word, at) =>
        parseInstall(programName({ text: word, known: true }), installOperands(args.slice(at + 1))) !== undefined,
    );
  return installs ? ['names from standard input'] : [];
}

/** Returns the command of a package manager inside another one: `npm explore x -- npm i y`, `pipx runpip x install y`. */
function innerInstall(program: string, args: readonly string[]): readonly string[] | undefined {
  if (program === 'npm' && args[0] === 'explore' && args.includes('--')) return args.slice(args.indexOf('--') + 1);
  return program === 'pipx' && args[0] === 'runpip' ? ['pip', ...args.slice(2)] : undefined;
}

/** Converts `python -m module` and `python -mmodule` to the program that the module is. */
function pythonModuleCommand(words: readonly string[]): readonly string[] {
  if (!/^python[\d.]*$/.test(words[0] ?? '')) return words;
  const first = words.findIndex(
    (word, at) => at > 0 && (!word.startsWith('-') || /^-[A-Za-z]*m[a-z_]{2,}$/.test(word)),
  );
  const [, module] = /^-[A-Za-z]*?m([a-z_]{2,})$/.exec(words[first] ?? '') ?? [];
  if (module !== undefined) return [module, ...words.slice(first + 1)];
  return /^-[A-Za-z]*m$/.test(words[first - 1] ?? '') ? words.slice(first) : words;
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

const maxManifestBytes = 16 * 2 ** 20;

/** Returns whether the files of a folder mention a package as a complete word, or its folders contain the package. */
type KnownPackages = (manager: PackageManager, name: string) => boolean;

/** Reads the files of each package manager once. */
function createKnownPackages(cwd: string): KnownPackages {
  const wordsByManager = new Map<PackageManager, ReadonlyMap<string, readonly string[]>>();
  return (manager, name) => {
    const { manifests, installFolders = [] } = manager;
    const words =
      wordsByManager.get(manager) ??
      listWords(manifests.map((file) => readTextOrEmpty(path.join(cwd, file)).toLowerCase()));
    wordsByManager.set(manager, words);
    const isInstalled =
      !name.includes('..') && installFolders.some((folder) => existsSync(path.join(cwd, folder, name)));
    const escapedName = name.toLowerCase().replaceAll(/[^\w-]/g, '\\$&');
    const spelling = new RegExp(`^${escapedName.replaceAll(/[-_]/g, '[-_.]')}$`);
    return isInstalled || words.get(foldSeparators(name.toLowerCase()))?.some((word) => spelling.test(word)) === true;
  };
}

const foldSeparators = (word: string): string => word.replaceAll(/[-_.]/g, '-');

/** Returns the words of manifests that may be package names, by their folded spelling: `name@1`, `name==1` and `node_modules/name` contain the word `name`. */
function listWords(texts: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>();
  const add = (word: string): void => {
    const key = foldSeparators(word);
    const spellings = words.get(key);
    if (spellings === undefined) words.set(key, [word]);
    else if (!spellings.includes(word) && spellings.length < maxSpellings) spellings.push(word);
  };
  for (const text of texts)
    for (const [token] of text.matchAll(/[^"'\s,]+/g)) {
      if (token.length > maxArgumentLength) continue;
      const name = token.split('node_modules/').at(-1) ?? '';
      add(name);
      for (const { index } of [...name.matchAll(/[@:=<>~!;[(]/g)].slice(0, maxEnds))
        if (index > 0) add(name.slice(0, index));
    }
  return words;
}

const maxSpellings = 8;
/** Max places in a word at which a name may end. */
const maxEnds = 4;

function readTextOrEmpty(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= maxManifestBytes ? readFileSync(file, 'utf8') : '';
}
