// Tests of the timeline of a session, its router, inherited settings and health series.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Event, Fact, FleetRun, Message } from '../../../src/core/index.ts';
import { wilsonInterval as ours } from '../../../src/fleet/health/statistics.ts';
import { parseRoute, linkTo } from './router.ts';
import { inheritRunSettings } from './inherited-settings.ts';
import { buildHealthSeries, wilsonInterval } from './health-series.ts';
import { followsHead, applyEvent, buildTimeline, type TimelineItem } from './timeline.ts';
import { getPendingApproval, isClientSideCall } from './timeline-call.ts';

/** Builds a log: each fact follows the previous one, unless `after` names another parent. */
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

test('[A87] a turn contains its notes, cost and calls, and a call contains its approval, answer and result', () => {
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

test('[A87] a call with an unknown outcome has a pending approval of that kind', () => {
  const events = buildLog(
    ...startFacts,
    callFact,
    { type: 'tool-started', call: 'c1', tool: 'rm', key: 'k' },
    { type: 'approval-requested', call: 'c1', question: 'Did it?', kind: 'unknown-outcome' },
  );
  const call = getTurn(buildTimeline(events).items).calls[0];
  assert.equal(call && getPendingApproval(call)?.kind, 'unknown-outcome');
});

test('[A87] a call of a client tool is executed by the client and has no pending approval', () => {
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

test('[A87] applying events one by one equals building the timeline at once, and a branch shows only its own path', () => {
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

test('[A87] an edit shows the edited messages', () => {
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

test('[A87] the rates of the charts equal those of the health report, and a period without ended runs is a gap', () => {
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

test('the link of a screen is parsed back to it, and an unknown one is not found', () => {
  assert.deepEqual(parseRoute(linkTo('runs', 'a/b c')), { screen: 'runs', id: 'a/b c', query: '' });
  assert.deepEqual(parseRoute('#/runs?status=waiting'), { screen: 'runs', query: 'status=waiting' });
  assert.equal(parseRoute('#/nowhere').screen, 'not-found');
});

test('[A87] a forked session links to its origin and shows the messages from there', () => {
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
  assert.deepEqual(items, [['Forked from', 'origin'], ...messages]);
});

test('[A87] the end of a run and changes of a session have plain labels, and an error is shown once', () => {
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
    ['The conversation was compacted to fit the model', 'Ended: model failed'],
  );
  assert.deepEqual(marks({ type: 'run-ended', reason: 'money-budget', detail: 'It may spend $1.' }), [
    'Ended: out of money. It may spend $1.',
  ]);
});

test('[A87] the next run of a session inherits model, folder and tenant of the previous one, but neither `auto` nor a model that failed', () => {
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

test('[A34] [A36] the text of a verified run is a draft until the verification replaces it by the text with struck claims', () => {
  const demanded: Fact = { type: 'annotation-added', key: 'verify/required', value: true };
  const answered: Fact = {
    type: 'turn-ended',
    turn: 1,
    message: assistantMessage('A. B.'),
    finishReason: 'stop',
    usage: {},
    model: 'm',
    ms: 1,
  };
  const turnOf = (...facts: readonly Fact[]): readonly unknown[] => {
    const [first, ...others] = startFacts;
    const turn = getTurn(buildTimeline(buildLog(...(first ? [first] : []), demanded, ...others, ...facts)).items);
    return [turn.isDraft, turn.checked];
  };
  const record: Fact = {
    type: 'annotation-added',
    key: 'verification',
    value: { draft: 'A. B.', answer: 'A. ~~B.~~' },
  };
  const passed: Fact = { type: 'check-ended', check: 'verify', verdict: { type: 'passed', text: 'A. [1]' } };
  const abstained: Fact = {
    type: 'check-ended',
    check: 'verify',
    verdict: { type: 'abstained', why: 'no', text: 'I don’t know: no' },
  };
  assert.deepEqual(turnOf(), [true, undefined]);
  assert.deepEqual(turnOf(answered), [true, undefined]);
  assert.deepEqual(turnOf(answered, record, abstained), [true, 'A. ~~B.~~']);
  assert.deepEqual(turnOf(answered, passed), [true, 'A. [1]']);
  assert.deepEqual(turnOf(answered, abstained), [true, 'I don’t know: no']);
  const json: Fact = {
    type: 'annotation-added',
    key: 'verification',
    value: { draft: '{"a":1}', answer: '{"a":1} [1]' },
  };
  assert.deepEqual(turnOf(answered, json), [true, undefined]);
});
