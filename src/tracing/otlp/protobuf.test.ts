// Protobuf: what the encoder writes is read back by an independent decoder with the field numbers of the specification.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeTraces } from '../../../test/support/otlp-decoder.ts';
import { decodePartialSuccess, encodeMetrics, encodeTraces } from './protobuf.ts';
import type { TraceRequest } from './messages.ts';

const request: TraceRequest = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'Grüße 🙂' } }] },
      scopeSpans: [
        {
          scope: { name: 'fairlead', version: '1' },
          spans: [
            {
              traceId: '0af7651916cd43dd8448eb211c80319c',
              spanId: 'b7ad6b7169203331',
              parentSpanId: '00f067aa0ba902b7',
              traceState: 'a=1',
              flags: 0x301,
              name: 'chat m',
              kind: 3,
              startTimeUnixNano: '1767225600123456789',
              endTimeUnixNano: '18446744073709551615',
              attributes: [
                { key: 'int', value: { intValue: '-9007199254740991' } },
                { key: 'double', value: { doubleValue: 0.1 } },
                { key: 'no', value: { boolValue: false } },
                { key: 'list', value: { arrayValue: { values: [{ stringValue: 'x' }, { stringValue: '' }] } } },
              ],
              events: [{ timeUnixNano: '1', name: 'e', attributes: [{ key: 'k', value: { intValue: '7' } }] }],
              status: { message: 'denied', code: 2 },
            },
          ],
        },
      ],
    },
  ],
};

test('[A50] spans in protobuf are the same as in JSON, field by field', () => {
  assert.deepEqual(decodeTraces(encodeTraces(request)), request);
});

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
