// Protobuf: the bytes of metrics are those of the specification, and the answer of a receiver is read.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ByteWriter } from './byte-writer.ts';
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

test('[A50] a length takes as many bytes as it needs, whatever space was left for it', () => {
  for (const space of [1, 2] as const)
    for (const [length, bytes] of [
      [0, [0]],
      [127, [127]],
      [128, [0x80, 1]],
      [16_383, [0xff, 0x7f]],
      [16_384, [0x80, 0x80, 1]],
      [2_097_152, [0x80, 0x80, 0x80, 1]],
    ] as const) {
      const content = Buffer.alloc(length, 7);
      const writer = new ByteWriter(1);
      writer.writeSize(9);
      const start = writer.begin(space);
      writer.writeBytes(content);
      writer.end(start, space);
      writer.writeSize(8);
      const expected = Buffer.concat([Buffer.from([9, ...bytes]), content, Buffer.from([8])]);
      assert.ok(writer.finish().equals(expected), `${length} with ${space}`);
    }
});
