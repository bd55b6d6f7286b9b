// A table that never holds more than so many keys: what was not touched for long falls off, at a cost that does not grow.
import { emptyTable, entriesOf, isObject, put, tableOf, valueAt, type Json, type Table } from '../../core/index.ts';

/** What was touched lately, and what before that; when the first is full it becomes the second, and that one is forgotten. */
export type Shelf<V> = { readonly young: Table<V>; readonly old: Table<V> };

/** Keys of one half. A shelf remembers at least this many of the latest keys and at most twice as many. */
const SHELF = 32;

/** A shelf with nothing on it. */
export const emptyShelf = <V>(): Shelf<V> => ({ young: emptyTable(), old: emptyTable() });

/** What stands under a key, if it is still remembered. */
export const onShelf = <V>({ young, old }: Shelf<V>, key: string): V | undefined =>
  valueAt(young, key) ?? valueAt(old, key);

/** The shelf with this value under the key. */
export function shelve<V>({ young, old }: Shelf<V>, key: string, value: V): Shelf<V> {
  const next = put(young, key, value);
  return next.size < SHELF ? { young: next, old } : { young: emptyTable(), old: next };
}

/** Everything that is remembered, in no order that means anything. */
export function shelved<V>({ young, old }: Shelf<V>): readonly (readonly [string, V])[] {
  return [...new Map([...entriesOf(old), ...entriesOf(young)])];
}

/** A shelf as JSON. */
export const keepShelf = <V extends Json>({ young, old }: Shelf<V>): Json => ({
  young: entriesOf(young) as Json,
  old: entriesOf(old) as Json,
});

/** The shelf that was kept; nothing where it is something else. */
export function restoreShelf<V>(kept: unknown, like: V): Shelf<V> | undefined {
  if (!isObject(kept)) return undefined;
  const young = half(kept['young'], like);
  const old = half(kept['old'], like);
  return young && old ? { young, old } : undefined;
}

/** Every value must have what a value of this kind has, of the same types: a fold must never meet anything else. */
function half<V>(kept: unknown, like: V): Table<V> | undefined {
  if (!Array.isArray(kept) || kept.length > SHELF) return undefined;
  const entries = kept as readonly unknown[];
  const fits = entries.every((entry) => Array.isArray(entry) && typeof entry[0] === 'string' && alike(entry[1], like));
  return fits ? tableOf(entries as readonly (readonly [string, V])[]) : undefined;
}

/** Whether a value has every field of another, of the same types. */
export function alike(value: unknown, like: unknown): boolean {
  if (!isObject(like)) return typeof value === typeof like;
  return isObject(value) && Object.entries(like).every(([key, each]) => alike(value[key], each));
}
