// A map as a value: setting a key gives another map and leaves this one as it was, at a cost that hardly grows with it.
import { digest } from './json.ts';

type Entry<V> = readonly [key: string, value: V];

/** A map from texts; read and changed through the functions here. */
export type Table<V> = { readonly size: number; readonly buckets: readonly (readonly Entry<V>[])[] };

/** Enough that thousands of keys make short buckets, few enough that copying their list is nothing. */
const width = 256;

/** A table without keys. */
export const emptyTable = <V>(): Table<V> => ({ size: 0, buckets: [] });

/** A table of these entries; of two with the same key the later counts. */
export const tableOf = <V>(entries: Iterable<Entry<V>>): Table<V> => {
  let table = emptyTable<V>();
  for (const [key, value] of entries) table = put(table, key, value);
  return table;
};

const placeOf = (key: string): number => digest(key) % width;

/** The value of a key, if it has one. */
export const valueAt = <V>({ buckets }: Table<V>, key: string): V | undefined =>
  buckets[placeOf(key)]?.find(([each]) => each === key)?.[1];

/** The table with this value under the key. */
export function put<V>({ size, buckets }: Table<V>, key: string, value: V): Table<V> {
  const place = placeOf(key);
  const bucket = buckets[place] ?? [];
  const at = bucket.findIndex(([each]) => each === key);
  const next = buckets.length ? [...buckets] : Array.from({ length: width }, (): readonly Entry<V>[] => []);
  next[place] = at < 0 ? [...bucket, [key, value]] : bucket.with(at, [key, value]);
  return { size: at < 0 ? size + 1 : size, buckets: next };
}

/** The table without the key. */
export function without<V>(table: Table<V>, key: string): Table<V> {
  const place = placeOf(key);
  const bucket = table.buckets[place];
  if (!bucket?.some(([each]) => each === key)) return table;
  const rest = bucket.filter(([each]) => each !== key);
  return { size: table.size - 1, buckets: table.buckets.with(place, rest) };
}

/** All entries, in no order that means anything. */
export const entriesOf = <V>({ buckets }: Table<V>): readonly Entry<V>[] => buckets.flat();
