// A persistent append-only list: an append is O(1) amortised and earlier versions stay unchanged.

/** A version of the list: the first `length` of `items`. `items` may be longer, so use the functions here to read it. */
export type PersistentList<T> = { readonly length: number; readonly items: readonly T[] };

/** Creates a list of these items. */
export const createPersistentList = <T>(items: readonly T[] = []): PersistentList<T> => ({
  length: items.length,
  items: [...items],
});

/** Appends an item. Versions share their items; a second append to the same version copies. */
export function appendItem<T>(list: PersistentList<T>, item: T): PersistentList<T> {
  const items = (list.items.length === list.length ? list.items : list.items.slice(0, list.length)) as T[];
  items.push(item);
  return { length: items.length, items };
}

/** Replaces the last item; the previous version keeps its own. */
export function replaceLastItem<T>(list: PersistentList<T>, item: T): PersistentList<T> {
  return appendItem({ length: list.length - 1, items: list.items.slice(0, list.length - 1) }, item);
}

/** Returns the last item, if there is one. */
export const lastItem = <T>(list: PersistentList<T>): T | undefined => list.items[list.length - 1];

/** Copies the items of this version to an array, from an index on. */
export const toArray = <T>(list: PersistentList<T>, from = 0): readonly T[] => list.items.slice(from, list.length);
