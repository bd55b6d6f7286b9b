// Vectors of length 1 as bytes, their cosine, and the best of a scan.
import type { ScoredKey } from '../types.ts';

/** Returns a vector with length 1; undefined if it has no direction or a value that is no number. */
export function normalizeVector(values: readonly number[] | Float32Array): Float32Array | undefined {
  const vector = Float32Array.from(values);
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (!Number.isFinite(sum) || sum === 0) return undefined;
  const length = Math.sqrt(sum);
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}

/** The bytes of a vector, little-endian as all supported platforms store it. */
export const vectorToBytes = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

/** The vector of bytes. */
export function bytesToVector(bytes: Uint8Array): Float32Array {
  return bytes.byteOffset % 4 === 0
    ? new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2)
    : new Float32Array(bytes.slice().buffer);
}

/** The sum of products; the cosine if both vectors have length 1. Vectors of different lengths are not comparable: -1. */
export function dotProduct(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return -1;
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** Keeps the best of many scores. */
export function createTopList(limit: number): {
  add(key: number, score: number): void;
  sorted(): readonly ScoredKey[];
} {
  let kept: ScoredKey[] = [];
  let least = Number.NEGATIVE_INFINITY;
  const cut = (): void => {
    kept = kept.toSorted((a, b) => b.score - a.score || a.key - b.key).slice(0, limit);
    if (kept.length === limit) least = kept.at(-1)?.score ?? least;
  };
  return {
    add(key, score) {
      if (score <= least) return;
      kept.push({ key, score });
      if (kept.length >= limit * 2 + 100) cut();
    },
    sorted() {
      cut();
      return kept;
    },
  };
}
