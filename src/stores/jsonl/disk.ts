// The narrow door to the file system: everything a session file needs of a disk, so that a test can make each step fail.
import fs from 'node:fs';
import path from 'node:path';

/** What is known about a file without reading it. */
export type FileStat = { readonly inode: number; readonly size: number; readonly mtimeMs: number };

/** A disk. Its methods throw the operating system's own errors; `write` may write less than it was given. */
export interface Disk {
  /** Opens for reading (`r`), for reading and adding at the end (`a`), for changing in place (`w`), or a new file (`x`). */
  open(file: string, how: 'r' | 'a' | 'x' | 'w'): number;
  close(fd: number): void;
  read(fd: number, into: Buffer, from: number, length: number, position: number): number;
  /** Writes after what was written last, or at a position; answers how many bytes were taken. */
  write(fd: number, bytes: Buffer, from: number, position: number | null): number;
  /** Makes what was written to this descriptor safe from a power cut. */
  sync(fd: number): Promise<void>;
  truncate(fd: number, length: number): void;
  /** Sets the time at which the file was last written to, in milliseconds. */
  setModifiedTime(fd: number, time: number): void;
  stat(file: string | number): FileStat | undefined;
  /** The number that tells a file from another one put in its place; nothing if there is none. The cheapest question of all. */
  inode(file: string): number | undefined;
  link(from: string, to: string): void;
  rename(from: string, to: string): void;
  remove(file: string): void;
  list(folder: string): readonly string[];
  /** The name of a file itself where this is the name of a link to it. */
  realpath(file: string): string;
  /** Makes what was created, renamed and removed in this folder safe from a power cut. */
  syncDirectory(folder: string): void;
  /** The kind of file system as the operating system numbers it; 0 if it does not say. */
  fileSystemType(folder: string): number;
}

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
const openFlags = {
  r: O_RDONLY,
  a: O_RDWR | O_APPEND,
  w: O_RDWR,
  x: O_RDWR | O_CREAT | O_EXCL,
};

/** The disk of this machine. */
export const realDisk: Disk = {
  open: (file, how) => fs.openSync(file, openFlags[how], 0o600),
  close: (fd) => fs.closeSync(fd),
  read: (fd, into, from, length, position) => fs.readSync(fd, into, from, length, position),
  write: (fd, bytes, from, position) => fs.writeSync(fd, bytes, from, bytes.length - from, position),
  sync: (fd) =>
    new Promise((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    }),
  truncate: (fd, length) => fs.ftruncateSync(fd, length),
  setModifiedTime: (fd, time) => fs.futimesSync(fd, time / 1000, time / 1000),
  stat(file) {
    const found = typeof file === 'number' ? fs.fstatSync(file) : fs.statSync(file, { throwIfNoEntry: false });
    return found && { inode: found.ino, size: found.size, mtimeMs: found.mtimeMs };
  },
  inode: (file) => fs.statSync(file, { throwIfNoEntry: false })?.ino,
  link: (from, to) => fs.linkSync(from, to),
  rename: (from, to) => fs.renameSync(from, to),
  remove: (file) => fs.rmSync(file, { force: true }),
  list: (folder) => fs.readdirSync(folder),
  realpath(file) {
    try {
      return fs.realpathSync(file);
    } catch {
      return path.resolve(file);
    }
  },
  syncDirectory(folder) {
    // Windows cannot open a folder, and makes renames durable by itself.
    if (process.platform === 'win32') return;
    const fd = fs.openSync(folder, O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  },
  fileSystemType: (folder) => fs.statfsSync(folder).type,
};

/** Writes all bytes, however often the system takes only some of them or asks to try again. */
export function writeAll(disk: Disk, fd: number, bytes: Buffer, position: number | null = null): void {
  let done = 0;
  for (let refusals = 0; done < bytes.length;) {
    try {
      const taken = disk.write(fd, bytes, done, position === null ? null : position + done);
      if (taken === 0 && ++refusals > 100) throw Object.assign(new Error('The disk takes no bytes.'), { code: 'EIO' });
      done += taken;
    } catch (error) {
      const code = errnoCode(error);
      if ((code !== 'EINTR' && code !== 'EAGAIN') || ++refusals > 100) throw error;
    }
  }
}

/** Reads bytes from a place on; fewer only where the file ends. */
export function readAll(disk: Disk, fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const got = disk.read(fd, bytes, done, length - done, position + done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}

/** Writes a file that must not exist yet, and makes it durable. */
export async function writeNewFile(disk: Disk, file: string, bytes: Buffer): Promise<void> {
  const fd = disk.open(file, 'x');
  try {
    writeAll(disk, fd, bytes);
    await disk.sync(fd);
  } finally {
    disk.close(fd);
  }
  disk.syncDirectory(path.dirname(file));
}

/** The operating system's short name for an error, such as `ENOSPC`. */
export const errnoCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
