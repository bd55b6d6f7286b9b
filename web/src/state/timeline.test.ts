// A session as a timeline: real logs of the real loop, folded by the page.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event, Fact, FleetRun, Message } from '../../../src/core/index.ts';
import { wilsonInterval as ours } from '../../../src/fleet/health/rates.ts';
import { parseRoute, linkTo } from './router.ts';
import { inheritRunSettings } from './inherited-settings.ts';
import { buildHealthSeries, wilsonInterval } from './health-series.ts';
import {
  followsHead,
  isClientSideCall,
  getPendingApproval,
  applyEvent,
  buildTimeline,
  type TimelineItem,
} from './timeline.ts';

/** Facts in the order given, each after the one before, unless it names another. */
const buildLog = (...facts: readonly (Fact & { readonly after?: number })[]): Event[] =>
  facts.map(({ after, ...fact }, i) => ({
    ...(fact as Fact),
    seq: i + 1,
    id: `e${i + 1}`,
    parent: after === undefined ? (i === 0 ? null : `e${i}`) : `e${after}`,
    time: new Date(1000 * i).toISOString(),
  }));

const limits = { turns: 9, errors: 3, maxRetriesPerAnswer: 1, stuckAfter: 3, outputChars: 1000 };
const assistantMessage = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const startFacts: readonly Fact[] = [
  { type: 'session-started', session: 's' },
  { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools: [], model: 'm' },
  { type: 'input-received', input: 'i1', how: 'prompt', parts: [{ type: 'text', text: 'Go' }] },
  { type: 'run-started', run: 'r1', limits },
  { type: 'turn-started', turn: 1, inputs: ['i1'], notes: [{ key: 'rule/x', text: 'Mind the gap' }] },
];
const callFact: Fact = {
  type: 'turn-ended',
  turn: 1,
  message: { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', tool: 'rm', input: { path: 'a' } }] },
  finishReason: 'tool-calls',
  usage: { input: 100, output: 10, cacheRead: 80 },
  usd: 0.01,
  model: 'm',
  ms: 5,
};
const getTurn = (items: readonly TimelineItem[]): Extract<TimelineItem, { type: 'turn' }> => {
  const found = items.find((item) => item.type === 'turn');
  assert.ok(found?.type === 'turn');
  return found;
};

test('[A87] a turn holds its notes, its cost and its calls, and a call its question, its answer and its result', () => {
  const asked = buildLog(...startFacts, callFact, { type: 'approval-requested', call: 'c1', question: 'May it?' });
  const { items, running } = buildTimeline(asked);
  assert.ok(running);
  const turn = getTurn(items);
  assert.deepEqual([turn.usd, turn.usage?.cacheRead, turn.notes[0]?.key], [0.01, 80, 'rule/x']);
  assert.ok(turn.calls[0] && getPendingApproval(turn.calls[0])?.question === 'May it?');
  const settled = buildLog(
    ...startFacts,
    callFact,
    { type: 'approval-requested', call: 'c1', question: 'May it?' },
    { type: 'approval-resolved', call: 'c1', allowed: true, by: 'op' },
    { type: 'tool-started', call: 'c1', tool: 'rm', key: 'k' },
    { type: 'tool-ended', call: 'c1', outcome: 'ok', text: 'gone', ms: 1 },
  );
  const call = getTurn(buildTimeline(settled).items).calls[0];
  assert.ok(call && getPendingApproval(call) === undefined);
  assert.deepEqual(
    [call.approvals[0]?.answer?.by, call.result?.text, getTurn(buildTimeline(settled).items).at],
    ['op', 'gone', 'e10'],
  );
});

test('[A87] a call whose outcome is unknown asks that, and asks no more once it is answered', () => {
  const events = buildLog(
    ...startFacts,
    callFact,
    { type: 'tool-started', call: 'c1', tool: 'rm', key: 'k' },
    { type: 'approval-requested', call: 'c1', question: 'Did it?', kind: 'unknown-outcome' },
  );
  const call = getTurn(buildTimeline(events).items).calls[0];
  assert.equal(call && getPendingApproval(call)?.kind, 'unknown-outcome');
});

test('[A87] a call that a run ended with is the client’s to make, and no person is asked about it', () => {
  const handed: readonly Fact[] = [
    ...startFacts,
    callFact,
    { type: 'tool-started', call: 'c1', tool: 'rm', key: 'k' },
    { type: 'approval-requested', call: 'c1', question: 'It was handed out.', kind: 'client-tool' },
    { type: 'run-ended', reason: 'answered' },
  ];
  const call = getTurn(buildTimeline(buildLog(...handed)).items).calls[0];
  assert.ok(call && isClientSideCall(call) && getPendingApproval(call) === undefined);
  const brought = buildLog(...handed, { type: 'tool-ended', call: 'c1', outcome: 'ok', text: 'done', ms: 0 });
  const [done] = getTurn(buildTimeline(brought).items).calls;
  assert.ok(done && !isClientSideCall(done) && done.result?.text === 'done');
});

test('[A87] folding event by event gives what folding all of them gives, and a branch shows its own path only', () => {
  const facts = [
    ...startFacts,
    { ...callFact, message: assistantMessage('first') },
    { type: 'run-ended', reason: 'answered' } as Fact,
    { type: 'branch-started', from: 'e4', reason: 'rewound', after: 4 } as Fact & { after: number },
    { type: 'input-received', input: 'i2', how: 'prompt', parts: [{ type: 'text', text: 'Again' }] } as Fact,
  ];
  const events = buildLog(...facts);
  let timeline = buildTimeline([]);
  for (const [i, event] of events.entries())
    timeline = followsHead(timeline, event) ? applyEvent(timeline, event) : buildTimeline(events.slice(0, i + 1));
  const whole = buildTimeline(events);
  assert.deepEqual(timeline.items, whole.items);
  assert.equal(whole.offBranchCount, 3);
  assert.ok(!whole.items.some((item) => item.type === 'turn'));
});

test('[A87] an edit shows the conversation as it was left', () => {
  const baseline = { session: 's', messages: [assistantMessage('edited')], turn: 0, loaded: [], queue: [], total: {} };
  const edited = buildLog(...startFacts, { ...callFact, message: assistantMessage('old') }, {
    type: 'epoch-started',
    epoch: 2,
    reason: 'edited',
    system: '',
    tools: [],
    model: 'm',
    baseline,
  } as unknown as Fact);
  const { items } = buildTimeline(edited);
  assert.deepEqual(
    items.map(({ type }) => type),
    ['mark', 'message'],
  );
});

test('[A87] the rates of the charts are those of health, and a stretch in which nothing ended is a gap', () => {
  for (const [good, total] of [
    [0, 10],
    [3, 7],
    [10, 10],
  ] as const) {
    const [low, high] = wilsonInterval(good, total) ?? [Number.NaN, Number.NaN];
    const [wantedLow, wantedHigh] = ours({ good, total });
    assert.ok(Math.abs(low - wantedLow) < 1e-9 && Math.abs(high - wantedHigh) < 1e-9);
  }
  const tally = { from: '2026-01-01T00:00:00Z', usd: 0, tokens: 0, queueMs: undefined, durationMs: undefined };
  const { errors, usd } = buildHealthSeries([
    { ...tally, ended: 5, reasons: { answered: 3, stuck: 1, cancelled: 1 } },
    { ...tally, ended: 0, reasons: {} },
  ]);
  assert.deepEqual(
    [errors.rate, usd],
    [
      [0.25, null],
      [0, null],
    ],
  );
});

test('the address of a screen leads back to it, and a strange one to the first', () => {
  assert.deepEqual(parseRoute(linkTo('runs', 'a/b c')), { screen: 'runs', id: 'a/b c', query: '' });
  assert.deepEqual(parseRoute('#/runs?status=waiting'), { screen: 'runs', query: 'status=waiting' });
  assert.equal(parseRoute('#/nowhere').screen, 'ask');
});

test('[A87] a forked session says which one it is a copy of, and what was said there', () => {
  const messages = [assistantMessage('Low water at six.')];
  const baseline = { session: 's', messages, turn: 0, loaded: [], queue: [], total: {} };
  const items = buildTimeline(
    buildLog({ type: 'session-started', session: 's', from: { session: 'origin', event: 'e1' } }, {
      type: 'epoch-started',
      epoch: 2,
      reason: 'started',
      system: '',
      tools: [],
      model: 'm',
      baseline,
    } as unknown as Fact),
  ).items.map((item) =>
    item.type === 'mark' ? [item.text, item.session] : item.type === 'message' ? item.message : item.type,
  );
  assert.deepEqual(items, [['Begun as a copy of', 'origin'], ...messages]);
});

test('[A87] what ended a run and what changed in a session is said in a person’s words, and what went wrong is said once', () => {
  const error = {
    code: 'provider/unauthorized',
    message: 'The key was refused.',
    blame: 'user',
    retry: false,
  } as const;
  const marks = (...facts: readonly Fact[]): readonly string[] =>
    buildTimeline(buildLog(...startFacts, ...facts)).items.flatMap((item) => (item.type === 'mark' ? [item.text] : []));
  const epoch = { type: 'epoch-started', epoch: 2, system: '', tools: [], model: 'm' } as const;
  assert.deepEqual(
    marks({ type: 'turn-failed', turn: 1, error, ms: 1 } as unknown as Fact, { ...epoch, reason: 'compacted' }, {
      type: 'run-ended',
      reason: 'provider-error',
      error,
    } as unknown as Fact),
    ['What was said before was made shorter, to fit the model', 'Ended: model failed'],
  );
  assert.deepEqual(marks({ type: 'run-ended', reason: 'money-budget', detail: 'It may spend $1.' }), [
    'Ended: out of money. It may spend $1.',
  ]);
});

test('[A87] a further run of a session has the model, the folder and the tenant of the one before it, but no leave and no model that failed', () => {
  const before = (turns: number): FleetRun =>
    ({
      tenant: 'acme',
      settings: { model: 'beta', folder: '/there', auto: true },
      outcome: { reason: 'answered', text: '', spent: { turns } },
    }) as unknown as FleetRun;
  assert.deepEqual(inheritRunSettings(before(1)), { tenant: 'acme', model: 'beta', folder: '/there' });
  assert.deepEqual(inheritRunSettings(before(0)), { tenant: 'acme', folder: '/there' });
  assert.deepEqual(inheritRunSettings(undefined), {});
});
