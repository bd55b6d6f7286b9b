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
export type LruMap<V> = { readonly young: PersistentMap<V>; readonly old: PersistentMap<V> };

/** Keys of one half. A shelf remembers at least this many of the latest keys and at most twice as many. */
const generationSize = 32;

/** A shelf with nothing on it. */
export const emptyLru = <V>(): LruMap<V> => ({ young: emptyPersistentMap(), old: emptyPersistentMap() });

/** What stands under a key, if it is still remembered. */
export const lruGet = <V>({ young, old }: LruMap<V>, key: string): V | undefined =>
  mapGet(young, key) ?? mapGet(old, key);

/** The shelf with this value under the key. */
export function lruSet<V>({ young, old }: LruMap<V>, key: string, value: V): LruMap<V> {
  const next = mapSet(young, key, value);
  return next.size < generationSize ? { young: next, old } : { young: emptyPersistentMap(), old: next };
}

/** Everything that is remembered, in no order that means anything. */
export function lruEntries<V>({ young, old }: LruMap<V>): readonly (readonly [string, V])[] {
  return [...new Map([...mapEntries(old), ...mapEntries(young)])];
}

/** A shelf as JSON. */
export const serializeLru = <V extends Json>({ young, old }: LruMap<V>): Json => ({
  young: mapEntries(young) as Json,
  old: mapEntries(old) as Json,
});

/** The shelf that was kept; nothing where it is something else. */
export function restoreLru<V>(kept: unknown, like: V): LruMap<V> | undefined {
  if (!isObject(kept)) return undefined;
  const young = restoreGeneration(kept['young'], like);
  const old = restoreGeneration(kept['old'], like);
  return young && old ? { young, old } : undefined;
}

/** Every value must have what a value of this kind has, of the same types: a fold must never meet anything else. */
function restoreGeneration<V>(kept: unknown, like: V): PersistentMap<V> | undefined {
  if (!Array.isArray(kept) || kept.length > generationSize) return undefined;
  const entries = kept as readonly unknown[];
  const fits = entries.every(
    (entry) => Array.isArray(entry) && typeof entry[0] === 'string' && hasSameShape(entry[1], like),
  );
  return fits ? createPersistentMap(entries as readonly (readonly [string, V])[]) : undefined;
}

/** Whether a value has every field of another, of the same types. */
export function hasSameShape(value: unknown, like: unknown): boolean {
  if (!isObject(like)) return typeof value === typeof like;
  return isObject(value) && Object.entries(like).every(([key, each]) => hasSameShape(value[key], each));
}
