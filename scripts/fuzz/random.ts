// A seeded generator of random choices, so that a run of a fuzzer can be repeated.

/** Random choices that depend only on the seed. */
export type Random = {
  /** Returns an integer from 0 to `limit` - 1. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
};

/** Creates random choices from a seed. */
export function createRandom(seed: number): Random {
  let state = Math.trunc(seed) % 4_294_967_296;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) % 4_294_967_296;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  return {
    below,
    pick: (list) => {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new Error('The list is empty.');
      return picked;
    },
  };
}

/** Splits a list that is written in one text; the separator is a comma between blanks. */
export const splitList = (text: string): readonly string[] => text.split(' , ');
