// Persistent lists: a list that grows as a value, independent of other versions.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { lastItem, appendItem, replaceLastItem, toArray, createPersistentList, type PersistentList } from './index.ts';

const step = fc.record({
  on: fc.nat(1000),
  does: fc.constantFrom('push', 'push', 'push', 'swap', 'read'),
  item: fc.integer(),
});

test('[D10] every version of a list stays unchanged, whatever is pushed or replaced on any version', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 3 }), fc.array(step, { maxLength: 60 }), (start, steps) => {
      const versions: { trail: PersistentList<number>; model: readonly number[] }[] = [
        { trail: createPersistentList(start), model: start },
      ];
      const read: { seen: readonly number[]; model: readonly number[] }[] = [];
      for (const { on, does, item } of steps) {
        const from = versions[on % versions.length] as (typeof versions)[number];
        if (does === 'push') versions.push({ trail: appendItem(from.trail, item), model: [...from.model, item] });
        if (does === 'swap' && from.model.length)
          versions.push({ trail: replaceLastItem(from.trail, item), model: [...from.model.slice(0, -1), item] });
        if (does === 'read') read.push({ seen: toArray(from.trail), model: from.model });
      }
      for (const { trail, model } of versions) {
        assert.deepEqual(toArray(trail), model);
        assert.deepEqual(toArray(trail, 1), model.slice(1));
        assert.equal(trail.length, model.length);
        assert.equal(lastItem(trail), model.at(-1));
      }
      for (const { seen, model } of read) assert.deepEqual(seen, model, 'a returned array changed');
    }),
    { numRuns: 300 },
  );
});

test('a list does not change with the array it was created from', () => {
  const given = [1, 2];
  const trail = createPersistentList(given);
  given.push(3);
  assert.deepEqual(toArray(appendItem(trail, 4)), [1, 2, 4]);
});

test('a push on the newest version copies nothing', () => {
  let trail = createPersistentList<number>();
  const { items } = trail;
  for (let i = 0; i < 10_000; i++) trail = appendItem(trail, i);
  assert.equal(trail.items, items);
});
