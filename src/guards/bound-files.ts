// Files of a folder that an approved program runs, with their hashes at approval. If one of them changes, the approval no longer counts.
import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../core/index.ts';
import { interpreters, shells } from './runner-programs.ts';

/** A file that an approved program runs, with its hash at approval; the hash is empty if the file did not exist. */
export type BoundFile = { readonly path: string; readonly hash: string };

/** The hash of a pipe, a device or a file that cannot be read. It counts as changed, because its content cannot be compared. */
const unreadable = 'unreadable';

/** Returns the sha256 of a file; undefined if it is not a regular file or cannot be read. */
export function hashFile(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return undefined;
    return hash('sha256', readFileSync(file));
  } catch {
    return undefined;
  }
}

/** Returns the path of the first file that is not as it was at approval; undefined if all are. */
export const findChangedFile = (files: readonly BoundFile[]): string | undefined =>
  files.find((file) => file.hash === unreadable || hashPresent(file.path) !== file.hash)?.path;

/** Returns the hash of what is at this path; empty for nothing and for a folder. */
function hashPresent(file: string): string {
  const found = tryStat(file);
  return !found || found.isDirectory() ? '' : (hashFile(file) ?? unreadable);
}

const shellWordPattern = /"[^"]*"[^\s;|&<>()]*|'[^']*'|[^\s;|&<>()]+/g;
const redirectionPattern = new RegExp(String.raw`\d?>{1,2}\s*(?:${shellWordPattern.source})`, 'g');

/** Returns the files in the folder that a shell command names, including files that do not exist yet: changing or creating one of them changes what was approved. Files that the command only writes are not included. */
export function findFilesOfCommand(command: string, cwd: string): readonly BoundFile[] {
  const expanded = command
    .replaceAll(/\$\{?(?:CLAUDE|FAIRLEAD)_PROJECT_DIR\}?/g, cwd)
    .replaceAll(redirectionPattern, ' ');
  return (expanded.match(shellWordPattern) ?? []).flatMap((each) =>
    findNamedFile(each.replaceAll(/["']/g, ''), { cwd, root: cwd }),
  );
}

/** Where a program starts, and the folder whose files are bound. */
type Place = { readonly cwd: string; readonly root: string };

function findNamedFile(word: string, { cwd, root }: Place): readonly BoundFile[] {
  const file = path.resolve(cwd, word);
  const found = tryStat(file);
  if (!found) return word.includes('/') && isPathInside(root, file) ? [{ path: file, hash: '' }] : [];
  // A link may point out of the folder now and to another file later.
  const isInside = isPathInside(root, file) || isPathInside(realpathSync(root), realpathSync(file));
  return found.isDirectory() || !isInside ? [] : [{ path: file, hash: hashPresent(file) }];
}

/** The files from which an interpreter starts if it is given a folder. */
const entryFiles = ['package.json', 'index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py'];

/** Programs that run a file of any name that an argument gives. */
const runners = [interpreters, shells, /^(bun|deno|tsx|ts-node|env|xargs)$/];
const dataPattern = /\.(?:db|db3|sqlite|sqlite3|duckdb|parquet|csv|tsv|jsonl|ndjson|log)$/i;

/** Returns the words that name no data: a server that writes its own database would otherwise have to be approved again after each run. An interpreter runs a file of any name. */
const withoutData = (words: readonly string[]): readonly string[] =>
  words.some((word) => runners.some((pattern) => pattern.test(path.basename(word))))
    ? words
    : words.filter((word, at) => at === 0 || !dataPattern.test(word));

/** Returns the files in the folder that the arguments of a program name, including those that do not exist yet. */
export function findFilesOfArgv(argv: readonly string[], place: Place): readonly BoundFile[] {
  const words = withoutData(splitOptions(argv));
  const plain = words
    .filter((word) => !word.startsWith('-') && word !== '')
    .map((word) => path.resolve(place.cwd, word));
  const absent = plain.filter((file) => tryStat(file) === undefined);
  return uniqueFiles([...words.flatMap((word) => findNamedFile(word, place)), ...bindFiles(absent, place.root)]);
}

/** Returns all files in the folder that a program with these arguments may run: also the entry files of a folder, modules, programs of installed packages and the files of task runners. */
export function findFilesOfRunner(argv: readonly string[], place: Place): readonly BoundFile[] {
  const { cwd, root } = place;
  const candidates = splitOptions(argv).flatMap((word) => {
    const at = path.resolve(cwd, word);
    const entries = tryStat(at)?.isDirectory() ? entryFiles.map((name) => path.join(at, name)) : [];
    return [...entries, ...findInstalled(word, cwd)];
  });
  return uniqueFiles([...findFilesOfArgv(argv, place), ...bindFiles(candidates, root), ...findRunnerFiles(root)]);
}

/** Returns the words, and the values of options such as `--file=x`. */
const splitOptions = (argv: readonly string[]): readonly string[] =>
  argv.flatMap((word) => [word, ...(/^-[^=]*=(.+)$/s.exec(word)?.slice(1) ?? [])]);

/** Returns where an interpreter or a package manager finds a word that is not a path: a module, or a program of an installed package. */
function findInstalled(word: string, cwd: string): readonly string[] {
  if (!/^@?[\w.-]+(\/[\w.-]+)?(@[\w.^~-]+)?$/.test(word)) return [];
  const name = word.replace(/(?!^)@.*$/, '');
  const module = path.join(cwd, ...name.split('.'));
  return [
    path.join(cwd, 'node_modules/.bin', path.basename(name)),
    path.join(cwd, 'node_modules', name, 'package.json'),
    `${module}.py`,
    path.join(module, '__init__.py'),
    path.join(module, '__main__.py'),
  ];
}

const bindFiles = (files: readonly string[], root: string): readonly BoundFile[] =>
  files.flatMap((file) => (isPathInside(root, file) ? [{ path: file, hash: hashPresent(file) }] : []));

/** Returns these files without duplicates. */
export const uniqueFiles = (files: readonly BoundFile[]): readonly BoundFile[] => [
  ...new Map(files.map((each) => [each.path, each])).values(),
];

/** Files from which task runners, package managers and interpreters take what they run. */
const runnerFiles = [
  'package.json',
  'Makefile',
  'makefile',
  'GNUmakefile',
  'justfile',
  'Justfile',
  'Taskfile.yml',
  'Taskfile.yaml',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'tox.ini',
  'Cargo.toml',
  'build.rs',
  'Rakefile',
  'composer.json',
  'deno.json',
  'mise.toml',
];

/** Returns the files of task runners in the folder, including those that do not exist yet. */
export const findRunnerFiles = (cwd: string): readonly BoundFile[] =>
  bindFiles(
    runnerFiles.map((name) => path.join(cwd, name)),
    cwd,
  );

/** Returns the file status; undefined if the word is not a path or access is denied. */
function tryStat(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
