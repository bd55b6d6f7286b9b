// W3C trace context: valid values are parsed, and everything else is ignored.
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatTraceparent, parseTraceContext, parseTraceparent } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

test('[A50] a traceparent is parsed and formatted again', () => {
  const parent = { traceId, spanId, isSampled: true };
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-01`), parent);
  assert.equal(formatTraceparent(parent), `00-${traceId}-${spanId}-01`);
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-00`)?.isSampled, false);
  assert.equal(parseTraceparent(`00-${traceId}-${spanId}-ff`)?.isSampled, true);
});

test('[A50] a traceparent of a later version may have more fields', () => {
  assert.deepEqual(parseTraceContext(`cc-${traceId}-${spanId}-01-what-the-future-will-be`), {
    traceparent: `00-${traceId}-${spanId}-01`,
  });
});

test('[A50] what is not a traceparent is ignored', () => {
  for (const value of [
    undefined,
    7,
    '',
    'x'.repeat(100_000),
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01\r\nx: y`,
  ])
    assert.equal(parseTraceContext(value), undefined, String(value).slice(0, 80));
});

test('[A50] a tracestate is kept if it is printable and short, and dropped otherwise', () => {
  const parent = `00-${traceId}-${spanId}-01`;
  assert.equal(parseTraceContext(parent, 'vendor=1,other=2')?.tracestate, 'vendor=1,other=2');
  for (const state of ['', 'a\nb', 'é=1', 'x'.repeat(513), 9])
    assert.equal(parseTraceContext(parent, state)?.tracestate, undefined);
});
