// Finds the gitlinks of a repository: folders that git enters as repositories of their own, with the configuration that it finds there.
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPointer, readPointerText } from './git-configuration.ts';
import { isDirectory, isEmptyDirectory, listNames, lstatIfVisible, readSmallFile } from './open-folder.ts';
import { parseGitIndex, type GitIndexFormat, type ParsedGitIndex } from './parse-git-index.ts';

/** The folders of a repository that its index names as repositories; undefined if the index could not be read. */
export type Gitlinks = {
  readonly index: string;
  /** The size of the index. */
  readonly bytes: number;
  readonly folders: readonly string[] | undefined;
};

const maxIndexBytes = 128_000_000;
const maxKnownBytes = 32_000_000;
const maxConfigBytes = 65_536;
const maxSparseEntries = 10_000;

type IndexFolders = Pick<ParsedGitIndex, 'gitlinks' | 'sparseFolders'>;
type KnownIndex = { readonly key: string; readonly content: Buffer; readonly parsed: ParsedGitIndex | undefined };

/** The last result for each index: most commands do not change it. Its time does not tell: a mapped file can change without it. */
const knownIndexes = new Map<string, KnownIndex>();

/** Returns the gitlinks of the repository that a working folder belongs to; undefined if there is no repository or no index. */
export function findGitlinks(root: string): Gitlinks | undefined {
  for (let folder = root; ; folder = path.dirname(folder)) {
    if (gitDirectoryOf(folder) !== undefined) return readGitlinks(folder);
    if (path.dirname(folder) === folder) return undefined;
  }
}

/** Returns the gitlinks of the repository in this folder; undefined if there is no repository or no index. */
export function readGitlinks(folder: string, maxBytes: number = maxIndexBytes): Gitlinks | undefined {
  const git = gitDirectoryOf(folder);
  if (git === undefined) return undefined;
  const index = path.join(git, 'index');
  const bytes = sizeOf(index);
  if (bytes === undefined) return undefined;
  const parsed = bytes > maxBytes ? undefined : readIndex(index, { hashBytes: hashBytesOf(git) });
  const sparse = parsed?.sparseFolders.map((name) => findRepositories(path.join(folder, name)));
  if (parsed === undefined || sparse?.includes(undefined)) return { index, bytes, folders: undefined };
  const linked = parsed.gitlinks.map((name) => path.join(folder, name));
  return { index, bytes, folders: [...linked, ...(sparse ?? []).flatMap((folders) => folders ?? [])] };
}

/** Returns undefined if nothing is there, or only a link to nothing. */
function sizeOf(file: string): number | undefined {
  try {
    return statSync(file).size;
  } catch {
    return undefined;
  }
}

/** An empty `.git` is a placeholder, which git ignores. */
function gitDirectoryOf(folder: string): string | undefined {
  const git = path.join(folder, '.git');
  const found = lstatIfVisible(git);
  if (found === undefined || (found.isDirectory() && isEmptyDirectory(git))) return undefined;
  return found.isFile() ? readPointer(git) : git;
}

/** Only the configuration of a repository says how long its hashes are. */
function hashBytesOf(git: string): number {
  const common = readPointerText(path.join(git, 'commondir'));
  const config = readSmallFile(
    path.join(common === undefined ? git : path.resolve(git, common), 'config'),
    maxConfigBytes,
  );
  return /^\s*objectformat\s*=\s*"?sha256/im.test(config ?? '') ? 32 : 20;
}

function readIndex(index: string, format: GitIndexFormat): IndexFolders | undefined {
  const main = parseFile(index, format);
  if (main?.sharedIndex === undefined) return main;
  const file = path.join(path.dirname(index), `sharedindex.${main.sharedIndex}`);
  const shared = parseFile(file, { ...format, takesAll: main.changesShared });
  if (shared === undefined || shared.sharedIndex !== undefined) return undefined;
  return {
    gitlinks: [...main.gitlinks, ...shared.gitlinks],
    sparseFolders: [...main.sparseFolders, ...shared.sparseFolders],
  };
}

function parseFile(file: string, format: GitIndexFormat): ParsedGitIndex | undefined {
  const content = readIndexFile(file);
  if (content === undefined) return undefined;
  const known = knownIndexes.get(file);
  const key = `${format.hashBytes} ${format.takesAll === true}`;
  if (known?.key === key && known.content.equals(content)) return known.parsed;
  const parsed = parseGitIndex(content, format);
  if (content.length <= maxKnownBytes) knownIndexes.set(file, { key, content, parsed });
  return parsed;
}

/** A pipe in place of an index does not block. */
function readIndexFile(file: string): Buffer | undefined {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(descriptor);
      return found.isFile() && found.size <= maxIndexBytes ? readFileSync(descriptor) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** Returns the folders with a repository in a folder of a sparse index, which usually does not exist; undefined if there is too much in it. */
function findRepositories(top: string): readonly string[] | undefined {
  const found: string[] = [];
  const pending = [top];
  let left = maxSparseEntries;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (!isDirectory(folder)) continue;
    if (lstatIfVisible(path.join(folder, '.git')) !== undefined) found.push(folder);
    const names = listNames(folder);
    left -= names.length;
    if (left < 0) return undefined;
    for (const name of names) if (name !== '.git') pending.push(path.join(folder, name));
  }
  return found;
}
