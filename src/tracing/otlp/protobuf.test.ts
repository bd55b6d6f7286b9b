// Protobuf: the bytes of metrics are those of the specification, and the answer of a receiver is read.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodePartialSuccess, encodeMetrics } from './protobuf.ts';

test('[A50] a histogram has packed buckets and bounds', () => {
  const point = {
    attributes: [],
    startTimeUnixNano: '1',
    timeUnixNano: '2',
    count: '3',
    sum: 1.5,
    bucketCounts: ['1', '2'],
    explicitBounds: [0.5],
    min: 0.25,
    max: 1,
  };
  const histogram = { dataPoints: [point], aggregationTemporality: 2 };
  const metrics = [{ name: 'm', description: 'd', unit: 's', histogram }];
  const bytes = encodeMetrics({
    resourceMetrics: [
      { resource: { attributes: [] }, scopeMetrics: [{ scope: { name: 'f', version: '1' }, metrics }] },
    ],
  });
  // bucket_counts is field 6 with a length of two fixed64, explicit_bounds field 7 with a length of one double.
  assert.ok(bytes.includes(Buffer.from('3210010000000000000002000000000000003a08000000000000e03f', 'hex')));
});

test('[A50] the part that a receiver rejected is read, and an answer that cannot be read is ignored', () => {
  const message = Buffer.from('too old');
  const inner = Buffer.concat([Buffer.from([0x08, 0xac, 0x02, 0x12, message.length]), message]);
  assert.deepEqual(decodePartialSuccess(Buffer.concat([Buffer.from([0x0a, inner.length]), inner])), {
    rejected: 300,
    message: 'too old',
  });
  for (const bad of ['', '0aff', 'ffffffffffffffffffff01', '0a02', '0b'])
    assert.equal(decodePartialSuccess(Buffer.from(bad, 'hex')), undefined, bad);
});
