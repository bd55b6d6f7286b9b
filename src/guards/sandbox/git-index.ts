// Reads the gitlinks of a git index: folders that git enters as repositories of their own, with the configuration that it finds there.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPointer } from './git-configuration.ts';
import { isEmptyDirectory, lstatIfVisible } from './open-folder.ts';

/** The folders of a repository that its index names as repositories; undefined if the index could not be read. */
export type Gitlinks = { readonly index: string; readonly folders: readonly string[] | undefined };

const maxIndexBytes = 256_000_000;
const maxGitlinks = 1000;
const headerBytes = 12;
/** Times, device, owner and size are before the name of the object. */
const objectOffset = 40;
const modeOffset = 24;
const [typeMask, gitlinkType] = [0o170_000, 0o160_000];

type KnownIndex = { readonly stamp: string; readonly names: readonly string[] | undefined };

/** The last result for each index: most commands do not change it. */
const knownIndexes = new Map<string, KnownIndex>();

/** Returns the gitlinks of the repository that a working folder belongs to; undefined if there is no repository or no index. */
export function findGitlinks(root: string): Gitlinks | undefined {
  for (let folder = root; ; folder = path.dirname(folder)) {
    const git = gitDirectoryAt(path.join(folder, '.git'));
    if (git !== undefined) return readGitlinks(path.join(git, 'index'), folder);
    if (path.dirname(folder) === folder) return undefined;
  }
}

/** An empty `.git` is a placeholder, which git ignores. */
function gitDirectoryAt(git: string): string | undefined {
  const found = lstatIfVisible(git);
  if (found === undefined || (found.isDirectory() && isEmptyDirectory(git))) return undefined;
  return found.isFile() ? readPointer(git) : git;
}

function readGitlinks(index: string, folder: string): Gitlinks | undefined {
  let stamp: string;
  try {
    const { ino, size, ctimeNs } = statSync(index, { bigint: true });
    stamp = `${ino} ${size} ${ctimeNs}`;
  } catch {
    return undefined;
  }
  let known = knownIndexes.get(index);
  if (known?.stamp !== stamp) {
    known = { stamp, names: readNames(index) };
    knownIndexes.set(index, known);
  }
  return { index, folders: known.names?.map((name) => path.join(folder, name)) };
}

function readNames(index: string): readonly string[] | undefined {
  try {
    const found = statSync(index);
    if (!found.isFile() || found.size > maxIndexBytes) return undefined;
    const content = readFileSync(index);
    // The name of an object is longer in a repository with SHA-256, which only its configuration says.
    const parsed = [20, 32].map((bytes) => parseGitIndex(content, bytes)).find((each) => each !== undefined);
    if (parsed === undefined) return undefined;
    const shared = parsed.sharedIndex && readNames(path.join(path.dirname(index), `sharedindex.${parsed.sharedIndex}`));
    if (parsed.sharedIndex && shared === undefined) return undefined;
    return [...parsed.gitlinks, ...(shared || [])];
  } catch {
    return undefined;
  }
}

/** What an index says about gitlinks. */
export type ParsedGitIndex = { readonly gitlinks: readonly string[]; readonly sharedIndex?: string };

/** Parses an index whose object names have this many bytes; undefined if it is not one. */
export function parseGitIndex(content: Buffer, objectBytes: number): ParsedGitIndex | undefined {
  if (content.length < headerBytes || content.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = content.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const end = content.length - objectBytes;
  const gitlinks: string[] = [];
  let at = headerBytes;
  let previous = '';
  for (let left = content.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + objectOffset + objectBytes;
    if (flagsAt + 2 > end) return undefined;
    const isLong = version > 2 && (content.readUInt16BE(flagsAt) & 0x4000) !== 0;
    const name = readName(content, flagsAt + (isLong ? 4 : 2), version === 4 ? previous : undefined);
    if (name === undefined || name.end > end) return undefined;
    if ((content.readUInt32BE(at + modeOffset) & typeMask) === gitlinkType) {
      if (gitlinks.length >= maxGitlinks) return undefined;
      gitlinks.push(Buffer.from(name.text(), 'latin1').toString());
    }
    if (version === 4) previous = name.text();
    // Entries of the older versions are filled with zeros to a multiple of eight bytes.
    at = version === 4 ? name.end + 1 : at + ((name.end - at + 8) & ~7);
  }
  return parseExtensions(content, at, end, objectBytes, gitlinks);
}

type IndexName = { readonly end: number; readonly text: () => string };

/** Reads a name up to its NUL. Version 4 names how many bytes of the previous name are dropped, and then gives the rest. */
function readName(content: Buffer, start: number, previous: string | undefined): IndexName | undefined {
  let from = start;
  let dropped = 0;
  if (previous !== undefined) {
    let byte = content[from++] ?? 0;
    dropped = byte & 0x7f;
    while ((byte & 0x80) !== 0) {
      byte = content[from++] ?? 0;
      dropped = (dropped + 1) * 128 + (byte & 0x7f);
    }
    if (dropped > previous.length) return undefined;
  }
  const nul = content.indexOf(0, from);
  if (nul < 0) return undefined;
  const kept = previous === undefined ? '' : previous.slice(0, previous.length - dropped);
  return { end: nul, text: () => kept + content.toString('latin1', from, nul) };
}

/** A `link` names another index with the rest of the entries. */
function parseExtensions(
  content: Buffer,
  start: number,
  end: number,
  objectBytes: number,
  gitlinks: readonly string[],
): ParsedGitIndex | undefined {
  let at = start;
  while (at + 8 <= end) {
    const size = content.readUInt32BE(at + 4);
    const isLink = content.toString('latin1', at, at + 4) === 'link';
    if (isLink) return { gitlinks, sharedIndex: content.toString('hex', at + 8, at + 8 + objectBytes) };
    at += 8 + size;
  }
  return at === end ? { gitlinks } : undefined;
}
