// The index beside a long session file: vouches, by one hash over raw bytes, for everything before its last self-contained epoch.
import { createHash, randomBytes, type Hash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { isObject } from '../../core/index.ts';
import type { Spot } from './chart.ts';
import { readAll, writeAll, type Disk } from './disk.ts';
import { parse } from './line.ts';

const sidecarVersion = 1;
const pieceSize = 1024 * 1024;

/** The raw hash of a file's beginning, carried on as the file grows. */
export type Prefix = {
  /** The hash of the bytes before a place, which must not lie before the last one asked for. */
  upTo(fd: number, offset: number): Promise<string>;
};

/** A prefix of nothing yet. */
export function newPrefix(disk: Disk): Prefix {
  const running: Hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(pieceSize);
  let done = 0;
  return {
    async upTo(fd, offset) {
      for (let pieces = 1; done < offset; pieces++) {
        const got = disk.read(fd, piece, 0, Math.min(pieceSize, offset - done), done);
        if (got === 0) break;
        running.update(piece.subarray(0, got));
        done += got;
        if (pieces % 8 === 0) await breathe();
      }
      return done === offset ? running.copy().digest('hex') : '';
    },
  };
}

/** The spot that an index names, if it is an index of ours at all. Nothing here is believed before `upTo` gives the same hash. */
export function readSidecar(disk: Disk, file: string): (Spot & { readonly sha256: string }) | undefined {
  try {
    const fd = disk.open(`${file}.index`, 'r');
    try {
      return spotIn(parse(readAll(disk, fd, 0, 4096).toString()));
    } finally {
      disk.close(fd);
    }
  } catch {
    return undefined;
  }
}

function spotIn(value: unknown): (Spot & { readonly sha256: string }) | undefined {
  if (!isObject(value) || value['version'] !== sidecarVersion) return undefined;
  const { offset, line, events, seq, lastHash, lastId, sha256 } = value;
  const counts = [offset, line, events, seq];
  if (!counts.every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return undefined;
  if (typeof lastHash !== 'string' || typeof lastId !== 'string' || typeof sha256 !== 'string') return undefined;
  const [at = 0, lines = 0, all = 0, last = 0] = counts.map(Number);
  return { offset: at, line: lines, events: all, seq: last, id: lastId, link: lastHash, sha256 };
}

/** Writes the index for a spot. It need not be durable: an index that is not whole is not believed. */
export async function writeSidecar(disk: Disk, file: string, fd: number, spot: Spot, prefix: Prefix): Promise<void> {
  const { offset, line, events, seq, link, id } = spot;
  const sha256 = await prefix.upTo(fd, offset);
  if (sha256 === '') return;
  const index = { version: sidecarVersion, offset, line, events, seq, lastHash: link, lastId: id, sha256 };
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
