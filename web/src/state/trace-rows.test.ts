// Tests of the rows and the axis of the waterfall, and of the keys that move in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Span } from '../../../src/tracing/index.ts';
import { createTraceAxis, createTraceRows, createTraceTrees, findMove, mergeSpans } from './trace-rows.ts';

const span = (
  spanId: string,
  parentId: string | undefined,
  start: number,
  end: number,
  more: Partial<Span> = {},
): Span => ({
  traceId: 't',
  spanId,
  session: 's',
  kind: 'tool',
  name: spanId,
  start,
  end,
  details: {},
  ...(parentId === undefined ? {} : { parentId }),
  ...more,
});

const createSpans = (): readonly Span[] => [
  span('r1', undefined, 0, 100, { kind: 'run', details: { run: 'one' } }),
  span('t1', 'r1', 0, 60, { kind: 'turn' }),
  span('m1', 't1', 0, 40, { kind: 'model', details: { usage: { input: 10, output: 5 }, usd: 0.5 } }),
  span('g1', 't1', 50, 50, {
    kind: 'gate',
    details: { gate: { component: 'policy', verdict: 'deny', action: 'block' } },
  }),
  span('c1', 'r1', 90, 100, { kind: 'check', error: 'check-failed' }),
  span('r2', undefined, 10_000, 10_050, { kind: 'run', details: { run: 'two' } }),
];
const outline = (rows: ReturnType<typeof createTraceRows>): readonly string[] =>
  rows.map(({ span: { spanId }, depth, status }) => `${'-'.repeat(depth)}${spanId} ${status}`);

test('[A87] the waterfall has a row for each span with depth, cost, errors and denials; a closed row says what is below it', () => {
  const trees = createTraceTrees(createSpans());
  const rows = createTraceRows(trees, new Map());
  assert.deepEqual(outline(rows), ['r1 ok', '-t1 ok', '--m1 ok', '--g1 denied', '-c1 failed', 'r2 ok']);
  assert.deepEqual(rows[0]?.cost, { input: 10, output: 5, usd: 0.5 });
  assert.deepEqual(rows[1]?.cost.input, 0, 'an open turn shows no cost: its model call does');
  const closed = createTraceRows(trees, new Map([['t1', false]]));
  assert.deepEqual(outline(closed), ['r1 ok', '-t1 ok', '-c1 failed', 'r2 ok']);
  assert.deepEqual([closed[1]?.hidden, closed[1]?.cost.input], [{ failed: 0, denied: 1 }, 10]);
  assert.deepEqual(outline(createTraceRows(createTraceTrees(createSpans(), 'two'), new Map())), ['r2 ok']);
});

test('[A87] in a long trace turns are closed at first, except those with errors or denials', () => {
  const many = Array.from({ length: 300 }, (_, i) => span(`x${i}`, 't2', 70, 80));
  const turn = span('t2', 'r1', 60, 90, { kind: 'turn' });
  const rows = createTraceRows(createTraceTrees([...createSpans(), turn, ...many]), new Map());
  assert.deepEqual(
    outline(rows).filter((row) => /t\d|g1|x/.test(row)),
    ['-t1 ok', '--g1 denied', '-t2 ok'],
  );
});

test('[A87] the axis leaves out the time between runs, and a span that lasts ends now', () => {
  const axis = createTraceAxis(createTraceTrees(createSpans()), 10_050);
  assert.deepEqual([axis.total, axis.hasGaps], [150, true]);
  assert.deepEqual([0, 50, 100, 5000, 10_000, 10_050].map(axis.position), [0, 50, 100, 100, 100, 150]);
  const { end: _, ...open } = span('r', undefined, 100, 100, { kind: 'run' });
  assert.equal(createTraceAxis(createTraceTrees([open]), 400).total, 300);
});

test('[A87] spans that changed replace those of before, in the order of their starts', () => {
  const before = [span('a', undefined, 5, 5), span('b', undefined, 9, 9)];
  const after = mergeSpans(before, [span('b', undefined, 9, 20), span('c', undefined, 7, 8)]);
  assert.deepEqual(
    after.map(({ spanId, end }) => [spanId, end]),
    [
      ['a', 5],
      ['c', 8],
      ['b', 20],
    ],
  );
});

test('[A87] arrow keys move between rows, open and close them, and go to the parent', () => {
  const move = (key: string, isOpen?: boolean): unknown =>
    findMove(key, 4, { parent: 2, ...(isOpen === undefined ? {} : { isOpen }) }, 10, 30);
  assert.deepEqual(
    ['ArrowDown', 'ArrowUp', 'Home', 'End', 'PageDown'].map((key) => move(key)),
    [5, 3, 0, 29, 14],
  );
  assert.deepEqual([move('ArrowRight', false), move('ArrowRight', true), move('ArrowRight')], ['open', 5, 4]);
  assert.deepEqual([move('ArrowLeft', true), move('ArrowLeft', false), move('Enter', true)], ['close', 2, 'close']);
  assert.equal(move('x'), undefined);
});
