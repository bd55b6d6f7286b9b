// Parses a git index for gitlinks. It accepts only what git itself writes: an index that git could read in another way is refused.
import { isUtf8 } from 'node:buffer';

/** What an index says about folders that git enters as repositories. */
export type ParsedGitIndex = {
  /** Paths of repositories. */
  readonly gitlinks: readonly string[];
  /** Folders of a sparse index: it does not name what is in them. */
  readonly sparseFolders: readonly string[];
  /** The hash in the name of the index with the other entries. */
  readonly sharedIndex?: string;
  /** True if an entry changes one of the shared index, which has its path, into a repository or a sparse folder. */
  readonly changesShared: boolean;
};

/** Options of parseGitIndex. */
export type GitIndexFormat = {
  /** How long the hash of an object is: 20 bytes, or 32 with SHA-256. */
  readonly hashBytes: number;
  /** Takes every path for that of a repository. */
  readonly takesAll?: boolean;
};

const maxFolders = 1000;
const maxNameBytes = 4096;
// A few bytes of version 4 can say a long path, so their sum is bounded and not only the file.
const maxTotalNameBytes = 128_000_000;
const headerBytes = 12;
/** Times, device, owner and size are before the hash of the object. */
const hashOffset = 40;
const modeOffset = 24;
const [typeMask, gitlinkType, directoryType] = [0o170_000, 0o160_000, 0o040_000];
const [longFlag, lengthMask] = [0x4000, 0xfff];
const knownExtensions = new Set(['TREE', 'REUC', 'link', 'UNTR', 'FSMN', 'EOIE', 'IEOT', 'sdir']);

type Entries = {
  readonly gitlinks: string[];
  readonly sparseFolders: string[];
  changesShared: boolean;
  /** Where each entry starts. */
  readonly offsets: number[];
  /** The entries whose path begins like the one before. */
  readonly dependent: Set<number>;
  end: number;
};

/** Parses an index; undefined if it is not one that git writes. */
export function parseGitIndex(content: Buffer, format: GitIndexFormat): ParsedGitIndex | undefined {
  if (content.length < headerBytes + format.hashBytes || content.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = content.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const entries = parseEntries(content, version, format);
  if (entries === undefined) return undefined;
  const extensions = parseExtensions(content, entries, format.hashBytes);
  if (extensions === undefined) return undefined;
  const { gitlinks, sparseFolders, changesShared } = entries;
  // Only an entry that changes one of a shared index has no path.
  if (changesShared && extensions.sharedIndex === undefined) return undefined;
  return { gitlinks, sparseFolders, changesShared, ...extensions };
}

function parseEntries(content: Buffer, version: number, { hashBytes, takesAll }: GitIndexFormat): Entries | undefined {
  const end = content.length - hashBytes;
  const entries: Entries = {
    gitlinks: [],
    sparseFolders: [],
    changesShared: false,
    offsets: [],
    dependent: new Set(),
    end: headerBytes,
  };
  let previous = '';
  let totalNameBytes = 0;
  for (let left = content.readUInt32BE(8); left > 0; left--) {
    const at = entries.end;
    const flagsAt = at + hashOffset + hashBytes;
    if (flagsAt + 4 > end) return undefined;
    const flags = content.readUInt16BE(flagsAt);
    const isLong = (flags & longFlag) !== 0;
    if (isLong && version === 2) return undefined;
    const name = readName(content, flagsAt + (isLong ? 4 : 2), version === 4 ? previous : undefined);
    if (name === undefined || (flags & lengthMask) !== Math.min(name.length, lengthMask)) return undefined;
    totalNameBytes += name.length;
    if (name.length > maxNameBytes || totalNameBytes > maxTotalNameBytes) return undefined;
    const next = version === 4 ? name.end + 1 : at + ((name.end - at + 8) & ~7);
    if (next > end || !isZero(content, name.end, next)) return undefined;
    if (name.kept > 0) entries.dependent.add(entries.offsets.length);
    entries.offsets.push(at);
    const type = content.readUInt32BE(at + modeOffset) & typeMask;
    if ((takesAll || type === gitlinkType || type === directoryType) && !addFolder(entries, type, name.text()))
      return undefined;
    if (version === 4) previous = name.text();
    entries.end = next;
  }
  return entries;
}

/** Returns false if there are too many, or if the path cannot be looked up: it is not text. */
function addFolder(entries: Entries, type: number, name: string): boolean {
  const bytes = Buffer.from(name, 'latin1');
  if (bytes.length === 0) entries.changesShared = true;
  else if (!isUtf8(bytes)) return false;
  else if (type === directoryType) entries.sparseFolders.push(bytes.toString());
  else entries.gitlinks.push(bytes.toString());
  return entries.gitlinks.length + entries.sparseFolders.length <= maxFolders;
}

function isZero(content: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (content[at] !== 0) return false;
  return true;
}

type IndexName = { readonly end: number; readonly length: number; readonly kept: number; readonly text: () => string };

/** Reads a path up to its NUL. Version 4 says how many bytes of the previous path are dropped, and then gives the rest. */
function readName(content: Buffer, start: number, previous: string | undefined): IndexName | undefined {
  let from = start;
  let dropped = 0;
  if (previous !== undefined) {
    let byte = content[from++] ?? 0;
    dropped = byte & 0x7f;
    while ((byte & 0x80) !== 0) {
      byte = content[from++] ?? 0;
      dropped = (dropped + 1) * 128 + (byte & 0x7f);
      if (dropped > previous.length) return undefined;
    }
    if (dropped > previous.length) return undefined;
  }
  const nul = content.indexOf(0, from);
  if (nul < 0) return undefined;
  const kept = previous === undefined ? 0 : previous.length - dropped;
  const text = (): string => (previous ?? '').slice(0, kept) + content.toString('latin1', from, nul);
  return { end: nul, length: kept + nul - from, kept, text };
}

type Extensions = { readonly sharedIndex?: string };

/** Extensions say where the entries are for threads of git (EOIE, IEOT), and which index has the other entries (link). */
function parseExtensions(content: Buffer, entries: Entries, hashBytes: number): Extensions | undefined {
  const end = content.length - hashBytes;
  const seen = new Set<string>();
  let sharedIndex: string | undefined;
  let at = entries.end;
  while (at + 8 <= end) {
    const name = content.toString('latin1', at, at + 4);
    const body = content.subarray(at + 8, at + 8 + content.readUInt32BE(at + 4));
    at += 8 + content.readUInt32BE(at + 4);
    if (!knownExtensions.has(name) || seen.has(name) || at > end) return undefined;
    seen.add(name);
    if (name === 'link') {
      if (body.length < hashBytes) return undefined;
      sharedIndex = body.toString('hex', 0, hashBytes);
    } else if (name === 'EOIE' && (body.length < 4 || body.readUInt32BE(0) !== entries.end)) return undefined;
    else if (name === 'IEOT' && !isOffsetTable(body, entries)) return undefined;
  }
  if (at !== end) return undefined;
  return sharedIndex === undefined ? {} : { sharedIndex };
}

/** Returns true if the blocks of an offset table begin where the entries do, and contain all of them. */
function isOffsetTable(body: Buffer, { offsets, dependent }: Entries): boolean {
  if (body.length < 4 || (body.length - 4) % 8 !== 0) return false;
  let entry = 0;
  for (let at = 4; at < body.length; at += 8) {
    // A thread does not know the path before its block.
    if (body.readUInt32BE(at) !== offsets[entry] || dependent.has(entry)) return false;
    entry += body.readUInt32BE(at + 4);
  }
  return entry === offsets.length;
}
