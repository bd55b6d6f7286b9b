// Renames a session file with its side files, under the locks of both names, and never over another file.
import path from 'node:path';
import { realDisk, type Disk } from './disk.ts';
import { acquireLock, defaultLockTimeoutMs, type FileLock } from './lock.ts';
import { fencedError } from '../store-errors.ts';
import { fileExistsError, fileGoneError, toDiskError } from './errors.ts';

/** Options of a move. */
export type MoveJsonlOptions = { readonly disk?: Disk; readonly lockTimeoutMs?: number };

/** Moves a session file that has no writer. A file that is open for writing is moved by `JsonlLog.move`. */
export async function moveJsonl(from: string, to: string, options: MoveJsonlOptions = {}): Promise<void> {
  const { disk = realDisk, lockTimeoutMs = defaultLockTimeoutMs } = options;
  const file = disk.realpath(from);
  try {
    if (disk.inode(file) === undefined) throw fileGoneError(file);
    const lock = await acquireLock(disk, file, lockTimeoutMs);
    try {
      (await moveLockedFile({ disk, file, lock, to, lockTimeoutMs })).release();
    } finally {
      lock.release();
    }
  } catch (error) {
    throw toDiskError(error, file, 'move');
  }
}

/** A move of a file whose lock the caller holds. */
export type FileMove = {
  readonly disk: Disk;
  readonly file: string;
  readonly lock: FileLock;
  readonly to: string;
  readonly lockTimeoutMs: number;
};

/** Moves the file and returns the lock of its new name; the old lock stays held. A session file is created only under its lock, so a name that is free under the lock stays free. */
export async function moveLockedFile({ disk, file, lock, to, lockTimeoutMs }: FileMove): Promise<FileLock> {
  if (disk.inode(to) !== undefined) throw fileExistsError(to);
  const next = await acquireLock(disk, to, lockTimeoutMs);
  try {
    if (!lock.isHeld()) throw fencedError(file);
    if (disk.inode(to) !== undefined) throw fileExistsError(to);
    disk.rename(file, to);
    moveSideFiles(disk, file, to);
    for (const directory of new Set([path.dirname(to), path.dirname(file)])) disk.syncDirectory(directory);
    return next;
  } catch (error) {
    next.release();
    throw error;
  }
}

const sideFilePattern = /^\.(index|(torn|damaged|edited)-[\d-]+)$/;

/** A side file that cannot be moved is not an error: the session is complete without it. */
function moveSideFiles(disk: Disk, file: string, to: string): void {
  const [directory, base] = [path.dirname(file), path.basename(file)];
  for (const name of disk.list(directory)) {
    if (!name.startsWith(base) || !sideFilePattern.test(name.slice(base.length))) continue;
    try {
      disk.rename(path.join(directory, name), `${to}${name.slice(base.length)}`);
    } catch {}
  }
}
