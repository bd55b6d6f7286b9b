// Reads a file in blocks of complete lines, with bounded memory.
import { isAscii } from 'node:buffer';
import type { Disk } from './disk.ts';

/** A block of complete lines. Its bytes are valid until the next block is read; the last block may lack a line end. */
export type TextBlock = {
  readonly text: string;
  readonly bytes: Buffer;
  readonly offset: number;
  readonly ascii: boolean;
  readonly complete: boolean;
};

/** A block of complete lines as bytes, with its offset. */
export type ByteBlock = Pick<TextBlock, 'bytes' | 'offset'>;

const blockBytes = 512 * 1024;

/** The blocks between two offsets of a file. */
export function* readTextBlocks(disk: Disk, fd: number, from: number, to?: number): Generator<TextBlock> {
  for (const { bytes, offset } of readByteBlocks(disk, fd, { from, to })) {
    const ascii = isAscii(bytes);
    yield { text: bytes.toString(ascii ? 'latin1' : 'utf8'), bytes, offset, ascii, complete: bytes.at(-1) === 10 };
  }
}

/** The same as bytes only. With `keepBytes` the bytes remain valid; without it only until the next block is read. */
export function* readByteBlocks(
  disk: Disk,
  fd: number,
  {
    from,
    to = Number.POSITIVE_INFINITY,
    keepBytes = false,
  }: { from: number; to: number | undefined; keepBytes?: boolean },
): Generator<ByteBlock> {
  const size = Math.min(blockBytes, Math.max(1024, to - from));
  let buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  for (let offset = from; ;) {
    const room = Math.min(buffer.length - filled, to - offset - filled);
    const bytesRead = room > 0 ? disk.read(fd, buffer, filled, room, offset + filled) : 0;
    filled += bytesRead;
    if (bytesRead === 0) {
      if (filled > 0) yield { bytes: buffer.subarray(0, filled), offset };
      return;
    }
    const end = buffer.subarray(filled - bytesRead, filled).lastIndexOf(10) + 1;
    if (end === 0) {
      // Only a line that is longer than the buffer makes it grow.
      if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      continue;
    }
    const used = filled - bytesRead + end;
    yield { bytes: buffer.subarray(0, used), offset };
    const next = keepBytes ? Buffer.allocUnsafe(Math.max(size, filled - used + 1024)) : buffer;
    buffer.copy(next, 0, used, filled);
    buffer = next;
    offset += used;
    filled -= used;
  }
}

/** Calls `visit` with the start and the end of each line. */
export function forEachLineSpan(bytes: Buffer, visit: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    visit(start, end);
    start = end + 1;
  }
}

/** A line: its start and end in a text, its offset in the file, and the offset of the next line. */
export type TextLine = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly next: number;
};

/** Calls `visit` with each line of a block. */
export function forEachLine({ text, bytes, offset: base, ascii }: TextBlock, visit: (line: TextLine) => void): void {
  let offset = base;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    // Decoding damaged bytes can change the length of the text but not the line ends, so offsets are counted in bytes.
    const stop = ascii ? end : bytes.indexOf(10, offset - base);
    const next = base + (stop < 0 ? bytes.length : Math.min(stop + 1, bytes.length));
    visit({ text, start, end, offset, next });
    start = end + 1;
    offset = next;
  }
}
