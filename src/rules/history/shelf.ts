// A table that never holds more than so many keys: what was not touched for long falls off, at a cost that does not grow.
import {
  emptyPersistentMap,
  mapEntries,
  isObject,
  mapSet,
  createPersistentMap,
  mapGet,
  type Json,
  type PersistentMap,
} from '../../core/index.ts';

/** What was touched lately, and what before that; when the first is full it becomes the second, and that one is forgotten. */
export type Shelf<V> = { readonly young: PersistentMap<V>; readonly old: PersistentMap<V> };

/** Keys of one half. A shelf remembers at least this many of the latest keys and at most twice as many. */
const SHELF = 32;

/** A shelf with nothing on it. */
export const emptyShelf = <V>(): Shelf<V> => ({ young: emptyPersistentMap(), old: emptyPersistentMap() });

/** What stands under a key, if it is still remembered. */
export const onShelf = <V>({ young, old }: Shelf<V>, key: string): V | undefined =>
  mapGet(young, key) ?? mapGet(old, key);

/** The shelf with this value under the key. */
export function shelve<V>({ young, old }: Shelf<V>, key: string, value: V): Shelf<V> {
  const next = mapSet(young, key, value);
  return next.size < SHELF ? { young: next, old } : { young: emptyPersistentMap(), old: next };
}

/** Everything that is remembered, in no order that means anything. */
export function shelved<V>({ young, old }: Shelf<V>): readonly (readonly [string, V])[] {
  return [...new Map([...mapEntries(old), ...mapEntries(young)])];
}

/** A shelf as JSON. */
export const keepShelf = <V extends Json>({ young, old }: Shelf<V>): Json => ({
  young: mapEntries(young) as Json,
  old: mapEntries(old) as Json,
});

/** The shelf that was kept; nothing where it is something else. */
export function restoreShelf<V>(kept: unknown, like: V): Shelf<V> | undefined {
  if (!isObject(kept)) return undefined;
  const young = half(kept['young'], like);
  const old = half(kept['old'], like);
  return young && old ? { young, old } : undefined;
}

/** Every value must have what a value of this kind has, of the same types: a fold must never meet anything else. */
function half<V>(kept: unknown, like: V): PersistentMap<V> | undefined {
  if (!Array.isArray(kept) || kept.length > SHELF) return undefined;
  const entries = kept as readonly unknown[];
  const fits = entries.every((entry) => Array.isArray(entry) && typeof entry[0] === 'string' && alike(entry[1], like));
  return fits ? createPersistentMap(entries as readonly (readonly [string, V])[]) : undefined;
}

/** Whether a value has every field of another, of the same types. */
export function alike(value: unknown, like: unknown): boolean {
  if (!isObject(like)) return typeof value === typeof like;
  return isObject(value) && Object.entries(like).every(([key, each]) => alike(value[key], each));
}
