// The next step of a run: decided from the state, limits before each step, and one stop reason of a closed union at the end.
import assert from 'node:assert/strict';
import test from 'node:test';
import { toolOutput } from './tool-result.ts';
import {
  replyWithError,
  replyWithCalls,
  neverSettles,
  replyNever,
  createReplyProvider,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type FixtureReply,
  type CoreFixtureOptions,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import {
  FairleadError,
  fold,
  historyError,
  isStuck,
  epochStartedFact,
  nextStep,
  runLoop,
  runStateView,
  toArray,
  type ResolvedAgent,
  type Check,
  type Limits,
  type StopReason,
  type Tool,
  type Verdict,
} from './index.ts';

const retry = new FairleadError('provider/overloaded', 'Too busy.', { blame: 'provider', retry: true });
const look = createTestTool('look', 'read', () => 'seen');
const done = createTestTool('done', 'read', () => toolOutput({ text: 'ok', endsRun: true }));
const times = (n: number, line: FixtureReply): readonly FixtureReply[] => Array.from({ length: n }, () => line);
const looks = times(12, replyWithCalls('look'));
const check = (...verdicts: readonly Verdict[]): Check => {
  let i = 0;
  return { name: 'sound', run: () => verdicts[Math.min(i++, verdicts.length - 1)] as Verdict };
};

const ways: Readonly<Record<StopReason, CoreFixtureOptions & { readonly abort?: FairleadError | true }>> = {
  answered: {},
  'task-complete': { replies: [replyWithCalls('done')] },
  abstained: { checks: [check({ type: 'abstained', why: 'cannot tell' })] },
  truncated: { replies: [replyWithText('and so', 'length')] },
  'max-turns': { replies: looks, limits: { turns: 2 } },
  'token-budget': { replies: looks, limits: { tokens: 60 } },
  'money-budget': { replies: looks, limits: { usd: 0.00005 } },
  'call-budget': { replies: looks, limits: { calls: 2 } },
  time: { replies: [replyNever()], limits: { ms: 20 } },
  'error-threshold': { replies: times(9, replyWithError(retry)) },
  stuck: { replies: looks, limits: { stuckAfter: 3 } },
  rule: { stops: [(state) => (state.spent.turns ? { reason: 'rule', detail: 'enough' } : undefined)], replies: looks },
  'kill-switch': {
    replies: [replyNever('word')],
    abort: new FairleadError('run/kill-switch', 'Pulled.', { blame: 'user' }),
  },
  cancelled: { replies: [replyNever('word')], abort: true },
  'provider-error': { replies: [replyWithError(new Error('no such model'))] },
};
for (const [reason, { abort, ...setting }] of Object.entries(ways)) {
  test(`[M26] a run can end as ${reason}: recorded in the log, valid, and another run can follow`, async () => {
    const fixture = await createCoreFixture({ tools: [look, done], ...setting });
    const stop = new AbortController();
    const {
      ended,
      run,
      calls: open,
    } = await fixture.run(stop.signal, () => abort && stop.abort(abort === true ? undefined : abort));
    assert.equal(ended?.reason, reason);
    assert.deepEqual([run, open], [undefined, []]);
    assert.equal(fixture.eventsOfType('run-ended').length, 1);
    assert.equal(fixture.log.events.at(-1)?.type, 'run-ended');
    if (reason !== 'answered' && reason !== 'task-complete') assert.ok(ended?.detail, 'it has a detail');
    assert.equal(historyError(toArray(fixture.head.state.messages)), undefined);
    const after = await fixture.run();
    assert.equal(after.seq, fixture.head.state.seq, 'an ended run has no next step');
  });
}

/** The next step for each state of the log, in order, without repeats. */
function steps({ log, agent }: CoreFixture): readonly string[] {
  const found: string[] = [];
  for (let n = 1; n <= log.events.length; n++) {
    const { type } = nextStep(fold(runStateView(agent.rules), log.events.slice(0, n)), agent);
    if (found.at(-1) !== type) found.push(type);
  }
  return found;
}

test('[A20] a run with tools and checks goes from call to result to check, each step decided by the state alone', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look', 'look'), replyWithText('one'), replyWithCalls('look'), replyWithText('two')],
    tools: [look],
    checks: [check({ type: 'failed', why: 'not sound' }, { type: 'passed' })],
  });
  await fixture.run();
  assert.deepEqual(steps(fixture), [
    'rest',
    'turn',
    'calls',
    'turn',
    'check',
    'turn',
    'calls',
    'turn',
    'check',
    'end',
    'rest',
  ]);
});

test('[A20] the loop pauses while every open call waits for approval, and continues with the answer', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look')],
    tools: [look],
    gates: [() => ({ type: 'ask', question: 'sure?' })],
  });
  assert.equal((await fixture.run()).ended, undefined);
  await fixture.head.record([{ type: 'approval-resolved', call: 'c00001000', allowed: true }]);
  await fixture.run();
  assert.deepEqual(steps(fixture), ['rest', 'turn', 'calls', 'rest', 'calls', 'turn', 'end', 'rest']);
});

test('[A23] the log of a run contains every turn and every call', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look'), replyWithText('fine')],
    tools: [look],
    checks: [check({ type: 'passed' })],
  });
  await fixture.run();
  assert.deepEqual(
    fixture.log.events.map((event) => event.type),
    [
      'session-started',
      'epoch-started',
      'input-received',
      'run-started',
      'turn-started',
      'turn-ended',
      'tool-started',
      'tool-ended',
      'turn-started',
      'turn-ended',
      'check-ended',
      'run-ended',
    ],
  );
});

test('[M25] a stop condition that throws ends the run, because it cannot be evaluated', async () => {
  const fixture = await createCoreFixture({
    replies: looks,
    tools: [look],
    stops: [
      (state) => {
        if (state.spent.turns) throw new Error('cannot judge');
        return undefined;
      },
    ],
  });
  const { ended } = await fixture.run();
  assert.deepEqual(
    [ended?.reason, fixture.requests.length, fixture.eventsOfType('tool-started').length],
    ['rule', 1, 0],
  );
  assert.match(ended?.detail ?? '', /cannot judge/);
});

const verdicts: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('no idea');
  },
  'throws an object without a prototype': () => {
    throw Object.create(null);
  },
  'returns nothing': () => undefined,
  'returns an invalid verdict': () => ({ type: 'fine' }),
  'fails without a reason': () => ({ type: 'failed' }),
};
for (const [what, run] of Object.entries(verdicts)) {
  test(`a check that ${what} has not passed: the model gets the reason, and the run stays within its turns`, async () => {
    const fixture = await createCoreFixture({
      checks: [{ name: 'odd', run: run as Check['run'] }],
      limits: { turns: 3 },
    });
    assert.deepEqual([(await fixture.run()).ended?.reason, fixture.requests.length], ['max-turns', 3]);
    assert.match(JSON.stringify(fixture.requests[1]), /check\/odd/);
    assert.ok(
      fixture.eventsOfType('check-ended').every(({ verdict }) => verdict.type === 'failed' && verdict.why.length > 10),
    );
  });
}

test('checks run in order until one fails, and again after each new answer', async () => {
  const ran: string[] = [];
  const named = (name: string, ...found: readonly Verdict[]): Check => {
    const inner = check(...found);
    return { name, run: (...args) => (ran.push(name), inner.run(...args)) };
  };
  const fixture = await createCoreFixture({
    checks: [
      named('a', { type: 'passed' }),
      named('b', { type: 'failed', why: 'no' }, { type: 'passed' }),
      named('c', { type: 'passed' }),
    ],
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.deepEqual(ran, ['a', 'b', 'a', 'b', 'c']);
});

test('statements that a passing check could not confirm are recorded with the end of all checks, and belong to that answer alone', async () => {
  const claims = [{ text: 'It is done.', why: 'The log has nothing.' }];
  const fixture = await createCoreFixture({
    checks: [
      check({ type: 'passed', claims }, { type: 'passed' }),
      check({ type: 'failed', why: 'no' }, { type: 'passed' }),
    ],
  });
  const state = await fixture.run();
  assert.deepEqual(
    fixture.eventsOfType('check-ended').map(({ verdict }) => verdict),
    [{ type: 'failed', why: 'no' }, { type: 'passed' }],
    'an answer that was sent back leaves none',
  );
  assert.equal(state.unconfirmed, undefined);
  const accepted = await createCoreFixture({ checks: [check({ type: 'passed', claims }), check({ type: 'passed' })] });
  const ended = await accepted.run();
  assert.deepEqual([ended.ended?.reason, ended.unconfirmed], ['answered', claims]);
  assert.deepEqual(
    accepted.eventsOfType('check-ended').map(({ check: name, verdict }) => [name, verdict]),
    [
      ['sound', { type: 'passed', claims }],
      ['all', { type: 'passed' }],
    ],
  );
});

test('a check that does not apply to an answer does not run, and one that cannot say so runs', async () => {
  const apart = await createCoreFixture({
    checks: [{ ...check({ type: 'failed', why: 'no' }), appliesTo: () => false }],
  });
  assert.deepEqual([(await apart.run()).ended?.reason, apart.eventsOfType('check-ended')], ['answered', []]);
  const broken = await createCoreFixture({
    checks: [
      {
        ...check({ type: 'passed' }),
        appliesTo: () => {
          throw new Error('broken');
        },
      },
    ],
  });
  await broken.run();
  assert.equal(broken.eventsOfType('check-ended').length, 1);
});

test('a check that hangs ends with the time limit of the run', { timeout: 20_000 }, async () => {
  const fixture = await createCoreFixture({ checks: [{ name: 'slow', run: neverSettles }], limits: { ms: 30 } });
  assert.equal((await fixture.run()).ended?.reason, 'time');
});

const bounds: readonly (readonly [string, Partial<Limits>, StopReason, number, number])[] = [
  ['no turns', { turns: 0 }, 'max-turns', 0, 0],
  ['no calls', { calls: 0 }, 'call-budget', 1, 0],
  ['no tokens', { tokens: 0 }, 'token-budget', 0, 0],
  ['no money', { usd: 0 }, 'money-budget', 0, 0],
  ['no time', { ms: 0 }, 'time', 0, 0],
];
for (const [what, limits, reason, requests, ran] of bounds) {
  test(`[A107] with ${what} nothing that needs it is started`, async () => {
    const fixture = await createCoreFixture({ replies: looks, tools: [look], limits });
    assert.equal((await fixture.run()).ended?.reason, reason);
    assert.deepEqual([fixture.requests.length, fixture.eventsOfType('tool-started').length], [requests, ran]);
  });
}

test('a run that allows no failures ends at its first failure, not before', async () => {
  const fine = await createCoreFixture({ limits: { errors: 0 } });
  assert.equal((await fine.run()).ended?.reason, 'answered');
  const bad = await createCoreFixture({ replies: [replyWithError(retry)], limits: { errors: 0 } });
  assert.deepEqual([(await bad.run()).ended?.reason, bad.requests.length], ['error-threshold', 1]);
});

test('calls beyond the budget get an error result without running, those within it run', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('look', 'look', 'look')],
    tools: [look],
    limits: { calls: 2 },
  });
  assert.equal((await fixture.run()).ended?.reason, 'call-budget');
  assert.deepEqual(
    fixture.eventsOfType('tool-ended').map(({ outcome }) => outcome),
    ['ok', 'ok', 'interrupted'],
  );
});

test('a denied or invalid call does not count against the call budget', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('nosuch'), replyWithCalls('look'), replyWithCalls('look')],
    tools: [look],
    limits: { calls: 2 },
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.equal(fixture.head.state.spent.calls, 2);
});

test('[M15, A58] repeated calls with the same results are detected, in cycles of one, two and three', async () => {
  for (const repeats of [2, 9, 30])
    for (const period of [1, 2, 3]) {
      const lines = Array.from({ length: repeats * period + 5 }, (_, i) => replyWithCalls(['look', { i: i % period }]));
      const fixture = await createCoreFixture({
        replies: lines,
        tools: [look],
        limits: { stuckAfter: repeats, turns: 500 },
      });
      assert.equal((await fixture.run()).ended?.reason, 'stuck', `${repeats} repeats of a cycle of ${period}`);
      assert.equal(fixture.requests.length, repeats * period);
    }
  assert.equal(isStuck([1, 2, 1, 2], 2), true);
  assert.equal(isStuck([1, 2, 1, 3], 2), false);
  assert.equal(isStuck([1, 1, 1], 0), false);
});

test('the same call with new results does not count as stuck', async () => {
  let n = 0;
  const fixture = await createCoreFixture({
    replies: looks,
    tools: [createTestTool('look', 'read', () => ++n)],
    limits: { stuckAfter: 2 },
  });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
});

test('a money budget is checked with the price of the next request, and refuses a model of unknown price', async () => {
  const fixture = await createCoreFixture({ replies: looks, tools: [look], limits: { usd: 0.0001 } });
  const { spent } = await fixture.run();
  assert.ok(spent.usd > 0 && spent.usd <= 0.0001);
  const { price: _, ...provider } = createReplyProvider(looks);
  const unknown = await createCoreFixture({ provider, limits: { usd: 100 } });
  const { ended } = await unknown.run();
  assert.equal(ended?.reason, 'money-budget');
  assert.match(ended?.detail ?? '', /price of test is unknown/);
});

test('[M22] queued input and notes count as tokens before they are sent', async () => {
  const long = 'x'.repeat(8000);
  for (const limits of [{ context: 1000 }, { tokens: 1000 }, { usd: 0.001 }]) {
    const fixture = await createCoreFixture({ replies: [replyWithText('fine')], limits });
    await fixture.addInput('steer', long);
    assert.match((await fixture.run()).ended?.reason ?? '', /token-budget|money-budget/);
    assert.equal(fixture.requests.length, 0);
    const noted = await createCoreFixture({
      limits,
      rules: [(event) => (event.type === 'run-started' ? [{ key: 'long', text: long }] : [])],
    });
    await noted.run();
    assert.equal(noted.requests.length, 0);
    const later = await createCoreFixture({ replies: [replyWithText('fine')], limits });
    await later.addInput('follow-up', long);
    await later.run();
    assert.equal(later.requests.length, 1, 'a follow-up counts once it is next');
  }
});

test('an image counts as its estimated tokens, not as its bytes', async () => {
  const picture = { type: 'file', mediaType: 'image/png', data: 'A'.repeat(400_000) } as const;
  const fixture = await createCoreFixture({ limits: { context: 5000 } });
  await fixture.head.record([{ type: 'input-received', input: 'p', how: 'steer', parts: [picture] }]);
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  await fixture.head.record((state) => [epochStartedFact(state, 'compacted', toArray(state.messages))]);
  assert.ok(fixture.head.state.context > 1000 && fixture.head.state.context < 5000, `${fixture.head.state.context}`);
  const text = { ...picture, mediaType: 'text/plain' };
  await fixture.head.record([{ type: 'input-received', input: 'q', how: 'steer', parts: [text] }]);
  await fixture.startRun('read it');
  assert.equal((await fixture.run()).ended?.reason, 'token-budget');
});

test('parallel reads count the time of the longest, sequential calls the time of all', async () => {
  let now = 0;
  const read = (name: string, ms: number): Tool => createTestTool(name, 'read', () => void (now = Math.max(now, ms)));
  const write = (name: string, ms: number): Tool => createTestTool(name, 'write', () => void (now += ms));
  const tools = [read('a', 300), read('b', 500), write('c', 200), write('d', 100)];
  const fixture = await createCoreFixture({ replies: [replyWithCalls('a', 'b', 'c', 'd')], tools });
  const state = await runLoop(fixture.agent, {
    writer: fixture.head,
    signal: new AbortController().signal,
    onChunk: () => {},
    clock: () => now,
  });
  assert.equal(state.spent.ms, 800);
});

test('[A107] a limit that is not a number applies at once: nothing runs without limits by mistake', async () => {
  for (const [key, reason] of Object.entries({
    turns: 'max-turns',
    tokens: 'token-budget',
    context: 'token-budget',
    usd: 'money-budget',
    calls: 'call-budget',
    ms: 'time',
  })) {
    const fixture = await createCoreFixture({ replies: looks, tools: [look], limits: { [key]: Number.NaN } });
    assert.equal((await fixture.run()).ended?.reason, reason, key);
    assert.equal(fixture.eventsOfType('tool-started').length, 0);
  }
  const bad = await createCoreFixture({
    replies: times(50, replyWithError(retry)),
    limits: { errors: Number.NaN, turns: 40 },
  });
  assert.equal((await bad.run()).ended?.reason, 'error-threshold');
  const empty = await createCoreFixture({
    replies: times(50, replyWithText('')),
    limits: { maxRetriesPerAnswer: Number.NaN, turns: 40 },
  });
  assert.deepEqual([(await empty.run()).ended?.reason, empty.requests.length], ['error-threshold', 1]);
});

test('time used in an earlier process counts before the next turn', async () => {
  const fixture = await createCoreFixture({ replies: looks, tools: [look], limits: { ms: 1000 } });
  await fixture.head.record([
    { type: 'turn-started', turn: 1, inputs: ['i1'], notes: [] },
    { type: 'turn-failed', turn: 1, error: { code: 'x', message: 'x', blame: 'provider', retry: true }, ms: 1000 },
  ]);
  assert.deepEqual(nextStep(fixture.head.state, fixture.agent), {
    type: 'end',
    reason: 'time',
    detail: 'Time limit (1000 ms) reached.',
    error: { code: 'x', message: 'x', blame: 'provider', retry: true },
  });
});

test('a longer system prompt or tool list counts before the next request', async () => {
  const fixture = await createCoreFixture({
    replies: [replyWithText('one'), replyWithText('two')],
    limits: { context: 1000 },
  });
  await fixture.run();
  await fixture.head.record((state) => [{ ...epochStartedFact(state, 'agent-changed'), system: 'x'.repeat(8000) }]);
  await fixture.startRun('more');
  assert.equal((await fixture.run()).ended?.reason, 'token-budget');
  await fixture.head.record((state) => [{ ...epochStartedFact(state, 'agent-changed'), system: 'short' }]);
  await fixture.startRun('more');
  assert.equal((await fixture.run()).ended?.reason, 'answered');
});

test('a budget of half a call allows no call, and the run does not wait', { timeout: 20_000 }, async () => {
  const fixture = await createCoreFixture({ replies: looks, tools: [look], limits: { calls: 1.5 } });
  fixture.head.subscribe((event) => event.seq > 200 && assert.fail('no end'));
  const stop = AbortSignal.timeout(5000);
  assert.equal((await fixture.run(stop)).ended?.reason, 'call-budget');
  assert.equal(fixture.eventsOfType('tool-started').length, 1);
});

test('however many reads an answer has, only a limited number run in parallel, and all get results in call order', async () => {
  let open = 0;
  let most = 0;
  const read = createTestTool('look', 'read', async (input) => {
    most = Math.max(most, ++open);
    await new Promise((wake) => setImmediate(wake));
    open--;
    return JSON.stringify(input);
  });
  const many = Array.from({ length: 100 }, (_, i) => ['look', { i }] as const);
  const fixture = await createCoreFixture({ replies: [replyWithCalls(...many)], tools: [read] });
  assert.equal((await fixture.run()).ended?.reason, 'answered');
  assert.equal(most, 16);
  assert.deepEqual(
    toArray(fixture.head.state.messages)[2]?.parts.map((part) => part.type === 'tool-result' && part.text),
    many.map(([, input]) => JSON.stringify(input)),
  );
});

test('[M25] a stop condition that returns only true ends the run with the reason "rule"', async () => {
  const fixture = await createCoreFixture({ stops: [(() => true) as unknown as ResolvedAgent['stops'][number]] });
  assert.equal((await fixture.run()).ended?.reason, 'rule');
  assert.equal(fixture.requests.length, 0);
});
