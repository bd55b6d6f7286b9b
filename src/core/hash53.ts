// A fast, non-cryptographic 53-bit hash of text, computed incrementally and without copies.

/** Returns the 53-bit hash of a text. Not cryptographic: for change detection only. */
export const hash53 = (text: string): number => hash53Value(updateHash53(createHash53(), text));

/** The state of an incremental hash. */
export type Hash53State = { a: number; b: number };

/** Creates an empty hash state. */
export const createHash53 = (): Hash53State => ({ a: 0xdeadbeef | 0, b: 0x41c6ce57 });

/** Adds text, or character codes, to the hash without copying it. All added parts count as one text. */
export function updateHash53(
  digest: Hash53State,
  text: string | Uint8Array,
  from = 0,
  to: number = text.length,
): Hash53State {
  let { a, b } = digest;
  for (let i = from; i < to; i++) {
    const code = typeof text === 'string' ? text.charCodeAt(i) : (text[i] ?? 0);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  digest.a = a;
  digest.b = b;
  return digest;
}

/** Returns the hash of everything added so far. */
export function hash53Value({ a, b }: Hash53State): number {
  const c = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  const d = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(c ^ (c >>> 13), 3266489909);
  return 4294967296 * (2097151 & d) + (c >>> 0);
}
