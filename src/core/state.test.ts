// The fold: how each fact changes the state, and that no rule of a user can break it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createCoreFixture, replyWithText, replyWithCalls, createTestTool } from '../../test/support/core-fixture.ts';
import {
  fold,
  FairleadError,
  historyError,
  runStateView,
  toArray,
  partTokens,
  modelText,
  type Event,
  type Fact,
  type Rule,
  type RunState,
} from './index.ts';

/** The state after these facts. */
function after(facts: readonly Fact[], rules: readonly Rule[] = []): RunState {
  const events = facts.map((fact, i): Event => ({
    ...fact,
    seq: i + 1,
    id: `e${i + 1}`,
    parent: i ? `e${i}` : null,
    time: '',
  }));
  return fold(runStateView(rules), events);
}

const started: Fact = { type: 'session-started', session: 's' };
const remark: Fact = { type: 'annotation-added', key: 'k', value: 1 };

test('a rule that throws or returns an invalid note does not stop the fold: a note reports it, and the other rules run', () => {
  const broken: readonly Rule[] = [
    () => {
      throw new Error('not so pure');
    },
    () => {
      throw Object.create(null);
    },
    (() => undefined) as unknown as Rule,
    (() => [{ key: 'k' }]) as unknown as Rule,
    () => [{ key: 'sound', text: 'heard' }],
  ];
  const state = after([started, remark], broken);
  assert.deepEqual(
    state.queue.map(({ key }) => key),
    ['rule-failed/1', 'rule-failed/2', 'rule-failed/3', 'rule-failed/4', 'sound'],
  );
  assert.match(state.queue[0]?.text ?? '', /not so pure/);
  assert.equal(state.seq, 2);
});

test('a run with a rule that always throws continues, reports it to the model, and folds again from its log', async () => {
  const rule: Rule = (event) => {
    if (event.type === 'tool-ended') throw new Error('cannot count');
    return [];
  };
  const { run, log, requests, agent } = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('done')],
    tools: [createTestTool('look', 'read', () => 'seen')],
    rules: [rule],
  });
  const state = await run();
  assert.equal(state.ended?.reason, 'answered');
  assert.match(JSON.stringify(requests[1]), /rule-failed\/1.*cannot count/);
  const again = fold(runStateView(agent.rules), JSON.parse(JSON.stringify(log.events)) as Event[]);
  assert.deepEqual({ ...again, messages: toArray(again.messages) }, { ...state, messages: toArray(state.messages) });
});

test('a fact of an unknown type is refused with its name, not folded', () => {
  assert.throws(
    () => after([started, { type: 'thing-happened' } as unknown as Fact]),
    (error) =>
      error instanceof FairleadError && error.code === 'store/unknown-fact' && /thing-happened/.test(error.message),
  );
});

const twoCalls: readonly Fact[] = [
  started,
  { type: 'turn-started', turn: 1, inputs: [], notes: [{ key: 'k', text: 'go' }] },
  {
    type: 'turn-ended',
    turn: 1,
    message: {
      role: 'assistant',
      parts: ['a', 'b'].map((id) => ({ type: 'tool-call', id, tool: 't', input: {} })),
    },
    finishReason: 'tool-calls',
    usage: {},
    model: 'm',
    ms: 1,
  },
];
const ended = (call: string, text: string): Fact => ({ type: 'tool-ended', call, outcome: 'ok', text, ms: 1 });

test('[A10] results that arrive out of order, twice or without a call give each call one result, in call order', () => {
  const state = after([
    ...twoCalls,
    ended('b', 'second'),
    ended('b', 'second again'),
    ended('nobody', '?'),
    ended('a', 'first'),
    ended('a', 'late'),
  ]);
  const messages = toArray(state.messages);
  assert.equal(historyError(messages), undefined);
  assert.deepEqual(
    messages[2]?.parts.map((part) => part.type === 'tool-result' && [part.id, part.text]),
    [
      ['a', 'first'],
      ['b', 'second'],
    ],
  );
  assert.equal(messages.length, 3);
});

test('the usage of a sub-agent is charged in addition to the call, and its time once', () => {
  const key: Fact = { type: 'tool-started', call: 'a', tool: 't', key: 'k' };
  const spent = { turns: 3, calls: 2, usd: 0.5, ms: 0 };
  const state = after([...twoCalls, key, { ...ended('a', 'x'), ms: 40, spent } as Fact]);
  const { turns, calls: made, usd, ms } = state.spent;
  assert.deepEqual([turns, made, usd, ms], [4, 3, 0.5, 41]);
});

test('an approval without a question changes nothing', () => {
  const state = after([...twoCalls, { type: 'approval-resolved', call: 'a', allowed: true }]);
  assert.deepEqual(state.calls, after(twoCalls).calls);
});

test('a rewind to before the end of a call leaves a valid history, no run and no queued input', () => {
  const state = after([
    ...twoCalls,
    { type: 'input-received', input: 'i', how: 'steer', parts: [{ type: 'text', text: 'x' }] },
    { type: 'branch-started', from: 'e3', reason: 'rewound' },
  ]);
  assert.equal(historyError(toArray(state.messages)), undefined);
  assert.deepEqual(
    [state.run, state.pending, state.queue, state.calls, state.needsTurn],
    [undefined, [], [], [], false],
  );
});

test('a new run resets the counters of the last one, and keeps the totals of the session', async () => {
  const { run, startRun, head } = await createCoreFixture({
    replies: [replyWithText('cut', 'length'), replyWithText('whole')],
  });
  assert.equal((await run()).ended?.reason, 'truncated');
  await startRun('go on');
  const { spent, total, truncated, ended: end } = head.state;
  assert.deepEqual([spent.turns, total.turns, truncated, end], [0, 1, false, undefined]);
  assert.equal((await run()).ended?.reason, 'answered');
});

test('a run without input does nothing', () => {
  const limits = { turns: 5, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 0, outputChars: 100 };
  const state = after([started, { type: 'run-started', run: 'r', limits }]);
  assert.deepEqual(
    [state.needsTurn, state.pending, state.calls, state.verified, state.inTurn],
    [false, [], [], false, false],
  );
});

test('tokens are estimated from everything a model reads, including names and arguments of calls', () => {
  assert.equal(partTokens([]), 0);
  assert.equal(partTokens([{ type: 'text', text: 'x'.repeat(40) }]), 10);
  assert.equal(partTokens([{ type: 'tool-call', id: 'c', tool: 'look', input: { a: 1 } }]), 3);
  assert.equal(partTokens([{ type: 'tool-result', id: 'c', tool: 'look', text: '12345678', failed: false }]), 2);
  assert.equal(
    modelText({ role: 'assistant', parts: [{ type: 'tool-call', id: 'c', tool: 'look', input: [1] }] }),
    'look[1]',
  );
});
