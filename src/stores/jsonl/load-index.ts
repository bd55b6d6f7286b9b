// Finds out what is in a session file: from its index and the rest, where the index can be trusted, else from the whole of it.
import { FairleadError } from '../../core/index.ts';
import { createFileIndex, type SessionFileIndex, type SessionFileProblem } from './file-index.ts';
import { readAll, type Disk } from './disk.ts';
import { formatVersion, parseHeader, type SessionFileHeader } from './line.ts';
import { resolveParents, resolveDuplicates } from './resolve-parents.ts';
import { repairDamage } from './bit-repair.ts';
import { scanFile } from './scan.ts';
import { createPrefixHash, readSidecar, type PrefixHash } from './sidecar.ts';

/** What a look at a file gave. */
export type LoadedIndex = {
  readonly chart: SessionFileIndex;
  /** Where an unfinished last line begins. */
  readonly torn: number | undefined;
  readonly from: 'index' | 'start';
  /** How many lines were looked at. */
  readonly lines: number;
  readonly prefix: PrefixHash;
};

/** Charts a file, trusting its index as far as the bytes prove it right. */
export async function loadIndex(disk: Disk, file: string, fd: number): Promise<LoadedIndex> {
  return (await loadFromSidecar(disk, file, fd)) ?? buildIndex(disk, file, fd);
}

/** Charts a file from its first byte. */
export async function buildIndex(disk: Disk, file: string, fd: number): Promise<LoadedIndex> {
  const chart = createFileIndex();
  const torn = await updateIndex(chart, disk, file, fd);
  return { chart, torn, from: 'start', lines: chart.line, prefix: createPrefixHash(disk) };
}

async function loadFromSidecar(disk: Disk, file: string, fd: number): Promise<LoadedIndex | undefined> {
  const index = readSidecar(disk, file);
  const header = index && peekHeader(disk, fd);
  if (!index || !header || index.offset > (disk.stat(fd)?.size ?? 0)) return undefined;
  const prefix = createPrefixHash(disk);
  if ((await prefix.hashUpTo(fd, index.offset)) !== index.sha256) return undefined;
  const chart = createFileIndex(index, header);
  const torn = await updateIndex(chart, disk, file, fd);
  if (chart.leavesIndexedPart || chart.problems.length > 0 || chart.modifiedLines.length > 0) return undefined;
  return { chart, torn, from: 'index', lines: chart.line - index.line, prefix };
}

/** Charts what was added to a file since it was charted. */
export async function updateIndex(
  chart: SessionFileIndex,
  disk: Disk,
  file: string,
  fd: number,
  to?: number,
): Promise<number | undefined> {
  const torn = await scanFile(chart, disk, fd, to);
  resolveDuplicates(chart, disk, fd);
  repairDamage(chart, disk, file, fd);
  resolveParents(chart, disk, fd);
  return torn;
}

/** The header of a file, if its first line is one. */
export function peekHeader(disk: Disk, fd: number): SessionFileHeader | undefined {
  const [line = ''] = readAll(disk, fd, 0, 65_536).toString().split('\n', 1);
  return parseHeader(line.replace(/^\uFEFF/, ''));
}

/** Refuses a file that a later version wrote, before anything is changed. */
export function assertKnownFormat(file: string, header: SessionFileHeader | undefined): void {
  if (!header || header.version <= formatVersion) return;
  throw new FairleadError(
    'store/newer-version',
    `${file} is written in format ${header.version}; this program knows formats up to ${formatVersion}.`,
    { blame: 'user', hint: 'Open it with a newer version of Fairlead; the file was left as it is.' },
  );
}

/** Refuses a file that is no session, so that nobody's other file is ever changed. */
export function assertSessionFile(disk: Disk, file: string, fd: number, { chart, torn }: LoadedIndex): void {
  if (chart.header || chart.events > 0 || (chart.offset === 0 && isEmptySession(disk, fd, torn))) return;
  throw new FairleadError('store/not-a-session', `${file} is not a session file: it has no header and no events.`, {
    blame: 'user',
    hint: 'Name another file; this one was left as it is.',
  });
}

/** A session whose header never reached the disk: empty, zeros, or the beginning of a header. */
function isEmptySession(disk: Disk, fd: number, torn: number | undefined): boolean {
  if (torn === undefined) return true;
  const text = readAll(disk, fd, 0, 4096).toString('latin1').replace(/\0+$/, '');
  const start = '{"fairlead":';
  return text.startsWith(start) || start.startsWith(text);
}

/** Everything there is to say about a charted file. */
export function listProblems({ problems, modifiedLines }: SessionFileIndex): readonly SessionFileProblem[] {
  const edits = modifiedLines.map(({ line, offset }): SessionFileProblem => ({
    kind: 'edited',
    line,
    offset,
    what: `Line ${line} was changed outside the program.`,
  }));
  return [...problems, ...edits].toSorted((a, b) => a.offset - b.offset);
}
