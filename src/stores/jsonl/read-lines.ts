// Reads a file of lines in blocks of bounded size, each cut at a line's end.
import { isAscii } from 'node:buffer';
import type { Disk } from './disk.ts';

/** A run of whole lines. Its bytes are only good until the next block is asked for; the last block may lack a line's end. */
export type TextBlock = {
  readonly text: string;
  readonly bytes: Buffer;
  readonly offset: number;
  readonly ascii: boolean;
  readonly whole: boolean;
};

/** A run of whole lines as bytes, and where it lies. */
export type ByteBlock = Pick<TextBlock, 'bytes' | 'offset'>;

const blockBytes = 512 * 1024;

/** The blocks between two places of a file. */
export function* readTextBlocks(disk: Disk, fd: number, from: number, to?: number): Generator<TextBlock> {
  for (const { bytes, offset } of readByteBlocks(disk, fd, { from, to })) {
    const ascii = isAscii(bytes);
    yield { text: bytes.toString(ascii ? 'latin1' : 'utf8'), bytes, offset, ascii, whole: bytes.at(-1) === 10 };
  }
}

/** The same as bytes alone. Where they stay, whoever has some may keep them; otherwise they are only good until more are asked for. */
export function* readByteBlocks(
  disk: Disk,
  fd: number,
  { from, to = Number.POSITIVE_INFINITY, stay = false }: { from: number; to: number | undefined; stay?: boolean },
): Generator<ByteBlock> {
  const size = Math.min(blockBytes, Math.max(1024, to - from));
  let buffer = Buffer.allocUnsafe(size);
  let held = 0;
  for (let offset = from; ;) {
    const room = Math.min(buffer.length - held, to - offset - held);
    const got = room > 0 ? disk.read(fd, buffer, held, room, offset + held) : 0;
    held += got;
    if (got === 0) {
      if (held > 0) yield { bytes: buffer.subarray(0, held), offset };
      return;
    }
    const end = buffer.subarray(held - got, held).lastIndexOf(10) + 1;
    if (end === 0) {
      // A line longer than the buffer: the only thing that makes it grow.
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      continue;
    }
    const used = held - got + end;
    yield { bytes: buffer.subarray(0, used), offset };
    const next = stay ? Buffer.allocUnsafe(Math.max(size, held - used + 1024)) : buffer;
    buffer.copy(next, 0, used, held);
    buffer = next;
    offset += used;
    held -= used;
  }
}

/** Visits each line of some bytes: where it begins and where it ends. */
export function forEachLineSpan(bytes: Buffer, visit: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    visit(start, end);
    start = end + 1;
  }
}

/** A line: where it begins and ends in a text, where its bytes begin in the file, and where the next line's do. */
export type TextLine = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly next: number;
};

/** Visits each line of a block. */
export function forEachLine({ text, bytes, offset: base, ascii }: TextBlock, visit: (line: TextLine) => void): void {
  let offset = base;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    // Damaged text can hold other characters than the bytes do, never other line ends: so bytes are counted in the bytes.
    const stop = ascii ? end : bytes.indexOf(10, offset - base);
    const next = base + (stop < 0 ? bytes.length : Math.min(stop + 1, bytes.length));
    visit({ text, start, end, offset, next });
    start = end + 1;
    offset = next;
  }
}
