// Loads the index of a session file: from its sidecar index and the lines after it if the sidecar is valid, otherwise by a full scan.
import { FairleadError } from '../../core/index.ts';
import { newerVersionError } from '../store-errors.ts';
import { createFileIndex, type SessionFileIndex, type SessionFileProblem } from './file-index.ts';
import { readAll, type Disk } from './disk.ts';
import { formatVersion, parseHeader, type SessionFileHeader } from './line.ts';
import { resolveParents, resolveDuplicates } from './resolve-parents.ts';
import { detectDamage } from './edited-or-damaged.ts';
import { scanFile } from './scan-file.ts';
import { createPrefixHash, readSidecar, type PrefixHash } from './sidecar.ts';

/** A loaded index. */
export type LoadedIndex = {
  readonly index: SessionFileIndex;
  /** The offset of an incomplete last line. */
  readonly torn: number | undefined;
  readonly from: 'index' | 'start';
  /** How many lines were scanned. */
  readonly lines: number;
  readonly prefix: PrefixHash;
};

/** Loads the index of a file, using its sidecar index if that is valid. */
export async function loadIndex(disk: Disk, file: string, fd: number): Promise<LoadedIndex> {
  return (await loadFromSidecar(disk, file, fd)) ?? buildIndex(disk, file, fd);
}

/** Builds the index of a file from its first byte. */
export async function buildIndex(disk: Disk, file: string, fd: number): Promise<LoadedIndex> {
  const index = createFileIndex();
  const torn = await updateIndex(index, disk, file, fd);
  return { index, torn, from: 'start', lines: index.line, prefix: createPrefixHash(disk) };
}

async function loadFromSidecar(disk: Disk, file: string, fd: number): Promise<LoadedIndex | undefined> {
  const sidecar = readSidecar(disk, file);
  const header = sidecar && peekHeader(disk, fd);
  if (!sidecar || !header || sidecar.offset > (disk.stat(fd)?.size ?? 0)) return undefined;
  const prefix = createPrefixHash(disk);
  if ((await prefix.hashUpTo(fd, sidecar.offset)) !== sidecar.sha256) return undefined;
  const index = createFileIndex(sidecar, header);
  const torn = await updateIndex(index, disk, file, fd);
  if (index.leavesIndexedPart || index.problems.length > 0 || index.modifiedLines.length > 0) return undefined;
  return { index, torn, from: 'index', lines: index.line - sidecar.line, prefix };
}

/** Adds to an index what was appended to the file since. */
export async function updateIndex(
  index: SessionFileIndex,
  disk: Disk,
  file: string,
  fd: number,
  to?: number,
): Promise<number | undefined> {
  const torn = await scanFile(index, disk, fd, to);
  resolveDuplicates(index, disk, fd);
  detectDamage(index, disk, file, fd);
  resolveParents(index, disk, fd);
  return torn;
}

/** The header of a file, if its first line is one. */
export function peekHeader(disk: Disk, fd: number): SessionFileHeader | undefined {
  const [line = ''] = readAll(disk, fd, 0, 65_536).toString().split('\n', 1);
  return parseHeader(line.replace(/^\uFEFF/, ''));
}

/** Rejects a file that a later version wrote, before anything is changed. */
export function assertKnownFormat(file: string, header: SessionFileHeader | undefined): void {
  if (!header || header.version <= formatVersion) return;
  throw newerVersionError(file, header.version, formatVersion);
}

/** Rejects a file that is not a session file, so that a file of another program is never changed. */
export function assertSessionFile(disk: Disk, file: string, fd: number, { index, torn }: LoadedIndex): void {
  if (index.header || index.events > 0 || (index.offset === 0 && isEmptySession(disk, fd, torn))) return;
  throw new FairleadError('store/not-a-session', `${file} is not a session file: it has no header and no events.`, {
    blame: 'user',
    hint: 'Name another file. This file was not changed.',
  });
}

/** Whether the header of a new session was not written completely: the file is empty, zeros, or the beginning of a header. */
function isEmptySession(disk: Disk, fd: number, torn: number | undefined): boolean {
  if (torn === undefined) return true;
  const text = readAll(disk, fd, 0, 4096).toString('latin1').replace(/\0+$/, '');
  const start = '{"fairlead":';
  return text.startsWith(start) || start.startsWith(text);
}

/** All problems of an indexed file, in the order of the file. */
export function listProblems({ problems, modifiedLines }: SessionFileIndex): readonly SessionFileProblem[] {
  const edits = modifiedLines.map(({ line, offset }): SessionFileProblem => ({
    kind: 'edited',
    line,
    offset,
    message: `Line ${line} was changed outside the program.`,
  }));
  return [...problems, ...edits].toSorted((a, b) => a.offset - b.offset);
}
