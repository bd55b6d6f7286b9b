// Snapshots of cached values: their shapes, their bounded size, and that they are copies.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createSnapshot, type SnapshotShape } from './session-cache-snapshot.ts';

const rows = [1, 2, 3].map((n) => ({ n, name: `r${n}` }));

const shapes: readonly (readonly [what: string, value: unknown, shape: SnapshotShape])[] = [
  ['a table', rows, { type: 'table', shape: [3, 2], columns: ['n', 'name'], sample: rows.slice(0, 2) }],
  [
    'a table with any key order',
    [
      { a: 1, b: 2 },
      { b: 3, a: 4 },
    ],
    {
      type: 'table',
      shape: [2, 2],
      columns: ['a', 'b'],
      sample: [
        { a: 1, b: 2 },
        { b: 3, a: 4 },
      ],
    },
  ],
  ['rows that differ', [{ a: 1 }, { b: 2 }], { type: 'list', length: 2, sample: [{ a: 1 }, { b: 2 }] }],
  [
    'rows of which one has more columns',
    [{ a: 1 }, { a: 1, b: 2 }],
    { type: 'list', length: 2, sample: [{ a: 1 }, { a: 1, b: 2 }] },
  ],
  ['a list', [1, 'x', null], { type: 'list', length: 3, sample: [1, 'x'] }],
  ['an empty list', [], { type: 'list', length: 0, sample: [] }],
  ['an object', { a: 1, b: 2, c: 3 }, { type: 'object', totalKeys: 3, sampleKeys: ['a', 'b'], sample: { a: 1, b: 2 } }],
  ['a map', new Map([[1, 'x']]), { type: 'object', totalKeys: 1, sampleKeys: ['1'], sample: { '1': 'x' } }],
  ['a set', new Set([1]), { type: 'list', length: 1, sample: [1] }],
  ['a typed array', new Float32Array([1, 2, 3]), { type: 'array', shape: [3], dtype: 'float32', sample: [1, 2] }],
  ['big integers', new BigInt64Array([1n]), { type: 'array', shape: [1], dtype: 'bigint64', sample: ['1'] }],
  ['a buffer', Buffer.from('ab'), { type: 'array', shape: [2], dtype: 'uint8', sample: [97, 98] }],
  ['raw bytes', new ArrayBuffer(3), { type: 'array', shape: [3], dtype: 'uint8', sample: [0, 0] }],
  ['a text', 'abc', { type: 'text', length: 3, sample: 'abc' }],
  ['a number', 5, { type: 'scalar', value: 5 }],
  ['null', null, { type: 'scalar', value: null }],
  ['a number that JSON does not have', Number.NaN, { type: 'scalar', value: 'NaN' }],
  ['a date', new Date(0), { type: 'text', length: 24, sample: '1970-01-01T00:00:00.000Z' }],
];

for (const [title, value, shape] of shapes) {
  test(`[D9] the snapshot of ${title}`, () => assert.deepStrictEqual(createSnapshot(value, 2), shape));
}

test('[D9] a snapshot is small whatever the value', () => {
  const wide = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`column ${i} ${'x'.repeat(300)}`, { deep: ['y'.repeat(999)] }]),
  );
  for (const value of [
    [wide, wide, wide],
    wide,
    'z'.repeat(1e6),
    [Array.from({ length: 1e5 }, () => 'w'.repeat(100))],
    [[[[[['deep']]]]]],
  ])
    assert.ok(JSON.stringify(createSnapshot(value, 5)).length < 25_000);
});

test('[D9] a truncated part has a mark', () => {
  assert.deepEqual(createSnapshot(['x'.repeat(300), [1, 2, 3], [[[[['deep']]]]]], 2), {
    type: 'list',
    length: 3,
    sample: [`${'x'.repeat(200)}… (300 characters)`, [1, 2, '… 1 more']],
  });
  assert.deepEqual((createSnapshot([[[[[['deep']]]]]], 2) as { sample: unknown }).sample, [[[[['[list of 1]']]]]]);
});

test('[D9] a sample is a copy', () => {
  const value = [{ inner: { n: 1 } }];
  const { sample } = createSnapshot(value, 5) as unknown as { sample: { inner: { n: number } }[] };
  (sample[0] as { inner: { n: number } }).inner.n = 2;
  assert.equal(value[0]?.inner.n, 1);
});

test('[D9] a value that throws when it is read still has a snapshot', () => {
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
  assert.deepEqual(createSnapshot(hostile, 5), { type: 'scalar', value: '[unreadable: Error: no]' });
  const getter = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new Error('no');
    },
  });
  assert.equal(createSnapshot(getter, 5).type, 'scalar');
  const cycle: unknown[] = [];
  cycle.push(cycle);
  assert.equal(createSnapshot(cycle, 5).type, 'list');
});

test('[D9] no sample ends in half a surrogate pair', () => {
  const { sample } = createSnapshot(`${'x'.repeat(199)}${'😀'.repeat(9)}`, 5) as { sample: string };
  assert.ok(sample.isWellFormed());
});
