// Spans in protobuf: what the encoder writes is read back by an independent decoder with the field numbers of the specification, and is what the JSON encoding has.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeTraces } from '../../test/support/otlp-decoder.ts';
import { createSpanEncoder } from './encode-spans.ts';
import { createTraceRequest, type ConversionOptions, type Span } from './index.ts';

const options: ConversionOptions = {
  conventions: 'v1.41',
  content: true,
  redact: (text) => text.replaceAll('secret', '***'),
  maxAttributeChars: 40_000,
  resource: { 'service.name': 'Grüße 🙂', count: 3, list: ['a', ''], object: { a: 1 } },
  version: '1',
};

const base = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  parentId: '00f067aa0ba902b7',
  session: 's1',
  start: 1_767_225_600_123,
  end: 1_767_225_600_123.456,
} as const;

const createSpan = (id: number, span: Partial<Span> & Pick<Span, 'kind' | 'details'>): Span => ({
  ...base,
  spanId: id.toString(16).padStart(16, '0'),
  name: 'n',
  ...span,
});

const usage = { input: 2 ** 40 + 5, output: -(2 ** 53 - 1), cacheRead: 127, cacheWrite: 128, reasoning: 0.5 };
const gate = { component: 'policy', name: 'no-danger', verdict: 'deny', action: 'block', by: 'user' } as const;
const { parentId: _none, ...rootPlace } = base;
const spans: readonly Span[] = [
  { ...rootPlace, spanId: 'b7ad6b7169203331', kind: 'run', name: 'fairlead', details: { run: 'r1', agent: 'ü' } },
  createSpan(2, {
    kind: 'run',
    tracestate: 'a=1',
    hasRemoteParent: true,
    error: 'failed',
    errorMessage: `secret ${'é'.repeat(100)}`,
    details: { run: 'r'.repeat(300), isSubagent: true, provider: 'google', stopReason: 'done' },
  }),
  createSpan(3, { kind: 'turn', name: 'turn 2', start: 0, end: 4_294_967_296_000.000_5, details: { turn: 2 } }),
  createSpan(4, {
    kind: 'model',
    name: 'm',
    details: { requestModel: 'm', responseModel: 'm-2', host: '[::1]:8080', finishReason: 'stop', usage, usd: 0.1 },
    content: {
      system: 'be\ud800 kind',
      input: [{ role: 'tool', parts: [{ type: 'tool_call_response', response: 'ok' }] }],
      output: [{ text: 'x'.repeat(50_000) }],
    },
    events: [{ name: 'retry', time: base.start, attributes: { attempt: 2, code: 'provider/rate-limited' } }],
  }),
  createSpan(5, { kind: 'model', name: 'm', details: { requestModel: 'm', isCompacted: true, isEstimated: false } }),
  createSpan(6, {
    kind: 'tool',
    details: { tool: 'mcp__a__b', call: 'c1', mcpServer: 'a', outcome: 'ok' },
    content: { arguments: { a: 'secret' }, result: 'y'.repeat(20_000) },
  }),
  createSpan(7, { kind: 'gate', details: { tool: 'write', call: 'c2', gate }, content: { explanation: 'why' } }),
  createSpan(8, {
    kind: 'check',
    error: 'check-failed',
    details: { check: { name: 'facts', verdict: 'failed', unconfirmed: 2 } },
    events: [{ name: 'evaluation', time: base.start, attributes: { name: 'facts', value: 0, label: 'failed' } }],
    content: { explanation: 'a secret reason' },
  }),
  createSpan(9, { kind: 'request', name: 'title', details: { requestModel: 'small' } }),
  createSpan(10, { kind: 'request', name: 'title', details: { requestModel: 'other' } }),
  createSpan(11, { kind: 'compaction', details: {} }),
  createSpan(12, { kind: 'workflow', name: 'plan', details: {} }),
  createSpan(13, { kind: 'step', name: 'a', details: { step: { id: 'a', status: 'done' } } }),
];

test('[A50] spans in protobuf are the same as in JSON, field by field, also when parts of them are reused', () => {
  for (const conventions of ['v1.41', 'latest'] as const) {
    const chosen = { ...options, conventions };
    const encode = createSpanEncoder(chosen);
    const expected = createTraceRequest(spans, chosen);
    assert.deepEqual(decodeTraces(encode(spans)), expected);
    assert.deepEqual(decodeTraces(encode(spans)), expected, 'with the bytes that were kept');
    assert.doesNotMatch(encode(spans).toString('latin1'), /secret/);
  }
});

test('[A50] the bytes that are kept for many different texts are bounded, and right after they were dropped', () => {
  const encode = createSpanEncoder(options);
  const many = Array.from({ length: 1200 }, (_, i) =>
    createSpan(i + 1, { kind: 'tool', name: `tool-${i % 700}`, details: { tool: `tool-${i % 700}`, outcome: 'ok' } }),
  );
  assert.deepEqual(decodeTraces(encode(many)), createTraceRequest(many, options));
});
