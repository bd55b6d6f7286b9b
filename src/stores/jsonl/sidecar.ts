// The index beside a long session file: vouches, by one hash over raw bytes, for a straight file as it was closed, or for what lies before an epoch.
import { createHash, randomBytes, type Hash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { isObject } from '../../core/index.ts';
import type { FileCursor, LinearFile } from './file-index.ts';
import { readAll, writeAll, type Disk } from './disk.ts';
import { tryParseJson } from './line.ts';

const sidecarVersion = 2;
const chunkBytes = 1024 * 1024;
const maxSidecarBytes = 256 * 1024;

/** The raw hash of a file's beginning, carried on as the file grows. */
export type PrefixHash = {
  /** The hash of the bytes before a place, which must not lie before the last one asked for. */
  hashUpTo(fd: number, offset: number): Promise<string>;
};

/** A prefix of nothing yet. */
export function createPrefixHash(disk: Disk): PrefixHash {
  const running: Hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(chunkBytes);
  let done = 0;
  return {
    async hashUpTo(fd, offset) {
      for (let pieces = 1; done < offset; pieces++) {
        const got = disk.read(fd, piece, 0, Math.min(chunkBytes, offset - done), done);
        if (got === 0) break;
        running.update(piece.subarray(0, got));
        done += got;
        if (pieces % 8 === 0) await breathe();
      }
      return done === offset ? running.copy().digest('hex') : '';
    },
  };
}

/** What an index says. */
export type SidecarIndex = FileCursor & { readonly straight?: LinearFile };

/** The spot that an index names, if it is an index of ours at all. Nothing here is believed before `takeBytes` gives the same hash. */
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
  const spot = { offset: at, line: lines, events: all, seq: last, id: lastId, link: lastHash, sha256 };
  if (value['straight'] === undefined) return spot;
  const straight = parseLinearFile(value['straight'], at);
  return straight && { ...spot, straight };
}

function parseLinearFile(value: unknown, end: number): LinearFile | undefined {
  if (!isObject(value)) return undefined;
  const { from, time, epochs } = value;
  const inside = (offset: unknown): boolean =>
    Number.isSafeInteger(offset) && Number(offset) >= 0 && Number(offset) < end;
  if (!inside(from) || typeof time !== 'string' || !Array.isArray(epochs) || !epochs.every(inside)) return undefined;
  return { from: Number(from), time, epochs: epochs.map(Number) };
}

/** Writes the index for a spot. It need not be durable: an index that is not whole is not believed. */
export async function writeSidecar(
  disk: Disk,
  file: string,
  fd: number,
  found: SidecarIndex,
  prefix: PrefixHash,
): Promise<void> {
  const { offset, line, events, seq, link, id, straight } = found;
  const sha256 = await prefix.hashUpTo(fd, offset);
  if (sha256 === '') return;
  const index = { version: sidecarVersion, offset, line, events, seq, lastHash: link, lastId: id, sha256, straight };
  const fresh = `${file}.new-${randomBytes(6).toString('hex')}`;
  try {
    const out = disk.open(fresh, 'x');
    try {
      writeAll(disk, out, Buffer.from(`${JSON.stringify(index)}\n`));
    } finally {
      disk.close(out);
    }
    disk.rename(fresh, `${file}.index`);
  } catch (error) {
    disk.remove(fresh);
    throw error;
  }
}
