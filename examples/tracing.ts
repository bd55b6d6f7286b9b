// Traces the runs of an agent: the spans as a tree, and what an exporter would send to a receiver of OpenTelemetry.
import assert from 'node:assert/strict';
import { Agent, tool } from 'fairlead';
import { scriptedProvider, calls, says } from 'fairlead/testing';
import { arrangeSpans, createTracer, formatTrace, readTracingOptions, type Span } from 'fairlead/tracing';

// The variables that OpenTelemetry defines; usually process.env.
const options = readTracingOptions({
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  OTEL_TRACES_EXPORTER: 'otlp',
  OTEL_METRICS_EXPORTER: 'none',
});
assert.ok(options);

const spans: Span[] = [];
// Without `traces` nothing is sent, so that this example needs no receiver.
const { traces: _receiver, ...offline } = options;
const tracer = createTracer({
  options: offline,
  version: '1.0.0',
  agent: 'weather',
  onSpan: (span) => spans.push(span),
});

const weather = tool({
  name: 'weather',
  description: 'The weather in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  execute: () => 'sunny',
});

const agent = new Agent({
  model: scriptedProvider([calls('weather', { city: 'Lisbon' }), says('It is sunny.')]),
  tools: [weather],
  trace: tracer,
});
await using session = await agent.session();
await session.run('How is the weather in Lisbon?');

console.log(formatTrace(arrangeSpans(spans)));
assert.deepEqual(spans.map(({ kind }) => kind).toSorted(), ['model', 'model', 'run', 'tool', 'turn', 'turn']);

// Before the program ends: sends what waits, at most two seconds.
await tracer.close();
