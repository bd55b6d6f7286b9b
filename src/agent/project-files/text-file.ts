// Reads a text file that somebody else may have put there: bounded, never waiting on a pipe, and telling what is wrong instead of throwing.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorMessage } from '../../core/index.ts';

/** The text of a file as far as it was read; `size` is that of the whole file in bytes. `owner` is a user's number, where there are such. */
export type TextFile = { readonly text: string; readonly size: number; readonly cut: boolean; readonly owner: number };

/** Why a file could not be used; the sentence goes on after the name of the file. */
export type TextFileError = {
  readonly wrong: 'missing' | 'folder' | 'not a file' | 'binary' | 'unreadable';
  readonly why: string;
};

/** Reads at most this many bytes of a file. */
export function readTextFile(file: string, most: number): TextFile | TextFileError {
  let fd: number | undefined;
  try {
    // Opening a pipe that nobody writes to would wait for ever.
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const facts = fstatSync(fd);
    if (facts.isDirectory()) return { wrong: 'folder', why: 'is a folder' };
    if (!facts.isFile()) return { wrong: 'not a file', why: 'is not a regular file' };
    const bytes = Buffer.alloc(Math.min(most, facts.size));
    const length = readFully(fd, bytes);
    const read = bytes.subarray(0, length);
    if (read.includes(0)) return { wrong: 'binary', why: 'is not a text file' };
    const cut = facts.size > length;
    return { text: decodeText(read, cut), size: facts.size, cut, owner: facts.uid };
  } catch (error) {
    return toTextFileError(error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readFully(fd: number, bytes: Buffer): number {
  let length = 0;
  while (length < bytes.length) {
    const got = readSync(fd, bytes, length, bytes.length - length, length);
    if (got === 0) break;
    length += got;
  }
  return length;
}

/** In a cut text the last character may be torn: it is left out rather than shown as a mark of damage. */
const decodeText = (bytes: Buffer, cut: boolean): string => new TextDecoder('utf-8').decode(bytes, { stream: cut });

function toTextFileError(error: unknown): TextFileError {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { wrong: 'missing', why: 'does not exist' };
  if (code === 'EISDIR') return { wrong: 'folder', why: 'is a folder' };
  if (code === 'EACCES' || code === 'EPERM') return { wrong: 'unreadable', why: 'may not be read by this user' };
  return { wrong: 'unreadable', why: `cannot be read: ${errorMessage(error)}` };
}
