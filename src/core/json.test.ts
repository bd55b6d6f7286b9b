// JSON: any value of a tool becomes valid JSON, and equal values have one text.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { canonicalJson, hash53, isJson, toJson, type Json } from './index.ts';

const roundTrip = (value: Json): Json => JSON.parse(JSON.stringify(value)) as Json;

test('[M7] any value becomes JSON that survives a round trip', () => {
  const options = {
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  };
  fc.assert(
    fc.property(fc.anything(options), (value) => {
      const json = toJson(value);
      assert.deepEqual(roundTrip(json), json);
      assert.ok(isJson(json));
    }),
    { numRuns: 1000 },
  );
});

test('JSON values are unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = roundTrip(value as Json);
      assert.deepEqual(toJson(json), json);
    }),
  );
});

const cyclic: Record<string, unknown> = { name: 'a' };
cyclic['self'] = { list: [cyclic] };
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
const wordless = Object.assign(() => 1, {
  toString(): string {
    throw Object.create(null);
  },
});
const strangers: readonly (readonly [string, unknown, unknown])[] = [
  ['a cycle', cyclic, { name: 'a', self: { list: ['[cycle]'] } }],
  ['a big integer', { n: 10n ** 30n }, { n: '1000000000000000000000000000000' }],
  ['numbers that JSON lacks', [Number.NaN, Number.POSITIVE_INFINITY, -0], ['NaN', 'Infinity', 0]],
  ['nothing', undefined, null],
  ['holes', [1, , 3], [1, null, 3]], // oxlint-disable-line no-sparse-arrays
  ['an error', new RangeError('too far'), 'RangeError: too far'],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['an invalid date', new Date(Number.NaN), null],
  ['a map and a set', [new Map([['a', new Set([1])]])], [{ a: [1] }]],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['bytes', new Uint8Array(5), '[5 bytes]'],
  ['properties that are undefined', { a: undefined, b: 1 }, { b: 1 }],
  ['a special key', JSON.parse('{"__proto__": {"x": 1}}'), JSON.parse('{"__proto__": {"x": 1}}')],
];
for (const [what, value, expected] of strangers) {
  test(`${what}: described in JSON`, () => assert.deepEqual(toJson(value), expected));
}

const traps: Readonly<Record<string, unknown>> = {
  'a getter that throws': {
    get a(): never {
      throw new Error('no');
    },
  },
  'a toJSON that throws an object without a prototype': {
    toJSON(): never {
      throw Object.create(null);
    },
  },
  'a toJSON that returns itself': {
    toJSON(): unknown {
      return this;
    },
  },
  'an endless toJSON': {
    toJSON: function more(): unknown {
      return { toJSON: more };
    },
  },
  'a revoked proxy': proxy,
  'a function whose toString throws': wordless,
  'an error whose message is not a string': Object.assign(new Error('x'), { message: { toString: null } }),
  'a map whose keys cannot be converted to strings': new Map([[Object.create(null), 1]]),
  'an array that claims a billion items': Array.from({ length: 3 }, () => new Array(1e9)), // oxlint-disable-line no-new-array
};
for (const [what, value] of Object.entries(traps)) {
  test(`${what}: never an exception, always JSON`, () => {
    const json = toJson({ value });
    assert.deepEqual(roundTrip(json), json);
  });
}

test('a value nested too deeply is truncated at that depth', () => {
  let deep: unknown = 'bottom';
  for (let i = 0; i < 100_000; i++) deep = i % 2 ? [deep] : { deep };
  const json = toJson(deep);
  assert.deepEqual(roundTrip(json), json);
  assert.ok(isJson(json));
  assert.ok(!isJson(deep));
  assert.doesNotThrow(() => [canonicalJson(json), canonicalJson(deep as Json)]);
});

test('a value with shared parts that would fill the memory when serialized is truncated', () => {
  let wide: unknown = 1;
  for (let i = 0; i < 60; i++) wide = [wide, wide];
  const text = JSON.stringify(toJson(wide));
  assert.match(text, /left out/);
});

test('equal values have one canonical text in any key order, different values do not', () => {
  const shuffled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, each]) => [key, shuffled(each)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const [one, other] = [roundTrip(a as Json), roundTrip(b as Json)];
      assert.equal(canonicalJson(shuffled(one)), canonicalJson(one));
      assert.deepEqual(JSON.parse(canonicalJson(one)), one);
      const same = canonicalJson(one) === canonicalJson(other);
      assert.equal(same, isEqual(one, other));
      if (same) assert.equal(hash53(canonicalJson(one)), hash53(canonicalJson(other)));
    }),
  );
});

function isEqual(a: Json, b: Json): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

test('[M15] a hash distinguishes texts, is an integer and stays the same in later versions', () => {
  const texts = Array.from({ length: 20_000 }, (_, i) => `call ${i}`);
  const digests = new Set(texts.map(hash53));
  assert.equal(digests.size, texts.length);
  assert.ok([...digests].every((each) => Number.isSafeInteger(each) && each >= 0));
  assert.equal(hash53(''), 3338908027751811);
});
