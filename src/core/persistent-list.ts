// A list that only grows, as a value: pushing is O(1) amortised and every earlier version stays what it was.

/** The first `length` of `items`; `items` may have grown beyond this version, so read it through the functions here. */
export type PersistentList<T> = { readonly length: number; readonly items: readonly T[] };

/** A trail of these items. */
export const createPersistentList = <T>(items: readonly T[] = []): PersistentList<T> => ({
  length: items.length,
  items: [...items],
});

/** One item longer. Shares its items with the version before it; a second push on that same version copies first. */
export function appendItem<T>(trail: PersistentList<T>, item: T): PersistentList<T> {
  const items = (trail.items.length === trail.length ? trail.items : trail.items.slice(0, trail.length)) as T[];
  items.push(item);
  return { length: items.length, items };
}

/** The same trail with its last item replaced; the version before it keeps its own. */
export function replaceLastItem<T>(trail: PersistentList<T>, item: T): PersistentList<T> {
  return appendItem({ length: trail.length - 1, items: trail.items.slice(0, trail.length - 1) }, item);
}

/** The last item, if there is one. */
export const lastItem = <T>(trail: PersistentList<T>): T | undefined => trail.items[trail.length - 1];

/** The items of this version as an array of their own, from an index on: it does not grow with the trail, so this costs a copy. */
export const toArray = <T>(trail: PersistentList<T>, from = 0): readonly T[] => trail.items.slice(from, trail.length);
