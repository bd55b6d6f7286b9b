// A persistent hash map: an update returns a new map and leaves the old one unchanged.
import { hash53 } from './hash53.ts';

type MapEntry<V> = readonly [key: string, value: V];

/** A persistent map with string keys; use the functions here to read and update it. */
export type PersistentMap<V> = { readonly size: number; readonly buckets: readonly (readonly MapEntry<V>[])[] };

/** An update copies the bucket list, so its length grows with the number of keys. */
const narrowWidth = 16;
const wideWidth = 256;
const maxInNarrow = 64;

/** The empty map. */
export const emptyPersistentMap = <V>(): PersistentMap<V> => ({ size: 0, buckets: [] });

/** Creates a map of these entries; the last value of a key wins. */
export const createPersistentMap = <V>(entries: Iterable<MapEntry<V>>): PersistentMap<V> => {
  let table = emptyPersistentMap<V>();
  for (const [key, value] of entries) table = mapSet(table, key, value);
  return table;
};

const bucketIndex = (key: string, width: number): number => hash53(key) % width;

/** Returns the value of a key, if present. */
export function mapGet<V>({ size, buckets }: PersistentMap<V>, key: string): V | undefined {
  if (size === 0) return undefined;
  for (const [each, value] of buckets[bucketIndex(key, buckets.length)] ?? []) if (each === key) return value;
  return undefined;
}

/** Returns the map with this value set. */
export function mapSet<V>({ size, buckets }: PersistentMap<V>, key: string, value: V): PersistentMap<V> {
  const next = buckets.length ? buckets.slice() : Array.from({ length: narrowWidth }, (): readonly MapEntry<V>[] => []);
  const index = bucketIndex(key, next.length);
  const bucket = next[index] ?? [];
  const position = bucket.findIndex(([each]) => each === key);
  next[index] = position < 0 ? [...bucket, [key, value]] : bucket.with(position, [key, value]);
  const table = { size: position < 0 ? size + 1 : size, buckets: next };
  return next.length === narrowWidth && table.size > maxInNarrow ? widenBuckets(table) : table;
}

function widenBuckets<V>(table: PersistentMap<V>): PersistentMap<V> {
  const buckets = Array.from({ length: wideWidth }, (): MapEntry<V>[] => []);
  for (const entry of mapEntries(table)) buckets[bucketIndex(entry[0], wideWidth)]?.push(entry);
  return { size: table.size, buckets };
}

/** Returns the map without the key. */
export function mapDelete<V>(table: PersistentMap<V>, key: string): PersistentMap<V> {
  const index = bucketIndex(key, table.buckets.length);
  const bucket = table.buckets[index];
  if (!bucket?.some(([each]) => each === key)) return table;
  const rest = bucket.filter(([each]) => each !== key);
  return { size: table.size - 1, buckets: table.buckets.with(index, rest) };
}

/** Returns all entries, in no particular order. */
export const mapEntries = <V>({ buckets }: PersistentMap<V>): readonly MapEntry<V>[] => buckets.flat();
