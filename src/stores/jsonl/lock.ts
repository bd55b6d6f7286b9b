// The one writer's place of a session file: taken atomically, kept alive by a heartbeat, taken over from the dead and the silent.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError } from '../../core/index.ts';
import { codeOf, readAll, realDisk, writeAll, type Disk } from './disk.ts';
import { beatNow, hasProcess, holderIn, isAlive, newHolder, silenceOf, type Holder } from './holder.ts';

/** The writer's place, held. */
export type Lock = {
  /** Who was taken over from: a dead process, or a live one that gave no sign of life and may still have the file open. */
  readonly after: 'nobody' | 'dead' | 'silent';
  /** Whether the place is still ours. One question to the file system: cheap enough to ask before every write. */
  holds(): boolean;
  release(): void;
};

/** How long a live writer may give no sign of life before another may take its place, in milliseconds. */
export const usualSilence = 30_000;

/** Who writes to a session file now; nothing if nobody does, or if they died or fell silent. Takes nothing. */
export function holderOf(name: string, disk: Disk = realDisk): Holder | undefined {
  const found = look(disk, `${disk.real(name)}.lock`);
  return found && stateOf(found, usualSilence) === 'held' ? found.holder : undefined;
}

type Claim = {
  readonly disk: Disk;
  readonly holder: Holder;
  readonly mine: string;
  readonly silentMs: number;
  /** Whoever holds it counts as silent. */
  readonly force: boolean;
};

/** Takes the writer's place of a file, or says who has it; by force also from one who lives. */
export async function takeLock(disk: Disk, file: string, silentMs: number, force = false): Promise<Lock> {
  const lock = `${file}.lock`;
  const holder = newHolder();
  const mine = `${lock}.${holder.token}`;
  try {
    writeFresh(disk, mine, holder);
    const after = await claim({ disk, holder, mine, silentMs, force }, lock, file);
    try {
      return hold(disk, file, holder, silentMs, after);
    } catch (error) {
      discard(disk, lock);
      throw error;
    }
  } finally {
    discard(disk, mine);
  }
}

const textOf = (holder: Holder): string => `${JSON.stringify(holder)}\n`;

/**
 * Puts our lock in place. Only one process may replace a given holder's lock: the one that holds the lock on replacing it,
 * a lock like any other, so that one who dies while replacing is replaced in the same way.
 */
async function claim(given: Claim, lock: string, file: string): Promise<Lock['after']> {
  const { disk, mine, silentMs, force } = given;
  for (let tries = 0; ; tries++) {
    if (put(given, lock)) return 'nobody';
    const found = look(disk, lock);
    if (!found) continue;
    const state = stateOf(found, force ? -1 : silentMs);
    if (state === 'held') throw held(file, found.holder);
    const right = `${lock}.${found.token}`;
    try {
      await claim({ ...given, force: false }, right, file);
    } catch (error) {
      // Somebody else is just taking over: soon there is a new holder to look at.
      if (!(error instanceof FairleadError) || error.code !== 'store/locked' || tries > 200) throw error;
      await sleep(5);
      continue;
    }
    try {
      if (look(disk, lock)?.token !== found.token) continue;
      put(given, `${mine}.again`);
      disk.rename(`${mine}.again`, lock);
      return state;
    } finally {
      discard(disk, `${mine}.again`);
      discard(disk, right);
    }
  }
}

/** Makes our lock appear under a name that must be free, whole from the first moment where the file system has hard links. */
function put({ disk, holder, mine }: Claim, to: string): boolean {
  try {
    disk.link(mine, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error) ?? '')) throw error;
  }
  try {
    writeFresh(disk, to, holder);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function writeFresh(disk: Disk, file: string, holder: Holder): void {
  const fd = disk.open(file, 'x');
  try {
    writeAll(disk, fd, Buffer.from(textOf(holder)));
  } finally {
    disk.close(fd);
  }
}

/** What cannot be removed, not even at the second try, is swept up by the next one to come. */
function discard(disk: Disk, file: string): void {
  for (let tries = 0; tries < 2; tries++) {
    try {
      return disk.remove(file);
    } catch {}
  }
}

type Found = { readonly holder: Holder | undefined; readonly token: string; readonly changed: number };

function look(disk: Disk, lock: string): Found | undefined {
  try {
    const fd = disk.open(lock, 'r');
    try {
      const facts = disk.facts(fd);
      const holder = holderIn(readAll(disk, fd, 0, 4096).toString());
      return { holder, token: holder?.token ?? `x${facts?.inode}`, changed: facts?.changed ?? 0 };
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function stateOf({ holder, changed }: Found, silentMs: number): 'held' | 'dead' | 'silent' {
  // A lock that cannot be read was hurt by a power cut, or is being written this very moment.
  if (!holder) return Date.now() - changed > 2000 ? 'dead' : 'held';
  if (isAlive(holder) === false) return 'dead';
  return silenceOf(holder, changed) > silentMs ? 'silent' : 'held';
}

function held(file: string, holder: Holder | undefined): FairleadError {
  const who = holder ? `process ${holder.pid} on ${holder.host} since ${holder.time}` : 'another process';
  return new FairleadError('store/locked', `${file} is being written by ${who}.`, {
    blame: 'user',
    retry: true,
    hint: 'Close the session there, or open it here for reading only.',
  });
}

function hold(disk: Disk, file: string, holder: Holder, silentMs: number, after: Lock['after']): Lock {
  const lock = `${file}.lock`;
  const fd = disk.open(lock, 'w');
  const inode = disk.facts(fd)?.inode;
  const beat = (): void => {
    try {
      // Through the descriptor: once somebody else has the place, this reaches a file that nobody reads.
      writeAll(disk, fd, Buffer.from(textOf({ ...holder, beat: beatNow() })), 0);
    } catch {
      // The next beat may come through; if none does, the silence is true.
    }
  };
  const timer = setInterval(beat, Math.max(10, silentMs / 3)).unref();
  let open = true;
  return {
    after,
    holds: () => disk.inode(lock) === inode,
    release() {
      if (!open) return;
      open = false;
      clearInterval(timer);
      if (disk.inode(lock) === inode) discard(disk, lock);
      disk.close(fd);
    },
  };
}

/** Removes what a process that died left beside a file. Only for the holder of the file's lock. */
export function sweep(disk: Disk, file: string): void {
  const folder = path.dirname(file);
  const base = path.basename(file);
  for (const name of disk.list(folder)) {
    if (name.startsWith(`${base}.new-`)) discard(disk, path.join(folder, name));
    if (name.startsWith(`${base}.lock.`) && isAbandoned(disk, path.join(folder, name)))
      discard(disk, path.join(folder, name));
  }
}

function isAbandoned(disk: Disk, file: string): boolean {
  const holder = look(disk, file)?.holder;
  if (holder) return isAlive(holder) === false;
  return !hasProcess(Number.parseInt(path.extname(file.replace(/\.again$/, '')).slice(1), 10) || 0);
}
