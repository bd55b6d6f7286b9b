// Fuses ranked lists of different methods into one: by weighted scores, or by reciprocal rank (RRF).

/** The constant of reciprocal rank fusion. */
export const defaultFusionConstant = 60;

/** One item of a list, best first. */
export type RankedItem<Key> = { readonly key: Key; readonly score: number };

/** One item of a fused list: its score, and its position in each list, from 1; undefined where it is not in the list. */
export type FusedItem<Key> = RankedItem<Key> & { readonly ranks: readonly (number | undefined)[] };

/** Combines ranked lists into one: the hits by words first, then the hits by meaning. */
export type FuseLists = <Key>(
  lists: readonly (readonly RankedItem<Key>[])[],
  limit: number,
) => readonly FusedItem<Key>[];

/** The weight of the hits by words, and of the hits by meaning. Equal weights would assume that an embedding model ranks as well as words do, which small ones do not. */
const rankWeights: readonly number[] = [1, 0.5];

/** Fuses by reciprocal rank: the score of a key is the sum of `weight / (60 + rank)` over the lists that contain it; the hits by meaning have half the weight of the hits by words. Only positions count. */
export const fuseByRank: FuseLists = (lists, limit) =>
  sumLists(lists, limit, (list, _item, rank) => (rankWeights[list] ?? 1) / (defaultFusionConstant + rank));

/** The weight of the hits by words, and of the hits by meaning. */
const scoreWeights: readonly number[] = [0.7, 0.3];

/** Fuses by weighted scores from 0 to 1: 0.7 for words, 0.3 for meaning. A weak embedding model changes the order less than with `fuseByRank`. */
export const fuseByScore: FuseLists = (lists, limit) => {
  const ranges = lists.map((list, i) => {
    // BM25 starts at 0; the similarity of vectors starts anywhere.
    const low = i === 0 ? 0 : (list.at(-1)?.score ?? 0);
    return { low, width: (list[0]?.score ?? 0) - low || 1 };
  });
  return sumLists(lists, limit, (list, { score }) => {
    const { low, width } = ranges[list] ?? { low: 0, width: 1 };
    return ((scoreWeights[list] ?? 1) * (score - low)) / width;
  });
};

/** Adds up the values of each key over the lists. Ties keep the order of the first list. */
function sumLists<Key>(
  lists: readonly (readonly RankedItem<Key>[])[],
  limit: number,
  valueOf: (list: number, item: RankedItem<Key>, rank: number) => number,
): readonly FusedItem<Key>[] {
  const found = new Map<Key, { score: number; ranks: (number | undefined)[] }>();
  for (const [i, list] of lists.entries())
    for (const [position, item] of list.entries()) {
      const fused = found.get(item.key) ?? { score: 0, ranks: lists.map(() => undefined) };
      if (fused.ranks[i] !== undefined) continue;
      fused.ranks[i] = position + 1;
      fused.score += valueOf(i, item, position + 1);
      found.set(item.key, fused);
    }
  return [...found]
    .map(([key, item]) => ({ key, ...item }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit);
}
