// Sidecar index file of a long session file: valid as long as the hash over the raw bytes before its offset matches.
import { createHash, randomBytes, type Hash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isObject } from '../../core/index.ts';
import type { FileCursor, LinearFile } from './file-index.ts';
import { readAll, writeAll, type Disk } from './disk.ts';
import { tryParseJson } from '../try-parse-json.ts';

const sidecarVersion = 2;
const chunkBytes = 1024 * 1024;
const maxSidecarBytes = 256 * 1024;

/** The hash over the first bytes of a file, continued as the file grows. */
export type PrefixHash = {
  /** The hash of the bytes before an offset, which must not be less than that of the last call; empty if the file is shorter. */
  hashUpTo(fd: number, offset: number): Promise<string>;
};

/** Creates the hash of an empty prefix. */
export function createPrefixHash(disk: Disk): PrefixHash {
  const running: Hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let hashed = 0;
  return {
    async hashUpTo(fd, offset) {
      for (let chunks = 1; hashed < offset; chunks++) {
        const got = disk.read(fd, chunk, 0, Math.min(chunkBytes, offset - hashed), hashed);
        if (got === 0) break;
        running.update(chunk.subarray(0, got));
        hashed += got;
        if (chunks % 8 === 0) await yieldToEventLoop();
      }
      return hashed === offset ? running.copy().digest('hex') : '';
    },
  };
}

/** The content of a sidecar index. */
export type SidecarIndex = FileCursor & { readonly straight?: LinearFile };

/** Reads the sidecar index of a file; undefined if there is none. The caller must compare `sha256` with the hash of the file before it is used. */
export function readSidecar(disk: Disk, file: string): (SidecarIndex & { readonly sha256: string }) | undefined {
  try {
    const fd = disk.open(`${file}.index`, 'r');
    try {
      return parseSidecar(tryParseJson(readAll(disk, fd, 0, maxSidecarBytes).toString()));
    } finally {
      disk.close(fd);
    }
  } catch {
    return undefined;
  }
}

function parseSidecar(value: unknown): (SidecarIndex & { readonly sha256: string }) | undefined {
  if (!isObject(value) || value['version'] !== sidecarVersion) return undefined;
  const { offset, line, events, seq, lastHash, lastId, sha256 } = value;
  const counts = [offset, line, events, seq];
  if (!counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return undefined;
  if (typeof lastHash !== 'string' || typeof lastId !== 'string' || typeof sha256 !== 'string') return undefined;
  const [at = 0, lines = 0, all = 0, last = 0] = counts.map(Number);
  const cursor = { offset: at, line: lines, events: all, seq: last, id: lastId, link: lastHash, sha256 };
  if (value['straight'] === undefined) return cursor;
  const straight = parseLinearFile(value['straight'], at);
  return straight && { ...cursor, straight };
}

function parseLinearFile(value: unknown, end: number): LinearFile | undefined {
  if (!isObject(value)) return undefined;
  const { from, time, epochs } = value;
  const isInside = (offset: unknown): boolean =>
    Number.isSafeInteger(offset) && Number(offset) >= 0 && Number(offset) < end;
  if (!isInside(from) || typeof time !== 'string' || !Array.isArray(epochs) || !epochs.every(isInside))
    return undefined;
  return { from: Number(from), time, epochs: epochs.map(Number) };
}

/** Writes the sidecar index. Not durable: an incomplete index fails the hash check. */
export async function writeSidecar(
  disk: Disk,
  file: string,
  fd: number,
  content: SidecarIndex,
  prefix: PrefixHash,
): Promise<void> {
  const { offset, line, events, seq, link, id, straight } = content;
  const sha256 = await prefix.hashUpTo(fd, offset);
  if (sha256 === '') return;
  const index = { version: sidecarVersion, offset, line, events, seq, lastHash: link, lastId: id, sha256, straight };
  const draft = `${file}.new-${randomBytes(6).toString('hex')}`;
  try {
    const out = disk.open(draft, 'x');
    try {
      writeAll(disk, out, Buffer.from(`${JSON.stringify(index)}\n`));
    } finally {
      disk.close(out);
    }
    disk.rename(draft, `${file}.index`);
  } catch (error) {
    disk.remove(draft);
    throw error;
  }
}
