// Gives a session file another name: under the locks of both names, with the side files that belong to it, and never over another file.
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import { realDisk, type Disk } from './disk.ts';
import { acquireLock, defaultLockTimeoutMs, type FileLock } from './lock.ts';
import { toDiskError, fileFencedError, fileGoneError } from './errors.ts';

/** How to move a file that is not open here. */
export type MoveJsonlOptions = { readonly disk?: Disk; readonly silentMs?: number };

/** Moves a session file that nobody writes to. One that is open here is moved by its own log. */
export async function moveJsonl(from: string, to: string, options: MoveJsonlOptions = {}): Promise<void> {
  const { disk = realDisk, silentMs = defaultLockTimeoutMs } = options;
  const file = disk.realpath(from);
  try {
    if (disk.inode(file) === undefined) throw fileGoneError(file);
    const lock = await acquireLock(disk, file, silentMs);
    try {
      (await moveLockedFile({ disk, file, lock, to, silentMs })).release();
    } finally {
      lock.release();
    }
  } catch (error) {
    throw toDiskError(error, file, 'move');
  }
}

/** A move by the holder of a file's lock. */
export type FileMove = {
  readonly disk: Disk;
  readonly file: string;
  readonly lock: FileLock;
  readonly to: string;
  readonly silentMs: number;
};

/** Moves the file and gives the lock of its new name, which is then held beside the old one. Whoever makes a session holds its lock first, so a name that is free under its lock stays free. */
export async function moveLockedFile({ disk, file, lock, to, silentMs }: FileMove): Promise<FileLock> {
  if (disk.inode(to) !== undefined) throw fileExistsError(to);
  const next = await acquireLock(disk, to, silentMs);
  try {
    if (!lock.isHeld()) throw fileFencedError(file);
    if (disk.inode(to) !== undefined) throw fileExistsError(to);
    disk.rename(file, to);
    moveSideFiles(disk, file, to);
    for (const folder of new Set([path.dirname(to), path.dirname(file)])) disk.syncDirectory(folder);
    return next;
  } catch (error) {
    next.release();
    throw error;
  }
}

const sideFilePattern = /^\.(index|(torn|damaged|edited)-[\d-]+)$/;

/** The session is where its file is: a side file that stays behind is a pity, not a loss. */
function moveSideFiles(disk: Disk, file: string, to: string): void {
  const [folder, base] = [path.dirname(file), path.basename(file)];
  for (const name of disk.list(folder)) {
    if (!name.startsWith(base) || !sideFilePattern.test(name.slice(base.length))) continue;
    try {
      disk.rename(path.join(folder, name), `${to}${name.slice(base.length)}`);
    } catch {}
  }
}

/** There is a file of this name. */
export const fileExistsError = (file: string): FairleadError =>
  new FairleadError('store/exists', `${file} is there already.`, { blame: 'user', hint: 'Choose another name.' });
