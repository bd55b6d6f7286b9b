// Seeded random numbers: one independent stream per purpose, so that a change of one stream does not change the others.

/** A stream of random numbers. */
export type Random = {
  /** A number in [0, 1). */
  readonly next: () => number;
  /** A number in [min, max). */
  readonly between: (min: number, max: number) => number;
  /** A whole number in [0, count). */
  readonly index: (count: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
  readonly chance: (probability: number) => boolean;
};

/** Creates the stream of a seed and a purpose (FNV-1a and mulberry32). */
export function createRandom(seed: number, purpose: string): Random {
  let state = 2166136261;
  for (const char of `${seed}/${purpose}`) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16777619);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const index = (count: number): number => Math.floor(next() * count);
  return {
    next,
    index,
    between: (min, max) => min + next() * (max - min),
    pick: (list) => {
      const item = list[index(list.length)];
      if (item === undefined) throw new RangeError('Cannot pick from an empty list.');
      return item;
    },
    chance: (probability) => next() < probability,
  };
}
