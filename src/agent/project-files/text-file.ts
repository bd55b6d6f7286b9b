// Reads an untrusted text file: with a size limit, without blocking on a pipe, and with errors as values.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage } from '../../core/index.ts';

/** The text of a file up to the limit; `size` is the size of the file in bytes, `owner` the id of the user where there are such ids. */
export type TextFile = { readonly text: string; readonly size: number; readonly cut: boolean; readonly owner: number };

/** Why a file could not be read; `why` continues a sentence that begins with the path. */
export type TextFileError = {
  readonly wrong: 'missing' | 'folder' | 'not a file' | 'binary' | 'unreadable';
  readonly why: string;
};

/** Reads at most `maxBytes` of a file. */
export function readTextFile(file: string, maxBytes: number): TextFile | TextFileError {
  let fd: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe that has no writer blocks.
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(fd);
    if (stats.isDirectory()) return { wrong: 'folder', why: 'is a folder' };
    if (!stats.isFile()) return { wrong: 'not a file', why: 'is not a regular file' };
    const bytes = Buffer.alloc(Math.min(maxBytes, stats.size));
    const length = readFully(fd, bytes);
    const read = bytes.subarray(0, length);
    if (read.includes(0)) return { wrong: 'binary', why: 'is not a text file' };
    const cut = stats.size > length;
    return { text: decodeText(read, cut), size: stats.size, cut, owner: stats.uid };
  } catch (error) {
    return toTextFileError(error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readFully(fd: number, bytes: Buffer): number {
  let length = 0;
  while (length < bytes.length) {
    const bytesRead = readSync(fd, bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

/** In a truncated text the last character may be incomplete: it is dropped. */
const decodeText = (bytes: Buffer, cut: boolean): string => new TextDecoder('utf-8').decode(bytes, { stream: cut });

/** The beginning of a text that has at most `maxBytes` bytes. */
export const truncateText = (text: string, maxBytes: number): string =>
  Buffer.byteLength(text) <= maxBytes ? text : decodeText(Buffer.from(text).subarray(0, maxBytes), true);

function toTextFileError(error: unknown): TextFileError {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { wrong: 'missing', why: 'does not exist' };
  if (code === 'EISDIR') return { wrong: 'folder', why: 'is a folder' };
  if (code === 'EACCES' || code === 'EPERM') return { wrong: 'unreadable', why: 'may not be read by this user' };
  return { wrong: 'unreadable', why: `cannot be read: ${errorMessage(error)}` };
}
