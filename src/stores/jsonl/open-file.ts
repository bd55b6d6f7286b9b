// Opens a session file: for its writer under the lock, creating and recovering the file, or for reading without changes.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { SessionFileIndex, SessionFileProblem } from './file-index.ts';
import { readAll, writeAll, writeNewFile, type Disk } from './disk.ts';
import { truncateTornTail, quarantineDamage, recordEdits, replaceFile, type RecoveryTarget } from './recovery.ts';
import { formatHeaderLine } from './line.ts';
import { removeStaleFiles, acquireLock, type FileLock } from './lock.ts';
import {
  peekHeader,
  listProblems,
  assertKnownFormat,
  assertSessionFile,
  loadIndex,
  type LoadedIndex,
} from './load-index.ts';
import { fencedError } from '../store-errors.ts';
import { tornProblem } from './verify-hash-chain.ts';
import { createIdSuffix } from './writer.ts';

/** An open file and its index. */
export type OpenedFile = {
  readonly fd: number;
  readonly loaded: LoadedIndex;
  readonly problems: readonly SessionFileProblem[];
};

/** How to open a file for writing. */
export type OpenFileRequest = {
  readonly disk: Disk;
  readonly file: string;
  readonly session: string | undefined;
  readonly lockTimeoutMs: number;
  /** Takes the lock over even from a responsive writer. */
  readonly force: boolean;
};

/** Opens a file for reading: no lock, no recovery, no change. */
export async function openForReading(disk: Disk, file: string): Promise<OpenedFile> {
  const fd = disk.open(file, 'r');
  try {
    const loaded = await loadIndex(disk, file, fd);
    assertKnownFormat(file, loaded.index.header);
    assertSessionFile(disk, file, fd, loaded);
    const torn = loaded.torn === undefined ? [] : [tornProblem(loaded.index.line + 1, loaded.torn)];
    return { fd, loaded, problems: [...listProblems(loaded.index), ...torn, ...fileSystemProblems(disk, file)] };
  } catch (error) {
    disk.close(fd);
    throw error;
  }
}

/** Opens a file for writing under its lock. */
export async function openForWriting(request: OpenFileRequest): Promise<OpenedFile & { readonly lock: FileLock }> {
  const { disk, file } = request;
  assertKnownFormat(file, readCurrentHeader(disk, file));
  const lock = await acquireLock(disk, file, request.lockTimeoutMs, request.force);
  try {
    removeStaleFiles(disk, file);
    if (disk.stat(file) === undefined) await writeNewFile(disk, file, createHeader(request));
    const taken = lock.previous === 'unresponsive' ? [await replaceFileOfPreviousOwner(request, lock)] : [];
    const opened = await openRecovered(request, lock);
    return { ...opened, problems: [...taken, ...opened.problems, ...fileSystemProblems(disk, file)], lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function readCurrentHeader(disk: Disk, file: string): ReturnType<typeof peekHeader> {
  if (disk.stat(file) === undefined) return undefined;
  const fd = disk.open(file, 'r');
  try {
    return peekHeader(disk, fd);
  } finally {
    disk.close(fd);
  }
}

const createHeader = ({ session }: OpenFileRequest): Buffer =>
  Buffer.from(formatHeaderLine(session ?? randomUUID(), new Date().toISOString()).text);

/** The previous owner may still write: it keeps the old file, and the session continues in a new one. */
async function replaceFileOfPreviousOwner(
  { disk, file }: OpenFileRequest,
  lock: FileLock,
): Promise<SessionFileProblem> {
  const fd = disk.open(file, 'r');
  try {
    await replaceFile(createRecoveryTarget(disk, file, fd, lock), disk.stat(fd)?.size ?? 0);
  } finally {
    disk.close(fd);
  }
  const message = 'Taken over from a process that still runs but sent no heartbeat; its further writes are refused.';
  return { kind: 'taken-over', line: 0, offset: 0, message, resolved: true };
}

const createRecoveryTarget = (disk: Disk, file: string, fd: number, lock: FileLock): RecoveryTarget => ({
  disk,
  file,
  fd,
  assertLocked() {
    if (!lock.isHeld()) throw fencedError(file);
  },
});

async function openRecovered(request: OpenFileRequest, lock: FileLock): Promise<OpenedFile> {
  const { disk, file } = request;
  const fd = disk.open(file, 'a');
  try {
    const loaded = await loadIndex(disk, file, fd);
    assertKnownFormat(file, loaded.index.header);
    assertSessionFile(disk, file, fd, loaded);
    const recovered = await recoverFile(request, createRecoveryTarget(disk, file, fd, lock), loaded);
    if (!recovered.isReplaced) return { fd, loaded, problems: [...recovered.problems, ...listProblems(loaded.index)] };
    // The file was replaced or got its header only now: load it again.
    disk.close(fd);
    const next = await openRecovered(request, lock);
    return { ...next, problems: [...recovered.problems, ...next.problems] };
  } catch (error) {
    closeQuietly(disk, fd);
    throw error;
  }
}

/** The descriptor may be closed already. The first error is the one to report. */
function closeQuietly(disk: Disk, fd: number): void {
  try {
    disk.close(fd);
  } catch {}
}

async function recoverFile(
  request: OpenFileRequest,
  target: RecoveryTarget,
  { index, torn }: LoadedIndex,
): Promise<{ readonly problems: readonly SessionFileProblem[]; readonly isReplaced: boolean }> {
  const problems: SessionFileProblem[] = [];
  if (torn !== undefined)
    problems.push({
      ...tornProblem(index.line + 1, torn),
      backupFile: await truncateTornTail(target, torn),
      resolved: true,
    });
  await quarantineDamage(target, index);
  const isNew = await finishLine(request, target.fd, index);
  const edit = index.modifiedLines.length > 0 ? await recordEdits(target, index, createIdSuffix()) : undefined;
  return { problems: edit ? [...problems, edit] : problems, isReplaced: isNew || edit !== undefined };
}

/** Writes the header of an empty file, or the missing line end of the last line. Returns whether the file was empty. */
async function finishLine(request: OpenFileRequest, fd: number, index: SessionFileIndex): Promise<boolean> {
  const { disk } = request;
  if (index.offset === 0) {
    writeAll(disk, fd, createHeader(request));
    await disk.sync(fd);
    return true;
  }
  if (readAll(disk, fd, index.offset - 1, 1)[0] === 10) return false;
  writeAll(disk, fd, Buffer.from('\n'));
  index.offset++;
  const last = index.segments.at(-1);
  if (last) last.to = index.offset;
  return false;
}

const networkFileSystems: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x65735546: 'FUSE',
  0x01021997: '9P',
  0x794c7630: 'overlay',
  0x5346414f: 'AFS',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
};

/** A warning if the file is on a file system where locks and syncs may not be reliable. */
function fileSystemProblems(disk: Disk, file: string): readonly SessionFileProblem[] {
  let name: string | undefined;
  try {
    name = networkFileSystems[disk.fileSystemType(path.dirname(file)) >>> 0];
  } catch {
    return [];
  }
  if (name === undefined) return [];
  const message = `${path.dirname(file)} is on a ${name} file system, where a lock or a sync may not reach every machine: open this session from one machine at a time.`;
  return [{ kind: 'place', line: 0, offset: 0, message, resolved: true }];
}
