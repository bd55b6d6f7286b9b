// Persistent maps: each version stays unchanged, whatever is done to another.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  emptyPersistentMap,
  mapEntries,
  mapSet,
  createPersistentMap,
  mapGet,
  mapDelete,
  type PersistentMap,
} from './persistent-map.ts';

const sorted = (table: PersistentMap<number>): readonly (readonly [string, number])[] =>
  mapEntries(table).toSorted(([a], [b]) => (a < b ? -1 : 1));

test('a persistent map behaves like a Map, and no version changes after it is created', () => {
  const step = fc.record({ key: fc.string({ maxLength: 3 }), value: fc.option(fc.nat(), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
      let table = emptyPersistentMap<number>();
      const map = new Map<string, number>();
      const versions: { readonly table: PersistentMap<number>; readonly was: string }[] = [];
      for (const { key, value } of steps) {
        if (value === undefined) map.delete(key);
        else map.set(key, value);
        table = value === undefined ? mapDelete(table, key) : mapSet(table, key, value);
        assert.equal(table.size, map.size);
        assert.equal(mapGet(table, key), value);
        versions.push({ table, was: JSON.stringify(sorted(table)) });
      }
      assert.deepEqual(
        sorted(table),
        [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      );
      for (const { table: each, was } of versions) assert.equal(JSON.stringify(sorted(each)), was);
    }),
  );
});

test('keys such as constructor and __proto__ are ordinary keys', () => {
  const table = createPersistentMap([['__proto__', 1] as const, ['constructor', 2] as const]);
  assert.equal(mapGet(table, '__proto__'), 1);
  assert.equal(mapGet(table, 'constructor'), 2);
  assert.equal(mapGet(table, 'toString'), undefined);
});
