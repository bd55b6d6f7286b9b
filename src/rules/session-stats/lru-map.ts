// A bounded persistent map: keys that were not used for long are evicted, at constant cost.
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

/** Recently used entries, and those before them. When the first generation is full it becomes the second, and the old second is dropped. */
export type LruMap<V> = { readonly young: PersistentMap<V>; readonly old: PersistentMap<V> };

/** Keys per generation. The map holds at least this many of the latest keys, and at most twice as many. */
const generationSize = 32;

/** Creates an empty map. */
export const emptyLru = <V>(): LruMap<V> => ({ young: emptyPersistentMap(), old: emptyPersistentMap() });

/** Returns the value of a key, if it is still in the map. */
export const lruGet = <V>({ young, old }: LruMap<V>, key: string): V | undefined =>
  mapGet(young, key) ?? mapGet(old, key);

/** Returns the map with this value for the key. */
export function lruSet<V>({ young, old }: LruMap<V>, key: string, value: V): LruMap<V> {
  const next = mapSet(young, key, value);
  return next.size < generationSize ? { young: next, old } : { young: emptyPersistentMap(), old: next };
}

/** Returns all entries, in no particular order. */
export function lruEntries<V>({ young, old }: LruMap<V>): readonly (readonly [string, V])[] {
  return [...new Map([...mapEntries(old), ...mapEntries(young)])];
}

/** Serializes a map to JSON. */
export const serializeLru = <V extends Json>({ young, old }: LruMap<V>): Json => ({
  young: mapEntries(young) as Json,
  old: mapEntries(old) as Json,
});

/** Restores a serialized map; undefined if the data is invalid. */
export function restoreLru<V>(stored: unknown, sample: V): LruMap<V> | undefined {
  if (!isObject(stored)) return undefined;
  const young = restoreGeneration(stored['young'], sample);
  const old = restoreGeneration(stored['old'], sample);
  return young && old ? { young, old } : undefined;
}

/** Every value must have the fields of the sample, with the same types: a fold must never receive anything else. */
function restoreGeneration<V>(stored: unknown, sample: V): PersistentMap<V> | undefined {
  if (!Array.isArray(stored) || stored.length > generationSize) return undefined;
  const entries = stored as readonly unknown[];
  const isValid = entries.every(
    (entry) => Array.isArray(entry) && typeof entry[0] === 'string' && hasSameShape(entry[1], sample),
  );
  return isValid ? createPersistentMap(entries as readonly (readonly [string, V])[]) : undefined;
}

/** Returns true if a value has every field of another, with the same types. */
export function hasSameShape(value: unknown, sample: unknown): boolean {
  if (!isObject(sample)) return typeof value === typeof sample;
  return isObject(value) && Object.entries(sample).every(([key, each]) => hasSameShape(value[key], each));
}
