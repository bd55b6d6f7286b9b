// Fuses ranked lists by reciprocal rank: a position counts, a score does not, so lists of different methods can be combined.

/** The constant of reciprocal rank fusion. */
export const defaultFusionConstant = 60;

/** One item of a fused list: its score, and its position in each list, from 1; undefined where it is not in the list. */
export type FusedItem<Key> = {
  readonly key: Key;
  readonly score: number;
  readonly ranks: readonly (number | undefined)[];
};

/** Combines ranked lists of keys, best first, into one. */
export type FuseRanks = <Key>(lists: readonly (readonly Key[])[], limit: number) => readonly FusedItem<Key>[];

/** Fuses lists: the score of a key is the sum of `1 / (k + rank)` over the lists that contain it. Ties keep the order of the first list. */
export const fuseRanks = <Key>(
  lists: readonly (readonly Key[])[],
  limit: number,
  k: number = defaultFusionConstant,
): readonly FusedItem<Key>[] => {
  const found = new Map<Key, { score: number; ranks: (number | undefined)[] }>();
  for (const [i, list] of lists.entries())
    for (const [position, key] of list.entries()) {
      const item = found.get(key) ?? { score: 0, ranks: lists.map(() => undefined) };
      if (item.ranks[i] !== undefined) continue;
      item.ranks[i] = position + 1;
      item.score += 1 / (k + position + 1);
      found.set(key, item);
    }
  return [...found]
    .map(([key, item]) => ({ key, ...item }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
};
