// The ids of traces and spans: valid, the same in every export, and different for different names.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createSpanId, createTraceId, NameHash } from './ids.ts';

test('[A50] a span id depends on the parts of its name, not on how they are hashed', () => {
  assert.match(createSpanId('s', 'run', 'r'), /^[0-9a-f]{16}$/);
  assert.equal(createSpanId('s', 'turn', 'r', 1234), NameHash.of('s\nturn').add('r').addNumber(1234).toSpanId());
  for (const turn of [0, 7, 10, 99, 100, 123_456_789])
    assert.equal(NameHash.of('s').addNumber(turn).toSpanId(), NameHash.of('s').add(turn).toSpanId());
  const long = 'x'.repeat(5000);
  assert.equal(createSpanId(long, 'a'), NameHash.of(long).add('a').toSpanId());
  assert.notEqual(createSpanId(`${long}a`), createSpanId(`${long}b`));
  assert.notEqual(createSpanId('ł'), createSpanId('B'), 'all bits of a character count');
});

test('[A50] trace ids of many runs are valid, differ, and are spread evenly for sampling', () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => createTraceId(`session-${i % 100}`, `run-${i}`));
  assert.ok(ids.every((id) => /^[0-9a-f]{32}$/.test(id)));
  assert.equal(new Set(ids).size, ids.length);
  const [half, other] = [ids.map((id) => id.slice(0, 16)), ids.map((id) => id.slice(16))];
  assert.equal(new Set(half).size, ids.length);
  assert.equal(new Set(other).size, ids.length);
  const below = ids.filter((id) => Number.parseInt(id.slice(-13), 16) / 16 ** 13 < 0.1).length;
  assert.ok(below > 1800 && below < 2200, `${below} of 20000 are below a tenth`);
});
