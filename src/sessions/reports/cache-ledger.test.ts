// The cache ledger: hits and misses of each turn, what they saved or cost, and why a prefix broke.
import assert from 'node:assert/strict';
import test from 'node:test';
import { runStateView, type Event, type Fact, type Usage } from '../../core/index.ts';
import { formatCacheLedger, formatContextBreakdown, measureContext, reportCache } from './index.ts';

type Given = Fact & { readonly after?: string; readonly minute?: number };

/** Events in sequence, a minute apart, unless they set their parent and time. */
const eventsOf = (facts: readonly Given[]): readonly Event[] =>
  facts.map(({ after, minute, ...fact }, i): Event => ({
    ...fact,
    seq: i + 1,
    id: `e${i + 1}`,
    parent: after ?? (i === 0 ? null : `e${i}`),
    time: new Date(Date.UTC(2026, 0, 1, 0, minute ?? i)).toISOString(),
  }));

const tool = (name: string, description = ''): { name: string; description: string; input: object } => ({
  name,
  description,
  input: {},
});
const epoch = (reason: 'started' | 'compacted' | 'model-changed' | 'agent-changed' | 'edited', more = {}): Given => ({
  type: 'epoch-started',
  epoch: 1,
  reason,
  system: 's',
  tools: [],
  model: 'm',
  modelProvider: 'p',
  ...more,
});
const turn = (number: number, usage: Usage, minute?: number): Given => ({
  type: 'turn-ended',
  turn: number,
  message: { role: 'assistant', parts: [] },
  finishReason: 'stop',
  usage,
  model: 'm',
  ms: 1000,
  ...(minute === undefined ? {} : { minute }),
});
const start: Given = { type: 'session-started', session: 's' };

test('[P87] each turn is a hit or a miss with its reason, and the tokens and the money that it saved or lost', () => {
  const priceOf = (): { input: number; output: number; cacheRead: number; cacheWrite: number } => ({
    input: 10,
    output: 1,
    cacheRead: 1,
    cacheWrite: 12.5,
  });
  const ledger = reportCache(
    eventsOf([
      start,
      epoch('started'),
      turn(1, { input: 2000, cacheRead: 0, cacheWrite: 2000 }),
      turn(2, { input: 2500, cacheRead: 2000, cacheWrite: 500 }),
      epoch('compacted'),
      turn(3, { input: 900, cacheRead: 400, cacheWrite: 0 }),
      turn(4, { input: 1000, cacheRead: 900 }),
      turn(5, { input: 1100, cacheRead: 100 }, 60),
      turn(6, { input: 1100, cacheRead: 0 }, 61),
      turn(7, {}, 62),
    ]),
    { priceOf },
  );
  assert.deepEqual(
    ledger.turns.map(({ turn: number, result, breaks, lostTokens }) => [number, result, breaks.join(), lostTokens]),
    [
      [1, 'first', '', 0],
      [2, 'hit', '', 0],
      [3, 'miss', 'compaction', 1600],
      [4, 'hit', '', 0],
      [5, 'miss', 'expired', 800],
      [6, 'miss', 'unknown', 100],
      [7, 'unreported', '', 0],
    ],
  );
  const [first, second, third] = ledger.turns;
  assert.equal(first?.savedUsd, -0.005, 'writing to the cache costs more than the input');
  assert.equal(second?.savedUsd, (2000 * 9 - 500 * 2.5) / 1e6);
  assert.equal(third?.lostUsd, (1600 * 9) / 1e6);
  assert.deepEqual([ledger.hits, ledger.misses, ledger.cacheRead], [2, 3, 3400]);
  const text = formatCacheLedger(ledger);
  assert.match(text, /\n3 +miss +900 +400 +0 +\$0\.0036\d* +1,600 lost: the conversation was made shorter\n/);
  assert.match(
    text,
    /2 hits and 3 misses in 7 turns: 3,400 tokens read \(40 % of the input\), 2,500 written, 2,500 lost\. Saved \$0\.0244, lost \$0\.0225\.$/,
  );
});

test('[P87] a changed system prompt, changed tools, another model and an edited history are told apart', () => {
  const after = (change: Given): readonly [string, string | undefined] => {
    const { turns } = reportCache(
      eventsOf([
        start,
        epoch('started', { tools: [tool('a'), tool('b')] }),
        turn(1, { input: 2000, cacheRead: 1500 }),
        change,
        turn(2, { input: 2000, cacheRead: 0 }),
      ]),
    );
    return [turns[1]?.breaks.join() ?? '', turns[1]?.detail];
  };
  const tools = [tool('a'), tool('b')];
  assert.deepEqual(after(epoch('agent-changed', { tools, system: 'other' })), ['system-prompt', undefined]);
  assert.deepEqual(after(epoch('agent-changed', { tools: [tool('a', 'new'), tool('c')] })), ['tools', '+c -b ~a']);
  assert.deepEqual(after(epoch('agent-changed', { tools: [tool('b'), tool('a')] })), ['tools', 'another order']);
  assert.deepEqual(after(epoch('model-changed', { tools, model: 'n' })), ['model', undefined]);
  assert.deepEqual(after(epoch('edited', { tools })), ['edited-history', undefined]);
  assert.deepEqual(after(epoch('model-changed', { model: 'n', system: 'x', tools: [] })), [
    'model,system-prompt,tools',
    '-a -b',
  ]);
});

test('[P87] a short prompt that no provider caches is no loss, and only the current branch counts', () => {
  const small = reportCache(
    eventsOf([start, epoch('started'), turn(1, { input: 200, cacheRead: 0 }), turn(2, { input: 300, cacheRead: 0 })]),
  );
  assert.deepEqual([small.turns[1]?.breaks, small.lostTokens, small.savedUsd], [['small'], 0, undefined]);
  const branched = reportCache(
    eventsOf([
      start,
      epoch('started'),
      turn(1, { input: 600, cacheRead: 500 }),
      turn(2, { cacheRead: 0 }),
      { type: 'branch-started', from: 'e3', reason: 'rewound', after: 'e3' },
      epoch('edited'),
      turn(2, { cacheRead: 499 }),
    ]),
  );
  assert.deepEqual(
    branched.turns.map(({ breaks }) => breaks.join()),
    ['', 'edited-history'],
  );
});

test('the context report names the turns with cache misses', () => {
  const breakdown = measureContext(runStateView().initial);
  const format = (facts: readonly Given[]): string => formatContextBreakdown(breakdown, reportCache(eventsOf(facts)));
  const missed = format([
    start,
    epoch('started'),
    turn(1, { cacheRead: 1000 }),
    epoch('compacted'),
    turn(2, { cacheRead: 400 }),
  ]);
  assert.match(missed, /1 of 2 turns read less[^]*turn 2: 1,000 to 400 tokens: the conversation was made shorter\./);
  assert.match(format([start, epoch('started'), turn(1, {}), turn(2, {})]), /does not say what it read/);
  assert.match(
    format([start, epoch('started'), turn(1, { cacheRead: 1 }), turn(2, { cacheRead: 1 })]),
    /at least as much/,
  );
  assert.match(format([start]), /no turn yet/);
});
