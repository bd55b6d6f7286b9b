// The metrics of spans: the labels that tell series apart, and counting that starts again with delta temporality.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseConventions } from './conventions.ts';
import type { GateDetails, Span } from './span.ts';
import { SpanMetrics } from './span-metrics.ts';

const createGateSpan = (gate: GateDetails): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  session: 's',
  kind: 'gate',
  name: 'gate',
  start: 0,
  end: 1000,
  details: { gate },
});

/** The labels and the count of each series of gate decisions. */
function takeDecisions(metrics: SpanMetrics): readonly string[] {
  const points = (metrics.take([], '0')?.resourceMetrics ?? [])
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    .flatMap((metric) => ('sum' in metric ? metric.sum.dataPoints : []));
  return points
    .map(({ attributes, asDouble }) =>
      [...attributes.map(({ value }) => ('stringValue' in value ? value.stringValue : '')), asDouble].join(' '),
    )
    .toSorted();
}

test('[A50] decisions of gates that differ in one label only are counted apart', () => {
  const metrics = new SpanMetrics(parseConventions(undefined));
  const gates: readonly GateDetails[] = [
    { component: 'policy', verdict: 'escalate', action: 'allow' },
    { component: 'policy', verdict: 'escalate', action: 'block' },
    { component: 'policy', verdict: 'deny', action: 'block' },
    { component: 'hook', verdict: 'deny', action: 'block' },
  ];
  for (const gate of [...gates, ...gates]) metrics.add(createGateSpan(gate));
  assert.deepEqual(takeDecisions(metrics), [
    'hook deny block 2',
    'policy deny block 2',
    'policy escalate allow 2',
    'policy escalate block 2',
  ]);
});

test('[A50] with delta temporality the same labels are counted again after each export', () => {
  const metrics = new SpanMetrics(parseConventions(undefined), true);
  for (const count of [1, 2]) {
    for (let i = 0; i < count; i++)
      metrics.add(createGateSpan({ component: 'policy', verdict: 'deny', action: 'block' }));
    assert.deepEqual(takeDecisions(metrics), [`policy deny block ${count}`]);
  }
  assert.deepEqual(takeDecisions(metrics), []);
});
