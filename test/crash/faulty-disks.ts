// File system wrappers that fail: one at its n-th operation, one that loses unsynced data in a simulated power cut.
import fs from 'node:fs';
import path from 'node:path';
import { hash53 } from '../../src/core/index.ts';
import { realDisk, type Disk } from '../../src/stores/index.ts';

/** An error as the operating system reports it. */
export const createSystemError = (code: string): Error => Object.assign(new Error(`${code}: made to fail`), { code });

/** A real disk whose syncs return at once: only a power cut loses what a process wrote, and these tests end processes. */
export const unsyncedDisk: Disk = { ...realDisk, sync: async () => {}, syncDirectory: () => {} };

/** The operations that a counting disk has seen. */
export type DiskCounters = { operations: number; failed: number; open: number };

/** A real disk on which operation number `at`, of those named, fails; with `lasting`, all that follow fail too. */
export function createFailingDisk(
  at: number,
  code: string,
  options: { readonly only?: readonly (keyof Disk)[]; readonly lasting?: boolean } = {},
): Disk & { readonly tally: DiskCounters } {
  const tally: DiskCounters = { operations: 0, failed: 0, open: 0 };
  const isDue = (operation: keyof Disk): boolean => {
    if (options.only && !options.only.includes(operation)) return false;
    const now = ++tally.operations;
    const due = now === at || (options.lasting === true && now > at);
    if (due) tally.failed++;
    return due;
  };
  const check = (operation: keyof Disk): void => {
    if (isDue(operation)) throw createSystemError(code);
  };
  return {
    tally,
    open(file, how) {
      check('open');
      const fd = realDisk.open(file, how);
      tally.open++;
      return fd;
    },
    close(fd) {
      realDisk.close(fd);
      tally.open--;
    },
    read(fd, into, from, length, position) {
      check('read');
      return realDisk.read(fd, into, from, length, position);
    },
    write(fd, bytes, from, position) {
      // A full disk writes a part first: the caller must undo it.
      if (isDue('write')) {
        realDisk.write(fd, bytes.subarray(0, from + Math.ceil((bytes.length - from) / 2)), from, position);
        throw createSystemError(code);
      }
      return realDisk.write(fd, bytes, from, position);
    },
    async sync(fd) {
      check('sync');
      await unsyncedDisk.sync(fd);
    },
    truncate(fd, length) {
      check('truncate');
      realDisk.truncate(fd, length);
    },
    setModifiedTime(fd, time) {
      check('setModifiedTime');
      realDisk.setModifiedTime(fd, time);
    },
    stat: (file) => realDisk.stat(file),
    inode: (file) => realDisk.inode(file),
    link(from, to) {
      check('link');
      realDisk.link(from, to);
    },
    rename(from, to) {
      check('rename');
      realDisk.rename(from, to);
    },
    remove(file) {
      check('remove');
      realDisk.remove(file);
    },
    list: (folder) => realDisk.list(folder),
    realpath: (file) => realDisk.realpath(file),
    syncDirectory(folder) {
      check('syncDirectory');
      unsyncedDisk.syncDirectory(folder);
    },
    fileSystemType: (folder) => realDisk.fileSystemType(folder),
  };
}

type FileContent = { durable: Buffer; now: Buffer };
type FileNames = ReadonlyMap<string, FileContent>;

/** A disk that tracks what a power cut would leave. */
export type PowerLossDisk = Disk & {
  operations: number;
  /** Marks an existing file as durable. */
  markDurable(file: string): void;
  /** Writes what a power cut leaves to another directory; `random` returns numbers from 0 to 1. */
  writeSurvivors(folder: string, random: () => number): void;
};

/** A real disk with a power cut at an operation. */
export function createPowerLossDisk(cutAt: number): PowerLossDisk {
  const open = new Map<number, FileContent>();
  let durable: FileNames = new Map();
  const steps: FileNames[] = [new Map()];
  const names = (): FileNames => steps.at(-1) ?? durable;
  const step = (change: (next: Map<string, FileContent>) => void): void => {
    const next = new Map(names());
    change(next);
    steps.push(next);
  };
  const refresh = (fd: number): void => {
    const content = open.get(fd);
    const size = realDisk.stat(fd)?.size ?? 0;
    if (!content) return;
    content.now = Buffer.alloc(size);
    if (size > 0) realDisk.read(fd, content.now, 0, size, 0);
  };
  const disk: PowerLossDisk = {
    ...realDisk,
    operations: 0,
    markDurable(file) {
      if (!fs.existsSync(file)) return;
      const bytes = fs.readFileSync(file);
      durable = new Map([...durable, [file, { durable: bytes, now: bytes }]]);
      steps.splice(0, steps.length, durable);
    },
    open(file, how) {
      tick();
      const fd = realDisk.open(file, how);
      if (how === 'x') step((next) => next.set(file, { durable: Buffer.alloc(0), now: Buffer.alloc(0) }));
      const content = names().get(file);
      if (content) open.set(fd, content);
      return fd;
    },
    write(fd, bytes, from, position) {
      tick();
      const taken = realDisk.write(fd, bytes, from, position);
      refresh(fd);
      return taken;
    },
    truncate(fd, length) {
      tick();
      realDisk.truncate(fd, length);
      refresh(fd);
    },
    async sync(fd) {
      tick();
      const content = open.get(fd);
      if (content) content.durable = content.now;
    },
    link(from, to) {
      tick();
      realDisk.link(from, to);
      const content = names().get(from);
      step((next) => content && next.set(to, content));
    },
    rename(from, to) {
      tick();
      realDisk.rename(from, to);
      const content = names().get(from);
      step((next) => {
        next.delete(from);
        if (content) next.set(to, content);
      });
    },
    remove(file) {
      tick();
      realDisk.remove(file);
      step((next) => next.delete(file));
    },
    syncDirectory() {
      tick();
      durable = names();
      steps.splice(0, steps.length, durable);
    },
    writeSurvivors(folder, random) {
      const left = steps[Math.floor(random() * steps.length)] ?? durable;
      for (const [file, content] of left) {
        // After a real power cut a lock file names an earlier boot of the machine; here it would name the current one.
        if (file.includes('.lock')) continue;
        fs.writeFileSync(path.join(folder, path.basename(file)), getSurvivingBytes(content, random));
      }
    },
  };
  const tick = (): void => {
    if (++disk.operations >= cutAt) throw createSystemError('EPOWER');
  };
  return disk;
}

/** What is left of a file: the synced data, and of the rest nothing, all, a part, or zeros for data that did not arrive in time. */
function getSurvivingBytes({ durable, now }: FileContent, random: () => number): Buffer {
  if (now.length <= durable.length) return random() < 0.5 ? durable : now;
  const kind = Math.floor(random() * 4);
  if (kind === 0) return durable;
  if (kind === 1) return now;
  const cut = durable.length + Math.floor(random() * (now.length - durable.length));
  const part = Buffer.concat([now.subarray(0, cut)], kind === 2 ? cut : now.length);
  return part;
}

/** Reproducible numbers from 0 to 1 for a seed. */
export function createRandom(seed: number): () => number {
  let drawn = 0;
  return () => hash53(`${seed} ${drawn++}`) / 2 ** 53;
}
