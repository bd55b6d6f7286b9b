// A persistent append-only list: push is O(1) amortised and earlier versions stay unchanged.

/** A version of the list: the first `length` of `items`. `items` may be longer, so use the functions here to read it. */
export type PersistentList<T> = { readonly length: number; readonly items: readonly T[] };

/** Creates a list of these items. */
export const createPersistentList = <T>(items: readonly T[] = []): PersistentList<T> => ({
  length: items.length,
  items: [...items],
});

/** Appends an item. Versions share their items; a second push on the same version copies. */
export function appendItem<T>(trail: PersistentList<T>, item: T): PersistentList<T> {
  const items = (trail.items.length === trail.length ? trail.items : trail.items.slice(0, trail.length)) as T[];
  items.push(item);
  return { length: items.length, items };
}

/** Replaces the last item; the previous version keeps its own. */
export function replaceLastItem<T>(trail: PersistentList<T>, item: T): PersistentList<T> {
  return appendItem({ length: trail.length - 1, items: trail.items.slice(0, trail.length - 1) }, item);
}

/** Returns the last item, if there is one. */
export const lastItem = <T>(trail: PersistentList<T>): T | undefined => trail.items[trail.length - 1];

/** Copies the items of this version to an array, from an index on. */
export const toArray = <T>(trail: PersistentList<T>, from = 0): readonly T[] => trail.items.slice(from, trail.length);
