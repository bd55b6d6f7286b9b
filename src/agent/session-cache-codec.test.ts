// Encoding of cached values: they are read back equal, and others stay in memory.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { SessionCache } from './session-cache.ts';

/** A cache that keeps one value in memory. */
function small(t: test.TestContext): SessionCache {
  const cache = new SessionCache({ hotLimit: 1 });
  t.after(() => cache.close());
  return cache;
}

const shared = { n: 1 };
const values: readonly (readonly [what: string, value: unknown, type: string])[] = [
  ['an object', { a: [1, 'x', null, true], ['__proto__']: 5 }, 'json'],
  ['a text with half a surrogate pair', 'a\ud800b', 'json'],
  ['undefined inside', { a: undefined }, 'v8'],
  ['undefined', undefined, 'v8'],
  ['numbers that JSON does not have', [Number.NaN, Number.POSITIVE_INFINITY, -0], 'v8'],
  ['negative zero', -0, 'v8'],
  ['a big integer', 10n ** 30n, 'v8'],
  ['a date', new Date(5), 'v8'],
  ['a map', new Map([['k', new Set([1, 2])]]), 'v8'],
  ['a list with holes', [1, , 3], 'v8'], // oxlint-disable-line no-sparse-arrays
  ['a list with fields', Object.assign([1], { index: 3 }), 'v8'],
  ['an array inside', { bytes: new Float64Array([1, 2]) }, 'v8'],
  ['bytes', Buffer.from('bytes'), 'binary'],
  ['floats', new Float64Array([1.5, -0, Number.NaN]), 'binary'],
  ['a part of an array', new Uint16Array([1, 2, 3, 4]).subarray(1, 3), 'binary'],
  ['big integers', new BigInt64Array([-(2n ** 62n)]), 'binary'],
  ['an empty array', new Int8Array(), 'binary'],
];

for (const [title, value, type] of values) {
  test(`[D9] a value on disk is read back equal: ${title}`, (t) => {
    const cache = small(t);
    cache.put('v', value);
    cache.put('other', 0);
    assert.deepEqual(cache.storageMetadata()['v'], { location: 'disk', storageType: type });
    assert.deepStrictEqual(cache.get('v'), value);
  });
}

test('[D9] two references to one object stay one object', (t) => {
  const cache = small(t);
  cache.put('v', [shared, shared]);
  cache.put('other', 0);
  const [a, b] = cache.get('v') as [object, object];
  assert.equal(a, b);
});

test('[D9] any JSON value survives a round trip to disk', (t) => {
  const cache = small(t);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      cache.put('v', value, { overwrite: true });
      cache.put('other', 0, { overwrite: true });
      assert.deepStrictEqual(cache.get('v'), value);
    }),
    { numRuns: 100 },
  );
});

class Own {
  n = 1;
}
class Bare {
  go(): number {
    return 1;
  }
}

for (const [title, value] of [
  ['a function', () => 1],
  ['an instance of a class', new Own()],
  ['an instance without fields', new Bare()],
  ['an instance inside', [{ deep: new Own() }]],
  ['a promise', Promise.resolve()],
  ['a symbol as key', { [Symbol('s')]: 1 }],
  ['an object with its own toJSON', { toJSON: () => 1 }],
] as const) {
  test(`[D9] a value without an equal copy stays in memory: ${title}`, (t) => {
    const cache = small(t);
    cache.put('v', value);
    cache.put('other', 0);
    cache.put('more', 0);
    assert.deepEqual(cache.storageMetadata()['v'], {
      location: 'memory',
      storageType: 'value',
      problem: 'it has no equal copy',
    });
    assert.equal(cache.storageMetadata()['other']?.location, 'disk');
    assert.equal(cache.get('v'), value);
  });
}
