// The one writer's place of a session file: taken atomically, kept alive by a heartbeat, taken over from the dead and the silent.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError } from '../../core/index.ts';
import { errnoCode, readAll, realDisk, writeAll, type Disk } from './disk.ts';
import {
  heartbeatNow,
  isProcessRunning,
  parseLockOwner,
  isOwnerAlive,
  createLockOwner,
  msSinceHeartbeat,
  type LockOwner,
} from '../lock-owner.ts';

/** The writer's place, held. */
export type FileLock = {
  /** Who was taken over from: a dead process, or a live one that gave no sign of life and may still have the file open. */
  readonly after: 'nobody' | 'dead' | 'silent';
  /** Whether the place is still ours. One question to the file system: cheap enough to ask before every write. */
  isHeld(): boolean;
  release(): void;
};

/** How long a live writer may give no sign of life before another may take its place, in milliseconds. */
export const defaultLockTimeoutMs = 30_000;

/** Who writes to a session file now; nothing if nobody does, or if they died or fell silent. Takes nothing. */
export function getLockOwner(name: string, disk: Disk = realDisk): LockOwner | undefined {
  const found = readLock(disk, `${disk.realpath(name)}.lock`);
  return found && lockState(found, defaultLockTimeoutMs) === 'held' ? found.holder : undefined;
}

type LockClaim = {
  readonly disk: Disk;
  readonly holder: LockOwner;
  readonly mine: string;
  readonly silentMs: number;
  /** Whoever holds it counts as silent. */
  readonly force: boolean;
};

/** Takes the writer's place of a file, or says who has it; by force also from one who lives. */
export async function acquireLock(disk: Disk, file: string, silentMs: number, force = false): Promise<FileLock> {
  const lock = `${file}.lock`;
  const holder = createLockOwner();
  const mine = `${lock}.${holder.token}`;
  try {
    writeLockFile(disk, mine, holder);
    const after = await claimLock({ disk, holder, mine, silentMs, force }, lock, file);
    try {
      return holdLock(disk, file, holder, silentMs, after);
    } catch (error) {
      removeQuietly(disk, lock);
      throw error;
    }
  } finally {
    removeQuietly(disk, mine);
  }
}

const formatLockOwner = (holder: LockOwner): string => `${JSON.stringify(holder)}\n`;

/**
 * Puts our lock in place. Only one process may replace a given holder's lock: the one that holds the lock on replacing it,
 * a lock like any other, so that one who dies while replacing is replaced in the same way.
 */
async function claimLock(given: LockClaim, lock: string, file: string): Promise<FileLock['after']> {
  const { disk, mine, silentMs, force } = given;
  for (let tries = 0; ; tries++) {
    if (linkLock(given, lock)) return 'nobody';
    const found = readLock(disk, lock);
    if (!found) continue;
    const state = lockState(found, force ? -1 : silentMs);
    if (state === 'held') throw fileLockedError(file, found.holder);
    const right = `${lock}.${found.token}`;
    try {
      await claimLock({ ...given, force: false }, right, file);
    } catch (error) {
      // Somebody else is just taking over: soon there is a new holder to look at.
      if (!(error instanceof FairleadError) || error.code !== 'store/locked' || tries > 200) throw error;
      await sleep(5);
      continue;
    }
    try {
      if (readLock(disk, lock)?.token !== found.token) continue;
      linkLock(given, `${mine}.again`);
      disk.rename(`${mine}.again`, lock);
      return state;
    } finally {
      removeQuietly(disk, `${mine}.again`);
      removeQuietly(disk, right);
    }
  }
}

/** Makes our lock appear under a name that must be free, whole from the first moment where the file system has hard links. */
function linkLock({ disk, holder, mine }: LockClaim, to: string): boolean {
  try {
    disk.link(mine, to);
    return true;
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errnoCode(error) ?? '')) throw error;
  }
  try {
    writeLockFile(disk, to, holder);
    return true;
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function writeLockFile(disk: Disk, file: string, holder: LockOwner): void {
  const fd = disk.open(file, 'x');
  try {
    writeAll(disk, fd, Buffer.from(formatLockOwner(holder)));
  } finally {
    disk.close(fd);
  }
}

/** What cannot be removed, not even at the second try, is swept up by the next one to come. */
function removeQuietly(disk: Disk, file: string): void {
  for (let tries = 0; tries < 2; tries++) {
    try {
      return disk.remove(file);
    } catch {}
  }
}

type FoundLock = { readonly holder: LockOwner | undefined; readonly token: string; readonly changed: number };

function readLock(disk: Disk, lock: string): FoundLock | undefined {
  try {
    const fd = disk.open(lock, 'r');
    try {
      const facts = disk.stat(fd);
      const holder = parseLockOwner(readAll(disk, fd, 0, 4096).toString());
      return { holder, token: holder?.token ?? `x${facts?.inode}`, changed: facts?.mtimeMs ?? 0 };
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function lockState({ holder, changed }: FoundLock, silentMs: number): 'held' | 'dead' | 'silent' {
  // A lock that cannot be read was hurt by a power cut, or is being written this very moment.
  if (!holder) return Date.now() - changed > 2000 ? 'dead' : 'held';
  if (isOwnerAlive(holder) === false) return 'dead';
  return msSinceHeartbeat(holder, changed) > silentMs ? 'silent' : 'held';
}

function fileLockedError(file: string, holder: LockOwner | undefined): FairleadError {
  const who = holder ? `process ${holder.pid} on ${holder.host} since ${holder.time}` : 'another process';
  return new FairleadError('store/locked', `${file} is being written by ${who}.`, {
    blame: 'user',
    retry: true,
    hint: 'Close the session there, or open it here for reading only.',
  });
}

function holdLock(disk: Disk, file: string, holder: LockOwner, silentMs: number, after: FileLock['after']): FileLock {
  const lock = `${file}.lock`;
  const fd = disk.open(lock, 'w');
  const inode = disk.stat(fd)?.inode;
  const beat = (): void => {
    try {
      // Through the descriptor: once somebody else has the place, this reaches a file that nobody reads.
      writeAll(disk, fd, Buffer.from(formatLockOwner({ ...holder, beat: heartbeatNow() })), 0);
    } catch {
      // The next beat may come through; if none does, the silence is true.
    }
  };
  const timer = setInterval(beat, Math.max(10, silentMs / 3)).unref();
  let open = true;
  return {
    after,
    isHeld: () => disk.inode(lock) === inode,
    release() {
      if (!open) return;
      open = false;
      clearInterval(timer);
      if (disk.inode(lock) === inode) removeQuietly(disk, lock);
      disk.close(fd);
    },
  };
}

/** Removes what a process that died left beside a file. Only for the holder of the file's lock. */
export function removeStaleFiles(disk: Disk, file: string): void {
  const folder = path.dirname(file);
  const base = path.basename(file);
  for (const name of disk.list(folder)) {
    if (name.startsWith(`${base}.new-`)) removeQuietly(disk, path.join(folder, name));
    if (name.startsWith(`${base}.lock.`) && isAbandoned(disk, path.join(folder, name)))
      removeQuietly(disk, path.join(folder, name));
  }
}

function isAbandoned(disk: Disk, file: string): boolean {
  const holder = readLock(disk, file)?.holder;
  if (holder) return isOwnerAlive(holder) === false;
  return !isProcessRunning(Number.parseInt(path.extname(file.replace(/\.again$/, '')).slice(1), 10) || 0);
}
