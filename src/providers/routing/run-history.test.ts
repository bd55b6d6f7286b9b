// Tests of the run history of a log, and of the savings report.
import assert from 'node:assert/strict';
import test from 'node:test';
import { fold, type Event, type Fact, type StopReason } from '../../core/index.ts';
import { runHistoryView, type PastRun } from './run-history.ts';
import { savingsOf } from './savings.ts';

const eventsOf = (facts: readonly Fact[]): readonly Event[] =>
  facts.map((fact, i) => ({
    ...fact,
    seq: i + 1,
    id: `e${i}`,
    parent: i ? `e${i - 1}` : null,
    time: '2026-01-01T00:00:00.000Z',
  }));

const epochStarted = (model: string): Fact => ({
  type: 'epoch-started',
  epoch: 1,
  reason: 'model-changed',
  system: '',
  tools: [],
  model,
});
const inputReceived = (text: string): Fact => ({
  type: 'input-received',
  input: 'i',
  how: 'prompt',
  parts: [{ type: 'text', text }],
});
const turnEnded = (model: string, input: number, output: number, usd?: number): Fact => ({
  type: 'turn-ended',
  turn: 1,
  message: { role: 'assistant', parts: [] },
  finishReason: 'stop',
  usage: { input, output },
  ...(usd === undefined ? {} : { usd }),
  model,
  ms: 500,
});
const runEnded = (reason: StopReason, code?: string): Fact => ({
  type: 'run-ended',
  reason,
  ...(code === undefined ? {} : { error: { code, message: '', blame: 'provider', retry: false } }),
});

const foldRuns = (facts: readonly Fact[]): readonly PastRun[] => fold(runHistoryView, eventsOf(facts)).runs;

test('a run is recorded with its model, its kind and its outcome; cancelled runs are not counted', () => {
  const runs = foldRuns([
    epochStarted('small'),
    inputReceived('fix the crash'),
    turnEnded('small', 1, 1),
    turnEnded('small', 1, 1),
    runEnded('answered'),
    { type: 'annotation-added', key: 'routing/chosen', value: { model: 'ollama/small' } },
    inputReceived('design it'),
    runEnded('stuck'),
    inputReceived('more'),
    runEnded('cancelled'),
    runEnded('provider-error', 'provider/unreachable'),
    runEnded('provider-error', 'provider/bad-request'),
    runEnded('error-threshold', 'provider/overloaded'),
    runEnded('error-threshold'),
    epochStarted('large'),
    runEnded('task-complete'),
  ]);
  assert.deepEqual(
    runs.map(({ model, name, kind, ended: how, turns, ms }) => [model, name, kind, how, turns, ms]),
    [
      ['small', undefined, 'fix', 'well', 2, 1000],
      ['small', 'ollama/small', 'design', 'badly', 0, 0],
      ['small', 'ollama/small', 'other', 'unreachable', 0, 0],
      ['small', 'ollama/small', 'other', 'unreachable', 0, 0],
      ['small', 'ollama/small', 'other', 'badly', 0, 0],
      ['large', undefined, 'other', 'well', 0, 0],
    ],
  );
});

test('only the latest runs are kept, also across epochs', () => {
  const state = fold(
    runHistoryView,
    eventsOf([epochStarted('m'), ...Array.from({ length: 200 }, () => runEnded('answered'))]),
  );
  assert.equal(state.runs.length, 64);
  assert.deepEqual(runHistoryView.restore?.(JSON.parse(JSON.stringify(runHistoryView.serialize?.(state)))), state);
  assert.equal(runHistoryView.restore?.('nonsense'), undefined);
});

test('[P35] the estimated cost is between a full cache and no cache; unknown prices stay unknown', () => {
  const events = eventsOf([
    epochStarted('small'),
    turnEnded('small', 1000, 100, 0),
    turnEnded('small', 2000, 100, 0),
    turnEnded('large', 3000, 100, 0.5),
    turnEnded('odd', 10, 10),
  ]);
  const price = { input: 10, output: 100, cacheRead: 1 };
  const { instead, spent, unpriced, shares } = savingsOf([events], price);
  assert.equal(instead?.most, (6010 * 10 + 310 * 100) / 1e6);
  const read = 1100 + 2100 + 10;
  assert.ok(Math.abs((instead?.least ?? 0) - ((6010 - read) * 10 + read + 310 * 100) / 1e6) < 1e-12);
  assert.deepEqual(
    [spent, unpriced, shares.map(({ model, turns }) => [model, turns])],
    [
      0.5,
      1,
      [
        ['small', 2],
        ['large', 1],
        ['odd', 1],
      ],
    ],
  );
  assert.equal(savingsOf([events], undefined).instead, undefined);
});
