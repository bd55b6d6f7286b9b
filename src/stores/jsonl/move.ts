// Gives a session file another name: under the locks of both names, with the side files that belong to it, and never over another file.
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import { realDisk, type Disk } from './disk.ts';
import { takeLock, usualSilence, type Lock } from './lock.ts';
import { diskTrouble, fencedTrouble, goneTrouble } from './trouble.ts';

/** How to move a file that is not open here. */
export type MoveOptions = { readonly disk?: Disk; readonly silentMs?: number };

/** Moves a session file that nobody writes to. One that is open here is moved by its own log. */
export async function moveJsonl(from: string, to: string, options: MoveOptions = {}): Promise<void> {
  const { disk = realDisk, silentMs = usualSilence } = options;
  const file = disk.real(from);
  try {
    if (disk.inode(file) === undefined) throw goneTrouble(file);
    const lock = await takeLock(disk, file, silentMs);
    try {
      (await moveHeld({ disk, file, lock, to, silentMs })).release();
    } finally {
      lock.release();
    }
  } catch (error) {
    throw diskTrouble(error, file, 'move');
  }
}

/** A move by the holder of a file's lock. */
export type Move = {
  readonly disk: Disk;
  readonly file: string;
  readonly lock: Lock;
  readonly to: string;
  readonly silentMs: number;
};

/** Moves the file and gives the lock of its new name, which is then held beside the old one. Whoever makes a session holds its lock first, so a name that is free under its lock stays free. */
export async function moveHeld({ disk, file, lock, to, silentMs }: Move): Promise<Lock> {
  if (disk.inode(to) !== undefined) throw takenTrouble(to);
  const next = await takeLock(disk, to, silentMs);
  try {
    if (!lock.holds()) throw fencedTrouble(file);
    if (disk.inode(to) !== undefined) throw takenTrouble(to);
    disk.rename(file, to);
    moveSides(disk, file, to);
    for (const folder of new Set([path.dirname(to), path.dirname(file)])) disk.syncFolder(folder);
    return next;
  } catch (error) {
    next.release();
    throw error;
  }
}

const sideEnding = /^\.(index|(torn|damaged|edited)-[\d-]+)$/;

/** The session is where its file is: a side file that stays behind is a pity, not a loss. */
function moveSides(disk: Disk, file: string, to: string): void {
  const [folder, base] = [path.dirname(file), path.basename(file)];
  for (const name of disk.list(folder)) {
    if (!name.startsWith(base) || !sideEnding.test(name.slice(base.length))) continue;
    try {
      disk.rename(path.join(folder, name), `${to}${name.slice(base.length)}`);
    } catch {}
  }
}

/** There is a file of this name. */
export const takenTrouble = (file: string): FairleadError =>
  new FairleadError('store/exists', `${file} is there already.`, { blame: 'user', hint: 'Choose another name.' });
