// Which spans a response contains, how their texts are shortened, and how the tree says what ended badly.
import assert from 'node:assert/strict';
import test from 'node:test';
import { detailTextLimits, listTextLimits, selectSpans, shortenSpan } from './select-spans.ts';
import { getSpanStatus, sumTreeCost, arrangeSpans } from './span-tree.ts';
import type { Span } from './span.ts';

const span = (spanId: string, start: number, more: Partial<Span> = {}): Span => ({
  traceId: 't',
  spanId,
  session: 's',
  kind: 'tool',
  name: spanId,
  start,
  end: start + 10,
  details: {},
  ...more,
});

const { end: _, ...open } = span('run', 0, { kind: 'run' });
const spans: readonly Span[] = [
  open,
  span('turn1', 0, { kind: 'turn', parentId: 'run' }),
  span('a', 1, { parentId: 'turn1' }),
  span('turn2', 100, { kind: 'turn', parentId: 'run' }),
  span('b', 101, { parentId: 'turn2' }),
];
const ids = (selected: readonly Span[]): string => selected.map(({ spanId }) => spanId).join(' ');

test('[A23] the latest spans are selected with the spans above them, and those that had not ended at a time', () => {
  assert.equal(ids(selectSpans(spans, { maxSpans: 10 })), 'run turn1 a turn2 b');
  assert.equal(ids(selectSpans(spans, { maxSpans: 1 })), 'run turn2 b');
  assert.equal(ids(selectSpans(spans, { maxSpans: 10, since: 50 })), 'run turn2 b');
  assert.equal(ids(selectSpans(spans, { maxSpans: 10, since: 1000 })), 'run');
});

test('[A23] texts of a span in a list are short, and a detail has the result; messages are in neither', () => {
  const long = 'x'.repeat(1000);
  const full = span('a', 0, {
    errorMessage: long,
    content: { arguments: { path: 'a.ts', text: long }, result: long, explanation: long, input: [long] },
  });
  const short = shortenSpan(full, listTextLimits, false);
  assert.equal(short.errorMessage?.length, 301);
  assert.deepEqual(short.content, {
    arguments: { path: 'a.ts', text: `${'x'.repeat(160)}…` },
    explanation: `${'x'.repeat(300)}…`,
  });
  assert.deepEqual(shortenSpan(full, detailTextLimits, true).content, {
    arguments: { path: 'a.ts', text: long },
    explanation: long,
    result: long,
  });
});

test('[A23] a denied call, a rejected question and an error are told apart, and the cost of a tree is that of its requests', () => {
  const gate = (verdict: 'deny' | 'escalate', action: 'allow' | 'block'): Span =>
    span('g', 0, { kind: 'gate', details: { gate: { component: 'policy', verdict, action } } });
  assert.deepEqual(
    [
      gate('deny', 'block'),
      gate('escalate', 'block'),
      gate('escalate', 'allow'),
      span('t', 0, { error: 'failed' }),
      open,
    ].map(getSpanStatus),
    ['denied', 'denied', 'ok', 'failed', 'open'],
  );
  const model = (spanId: string, usd: number): Span =>
    span(spanId, 0, { kind: 'model', parentId: 'run', details: { usage: { input: 10, output: 2 }, usd } });
  const [tree] = arrangeSpans([open, model('m1', 0.5), model('m2', 0.25)]);
  assert.deepEqual(sumTreeCost(tree ?? assert.fail()), { input: 20, output: 4, usd: 0.75 });
});
