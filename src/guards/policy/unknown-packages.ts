// Finds packages that a command would install and that the project does not use yet. A model may invent names, and attackers register them.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ToolCall } from '../../core/index.ts';
import { callOperations, type PathContext } from './operations.ts';
import { programName } from './nested-commands.ts';
import {
  managerOfOptions,
  maxArgumentLength,
  packagesInOptions,
  parseInstall,
  readPackageCommands,
  type PackageCommand,
} from './package-commands.ts';
import { findCommandDoubts, findProgramDoubts, findVariableDoubts } from './package-doubts.ts';
import type { PackageManager } from './package-managers.ts';
import type { ShellWord } from './shell.ts';

/** Stands for packages in a command that is too large or too deeply nested to be evaluated. */
const unreadablePackages = 'packages of a command that is too large to be evaluated';

/** What a call may install. */
export type PackageFindings = {
  /** The packages that no file of the working folder mentions. */
  readonly unknownNames: readonly string[];
  /** Why other packages, or their source, are not known. */
  readonly doubts: readonly string[];
};

/** Finds the packages that a call may install and that the project does not use yet, without duplicates. */
export async function findNewPackages(
  { tool, input }: Pick<ToolCall, 'tool' | 'input'>,
  context: PathContext,
): Promise<PackageFindings> {
  const { operations, isIncomplete, commandLine = '' } = await callOperations({ tool, input }, context);
  const known = createKnownPackages(context.cwd);
  const found = operations.map(({ argv = [] }) => findInCommand(argv, known));
  return {
    unknownNames: [
      ...new Set([...found.flatMap(({ unknownNames }) => unknownNames), ...(isIncomplete ? [unreadablePackages] : [])]),
    ],
    doubts: [
      ...new Set([
        ...findProgramDoubts(commandLine, operations),
        ...findVariableDoubts(
          commandLine,
          operations,
          found.some(({ installs }) => installs),
        ),
        ...found.flatMap(({ doubts }) => doubts),
      ]),
    ],
  };
}

type CommandFindings = PackageFindings & { readonly installs: boolean };

const noFindings: CommandFindings = { unknownNames: [], doubts: [], installs: false };

function findInCommand(words: readonly ShellWord[], known: KnownPackages): CommandFindings {
  if (words.length === 0) return noFindings;
  const program = programName(words[0]);
  if (program === 'xargs' || program === 'parallel')
    return { ...noFindings, unknownNames: packagesFromStdin(words.slice(1)) };
  const commands = readPackageCommands(words);
  if (commands === undefined) return { unknownNames: [unreadablePackages], doubts: [], installs: true };
  const found = commands.map((command) => findInPackageCommand(command, known));
  return {
    unknownNames: found.flatMap(({ unknownNames }) => unknownNames),
    doubts: found.flatMap(({ doubts }) => doubts),
    installs: found.some(({ installs }) => installs),
  };
}

function findInPackageCommand(command: PackageCommand, known: KnownPackages): CommandFindings {
  const install = parseInstall(command);
  const optionPackages = packagesInOptions(command, install);
  const doubts = findCommandDoubts(command, install);
  const manager = install?.manager ?? (optionPackages.length > 0 ? managerOfOptions(command.program) : undefined);
  if (manager === undefined) return { ...noFindings, doubts };
  const unknownNames = [...(install?.packages ?? []), ...optionPackages]
    .filter((argument) => !isLocalPackage(argument))
    .map((argument) => manager.parseName(argument))
    .filter((name) => name !== '' && !known(manager, name));
  // Another registry or a URL decides what a known name is.
  const sources = command.args
    .map(({ text }) => text.slice(0, maxArgumentLength))
    .filter((word) => word.includes('://') && !unknownNames.some((name) => word.includes(name)));
  return {
    unknownNames: [...unknownNames, ...sources],
    // An expansion that stands for a package is among the names.
    doubts: doubts.filter((doubt) => !unknownNames.some((name) => doubt.includes(name))),
    installs: true,
  };
}

const maxStdinWords = 12;

/** Returns a note if the command that xargs runs installs packages, whose names come from standard input. */
function packagesFromStdin(args: readonly ShellWord[]): readonly string[] {
  const installs = args
    .slice(0, maxStdinWords)
    .some((_, at) => readPackageCommands(args.slice(at))?.some((command) => parseInstall(command)) !== false);
  return installs ? ['names from standard input'] : [];
}

/** Returns true for local folders and files, which are not registry packages. */
const isLocalPackage = (argument: string): boolean => /^(?:\.{0,2}\/|~\/|\.{1,2}(?:$|#|\[)|file:)/.test(argument);

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
