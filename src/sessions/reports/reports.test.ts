// Reports: what fills the context window, why the cache missed, and the cost.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  fold,
  runStateView,
  type Event,
  type Fact,
  type Message,
  type RunState,
  type Usage,
} from '../../core/index.ts';
import { formatContextBreakdown, reportCosts, formatCosts, measureContext } from './index.ts';

/** Events in sequence, a minute apart, unless they set their parent and time. */
function eventsOf(facts: readonly (Fact & { readonly after?: string; readonly minute?: number })[]): readonly Event[] {
  return facts.map(({ after, minute, ...fact }, i): Event => ({
    ...fact,
    seq: i + 1,
    id: `e${i + 1}`,
    parent: after ?? (i === 0 ? null : `e${i}`),
    time: new Date(Date.UTC(2026, 0, 1, 0, minute ?? i)).toISOString(),
  }));
}

const epoch = (
  reason: 'started' | 'compacted' | 'model-changed' | 'edited',
  model = 'm',
  more = {},
): Fact & { type: 'epoch-started' } => ({
  type: 'epoch-started',
  epoch: 1,
  reason,
  system: 'x'.repeat(400),
  tools: [],
  model,
  ...more,
});
const answer = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const turn = (number: number, usage: Usage, usd?: number, more = {}): Fact & { type: 'turn-ended' } => ({
  type: 'turn-ended',
  turn: number,
  message: answer('yes'),
  finishReason: 'stop',
  usage,
  ...(usd === undefined ? {} : { usd }),
  model: 'm',
  ms: 1000,
  ...more,
});
const start: Fact = { type: 'session-started', session: 's' };

test('the context window is divided by content type, and the parts add up', () => {
  const tool = { name: 't', description: 'd'.repeat(100), input: {} };
  const messages: readonly Message[] = [
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'w'.repeat(40) },
        { type: 'file', mediaType: 'image/png', data: 'aa' },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'r'.repeat(80) },
        { type: 'tool-call', id: 'c', tool: 't', input: {} },
      ],
    },
    {
      role: 'tool',
      parts: [{ type: 'tool-result', id: 'c', tool: 't', text: `big ${'o'.repeat(4000)}`, failed: false }],
    },
    answer('a'.repeat(20)),
  ];
  const baseline = { session: 's', messages, turn: 1, loaded: [], queue: [], total: runStateView().initial.total };
  const state: RunState = fold(
    runStateView(),
    eventsOf([start, epoch('started', 'm', { tools: [tool], baseline, system: `${'s'.repeat(200)}INSTRUCTIONS` })]),
  );
  const fill = measureContext(state, { instructions: 'INSTRUCTIONS', window: 8000 });
  const shares = Object.fromEntries(fill.shares.map(({ category, tokens }) => [category, tokens]));
  assert.deepEqual(shares, {
    'system text': 50,
    'instructions from files': 3,
    tools: Math.ceil(JSON.stringify(tool).length / 4),
    'your messages and notes': 10,
    files: 1500,
    reasoning: 20,
    'tool calls': 1,
    'tool results': 1001,
    answers: 5,
  });
  assert.equal(
    fill.tokens,
    Object.values(shares).reduce((sum, each) => sum + each, 0),
  );
  assert.ok(Math.abs(fill.countedTokens - fill.tokens) <= 1, 'the core counts the same, except for rounding');
  assert.equal(fill.largest[0]?.tool, 't');
  const text = formatContextBreakdown(fill);
  assert.match(text, /^Context: 2,6\d\d tokens of 8,000 \(33%\)\. By our estimate:\n\s+1,500\s+57%  files\n/);
  assert.match(text, /Largest tool results:\n\s+1,001  t: big ooo/);
  assert.match(formatContextBreakdown(measureContext(state)), /window whose size is unknown/);
});

test('costs are added up for every branch and model, and unknown costs are listed separately', () => {
  const error = { code: 'x', message: 'x', blame: 'provider', retry: false } as const;
  const all = reportCosts(
    eventsOf([
      start,
      epoch('started'),
      turn(1, { input: 100, output: 10, cacheRead: 40 }, 0.5),
      turn(2, { input: 100, output: 10 }, 0.25, { estimated: true }),
      { type: 'branch-started', from: 'e3', reason: 'rewound', after: 'e3' },
      epoch('model-changed', 'other'),
      turn(2, { output: 5 }, undefined, { model: 'other' }),
      { type: 'turn-failed', turn: 3, error, usage: { input: 7, output: 1 }, usd: 0.1, ms: 1 },
      { type: 'turn-failed', turn: 4, error, ms: 1 },
      {
        type: 'tool-ended',
        call: 'c',
        outcome: 'ok',
        text: '',
        ms: 1,
        spent: { turns: 2, input: 30, usd: 0.01, turnsWithoutPrice: 1 },
      },
    ]),
  );
  const { total, models, turns } = all;
  assert.deepEqual(
    { ...total, usd: total.usd.toFixed(4), estimatedUsd: total.estimatedUsd.toFixed(4) },
    {
      turns: 6,
      input: 237,
      output: 26,
      cacheRead: 40,
      cacheWrite: 0,
      usd: '0.5100',
      estimatedUsd: '0.3500',
      unpriced: 2,
      uncounted: 1,
    },
  );
  assert.deepEqual(
    models.map(({ model, cost }) => [model, cost.turns]),
    [
      ['m', 2],
      ['other', 2],
      ['sub-agents', 2],
    ],
  );
  assert.deepEqual(
    turns.map(({ turn: number, abandoned, failed }) => [number, abandoned, failed]),
    [
      [1, false, false],
      [2, true, false],
      [2, false, false],
      [3, false, true],
      [0, false, false],
    ],
  );
  const text = formatCosts(all);
  assert.match(
    text,
    /^Total: \$0\.5100 and about \$0\.3500 by estimate and 2 turns of unknown price, 6 turns, 1 uncounted, 237 tokens in \(40 from the cache\), 26 out\n/,
  );
  assert.match(text, /Of these, on branches that are no longer continued: 1\./);
  assert.equal(formatCosts(reportCosts([])), 'Nothing was used yet.');
  assert.match(
    formatCosts(reportCosts(eventsOf([start, epoch('started'), turn(1, {})]))),
    /^Total: price unknown, 1 turn, 1 uncounted, 0 tokens in, 0 out/,
  );
});
