// File system interface of session files: every call that they make, so that a test can make each one fail.
import fs from 'node:fs';
import path from 'node:path';
import { systemErrorCode } from '../../core/index.ts';

/** The metadata of a file on disk. */
export type FileStat = { readonly inode: number; readonly size: number; readonly mtimeMs: number };

/** A disk. Its methods throw the errors of the operating system. */
export interface Disk {
  /** Opens for reading (`r`), for reading and appending (`a`), for writing in place (`w`), or a new file (`x`). */
  open(file: string, mode: 'r' | 'a' | 'x' | 'w'): number;
  close(fd: number): void;
  read(fd: number, into: Buffer, from: number, length: number, position: number): number;
  /** Writes at the end, or at a position. Returns the number of bytes written, which may be less than given. */
  write(fd: number, bytes: Buffer, from: number, position: number | null): number;
  /** Makes writes to this descriptor durable. */
  sync(fd: number): Promise<void>;
  truncate(fd: number, length: number): void;
  /** Sets the modification time, in milliseconds. */
  setModifiedTime(fd: number, time: number): void;
  stat(file: string | number): FileStat | undefined;
  /** The inode number, which changes if the file is replaced; undefined if there is no file. Cheaper than `stat`. */
  inode(file: string): number | undefined;
  link(from: string, to: string): void;
  rename(from: string, to: string): void;
  remove(file: string): void;
  list(directory: string): readonly string[];
  /** The path with links resolved. */
  realpath(file: string): string;
  /** Makes creations, renames and removals in a directory durable. */
  syncDirectory(directory: string): void;
  /** The type number of the file system; 0 if unknown. */
  fileSystemType(directory: string): number;
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
  open: (file, mode) => fs.openSync(file, openFlags[mode], 0o600),
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
  list: (directory) => fs.readdirSync(directory),
  realpath(file) {
    try {
      return fs.realpathSync(file);
    } catch {
      return path.resolve(file);
    }
  },
  syncDirectory(directory) {
    // Windows cannot open a directory, and makes renames durable itself.
    if (process.platform === 'win32') return;
    const fd = fs.openSync(directory, O_RDONLY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  },
  fileSystemType: (directory) => fs.statfsSync(directory).type,
};

/** Writes all bytes: repeats partial and interrupted writes. */
export function writeAll(disk: Disk, fd: number, bytes: Buffer, position: number | null = null): void {
  let done = 0;
  for (let failures = 0; done < bytes.length;) {
    try {
      const written = disk.write(fd, bytes, done, position === null ? null : position + done);
      if (written === 0 && ++failures > 100)
        throw Object.assign(new Error('The disk writes no bytes.'), { code: 'EIO' });
      done += written;
    } catch (error) {
      const code = systemErrorCode(error);
      if ((code !== 'EINTR' && code !== 'EAGAIN') || ++failures > 100) throw error;
    }
  }
}

/** Reads bytes from a position; fewer only at the end of the file. */
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

/** Writes a file that must not exist, and makes it durable. */
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
