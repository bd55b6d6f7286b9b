// A map as a value: setting a key gives another map and leaves this one as it was, at a cost that hardly grows with it.
import { digest } from './digest.ts';

type Entry<V> = readonly [key: string, value: V];

/** A map from texts; read and changed through the functions here. */
export type Table<V> = { readonly size: number; readonly buckets: readonly (readonly Entry<V>[])[] };

/** A change copies the list of buckets: few while there are few keys, and enough that thousands of keys make short buckets. */
const narrow = 16;
const wide = 256;
const mostInNarrow = 64;

/** A table without keys. */
export const emptyTable = <V>(): Table<V> => ({ size: 0, buckets: [] });

/** A table of these entries; of two with the same key the later counts. */
export const tableOf = <V>(entries: Iterable<Entry<V>>): Table<V> => {
  let table = emptyTable<V>();
  for (const [key, value] of entries) table = put(table, key, value);
  return table;
};

const placeOf = (key: string, width: number): number => digest(key) % width;

/** The value of a key, if it has one. */
export function valueAt<V>({ size, buckets }: Table<V>, key: string): V | undefined {
  if (size === 0) return undefined;
  for (const [each, value] of buckets[placeOf(key, buckets.length)] ?? []) if (each === key) return value;
  return undefined;
}

/** The table with this value under the key. */
export function put<V>({ size, buckets }: Table<V>, key: string, value: V): Table<V> {
  const next = buckets.length ? buckets.slice() : Array.from({ length: narrow }, (): readonly Entry<V>[] => []);
  const place = placeOf(key, next.length);
  const bucket = next[place] ?? [];
  const at = bucket.findIndex(([each]) => each === key);
  next[place] = at < 0 ? [...bucket, [key, value]] : bucket.with(at, [key, value]);
  const table = { size: at < 0 ? size + 1 : size, buckets: next };
  return next.length === narrow && table.size > mostInNarrow ? widened(table) : table;
}

function widened<V>(table: Table<V>): Table<V> {
  const buckets = Array.from({ length: wide }, (): Entry<V>[] => []);
  for (const entry of entriesOf(table)) buckets[placeOf(entry[0], wide)]?.push(entry);
  return { size: table.size, buckets };
}

/** The table without the key. */
export function without<V>(table: Table<V>, key: string): Table<V> {
  const place = placeOf(key, table.buckets.length);
  const bucket = table.buckets[place];
  if (!bucket?.some(([each]) => each === key)) return table;
  const rest = bucket.filter(([each]) => each !== key);
  return { size: table.size - 1, buckets: table.buckets.with(place, rest) };
}

/** All entries, in no order that means anything. */
export const entriesOf = <V>({ buckets }: Table<V>): readonly Entry<V>[] => buckets.flat();
