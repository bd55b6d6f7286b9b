// Writer lock of a session file. The heartbeat of the session file lock is written every third of its timeout (10 seconds by default); the lock of a process that ended or writes none is taken over.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError, systemErrorCode } from '../../core/index.ts';
import { lockedError } from '../store-errors.ts';
import { readAll, realDisk, writeAll, type Disk } from './disk.ts';
import {
  heartbeatNow,
  isProcessRunning,
  parseLockOwner,
  isOwnerAlive,
  createLockOwner,
  msSinceHeartbeat,
  type LockOwner,
} from '../lock-owner.ts';

/** A lock that this process holds. */
export type FileLock = {
  /** Whether the lock was free, or taken over: from a process that ended, or from one that runs but sent no heartbeat and may still write. */
  readonly previous: 'none' | 'dead' | 'unresponsive';
  /** Whether the lock is still held. One system call: cheap enough before every write. */
  isHeld(): boolean;
  release(): void;
};

/** How long a running writer may send no heartbeat before another may take its lock over, in milliseconds. */
export const defaultLockTimeoutMs = 30_000;

/** The process that has a session file open for writing; undefined if there is none, or if its lock has expired. Acquires nothing. */
export function getLockOwner(name: string, disk: Disk = realDisk): LockOwner | undefined {
  const found = readLock(disk, `${disk.realpath(name)}.lock`);
  return found && lockState(found, defaultLockTimeoutMs) === 'held' ? found.owner : undefined;
}

type LockClaim = {
  readonly disk: Disk;
  readonly owner: LockOwner;
  readonly ownFile: string;
  readonly lockTimeoutMs: number;
  /** Takes the lock over even from a responsive process. */
  readonly force: boolean;
};

/** Acquires the writer lock of a file, or throws `store/locked`; with `force` also from a responsive process. */
export async function acquireLock(disk: Disk, file: string, lockTimeoutMs: number, force = false): Promise<FileLock> {
  const lock = `${file}.lock`;
  const owner = createLockOwner();
  const ownFile = `${lock}.${owner.token}`;
  try {
    writeLockFile(disk, ownFile, owner);
    const previous = await claimLock({ disk, owner, ownFile, lockTimeoutMs, force }, lock, file);
    try {
      return holdLock(disk, file, owner, lockTimeoutMs, previous);
    } catch (error) {
      removeQuietly(disk, lock);
      throw error;
    }
  } finally {
    removeQuietly(disk, ownFile);
  }
}

const formatLockOwner = (owner: LockOwner): string => `${JSON.stringify(owner)}\n`;

/**
 * Creates or replaces the lock file. Only one process may replace the lock of a given owner: the one that holds the lock on replacing it.
 * That is a lock like any other, so a process that ends while replacing is replaced in the same way.
 */
async function claimLock(claim: LockClaim, lock: string, file: string): Promise<FileLock['previous']> {
  const { disk, ownFile, lockTimeoutMs, force } = claim;
  for (let tries = 0; ; tries++) {
    if (linkLock(claim, lock)) return 'none';
    const found = readLock(disk, lock);
    if (!found) continue;
    const state = lockState(found, force ? -1 : lockTimeoutMs);
    if (state === 'held') throw fileLockedError(file, found.owner);
    const replaceLock = `${lock}.${found.token}`;
    try {
      await claimLock({ ...claim, force: false }, replaceLock, file);
    } catch (error) {
      // Another process is taking over: soon there is a new owner to check.
      if (!(error instanceof FairleadError) || error.code !== 'store/locked' || tries > 200) throw error;
      await sleep(5);
      continue;
    }
    try {
      if (readLock(disk, lock)?.token !== found.token) continue;
      linkLock(claim, `${ownFile}.again`);
      disk.rename(`${ownFile}.again`, lock);
      return state;
    } finally {
      removeQuietly(disk, `${ownFile}.again`);
      removeQuietly(disk, replaceLock);
    }
  }
}

/** Creates the lock file under a free name; atomically with its content if the file system has hard links. */
function linkLock({ disk, owner, ownFile }: LockClaim, to: string): boolean {
  try {
    disk.link(ownFile, to);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(systemErrorCode(error) ?? '')) throw error;
  }
  try {
    writeLockFile(disk, to, owner);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function writeLockFile(disk: Disk, file: string, owner: LockOwner): void {
  const fd = disk.open(file, 'x');
  try {
    writeAll(disk, fd, Buffer.from(formatLockOwner(owner)));
  } finally {
    disk.close(fd);
  }
}

/** Removes a file. If the second try fails too, the next process that opens the session removes it. */
function removeQuietly(disk: Disk, file: string): void {
  for (let tries = 0; tries < 2; tries++) {
    try {
      return disk.remove(file);
    } catch {}
  }
}

type FoundLock = { readonly owner: LockOwner | undefined; readonly token: string; readonly changed: number };

function readLock(disk: Disk, lock: string): FoundLock | undefined {
  try {
    const fd = disk.open(lock, 'r');
    try {
      const stat = disk.stat(fd);
      const owner = parseLockOwner(readAll(disk, fd, 0, 4096).toString());
      return { owner, token: owner?.token ?? `x${stat?.inode}`, changed: stat?.mtimeMs ?? 0 };
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function lockState({ owner, changed }: FoundLock, lockTimeoutMs: number): 'held' | 'dead' | 'unresponsive' {
  // A lock that cannot be parsed was damaged by a power cut, or is being written right now.
  if (!owner) return Date.now() - changed > 2000 ? 'dead' : 'held';
  if (isOwnerAlive(owner) === false) return 'dead';
  return msSinceHeartbeat(owner, changed) > lockTimeoutMs ? 'unresponsive' : 'held';
}

function fileLockedError(file: string, owner: LockOwner | undefined): FairleadError {
  return lockedError(file, owner && `process ${owner.pid} on ${owner.host} since ${owner.time}`);
}

function holdLock(
  disk: Disk,
  file: string,
  owner: LockOwner,
  lockTimeoutMs: number,
  previous: FileLock['previous'],
): FileLock {
  const lock = `${file}.lock`;
  const fd = disk.open(lock, 'w');
  const inode = disk.stat(fd)?.inode;
  const writeLockHeartbeat = (): void => {
    try {
      // Through the descriptor: after a takeover this writes to a file that has no name any more.
      writeAll(disk, fd, Buffer.from(formatLockOwner({ ...owner, beat: heartbeatNow() })), 0);
    } catch {
      // The next heartbeat may succeed; if none does, the lock expires.
    }
  };
  const timer = setInterval(writeLockHeartbeat, Math.max(10, lockTimeoutMs / 3)).unref();
  let isOpen = true;
  return {
    previous,
    isHeld: () => disk.inode(lock) === inode,
    release() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(timer);
      if (disk.inode(lock) === inode) removeQuietly(disk, lock);
      disk.close(fd);
    },
  };
}

/** Removes temporary files of processes that ended. The caller must hold the lock of the file. */
export function removeStaleFiles(disk: Disk, file: string): void {
  const directory = path.dirname(file);
  const prefix = path.basename(file);
  for (const name of disk.list(directory)) {
    if (name.startsWith(`${prefix}.new-`)) removeQuietly(disk, path.join(directory, name));
    if (name.startsWith(`${prefix}.lock.`) && isAbandoned(disk, path.join(directory, name)))
      removeQuietly(disk, path.join(directory, name));
  }
}

function isAbandoned(disk: Disk, file: string): boolean {
  const owner = readLock(disk, file)?.owner;
  if (owner) return isOwnerAlive(owner) === false;
  return !isProcessRunning(Number.parseInt(path.extname(file.replace(/\.again$/, '')).slice(1), 10) || 0);
}
