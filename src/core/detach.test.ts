// Detaching from a run: completed work is kept, nothing ends, and the next process continues it unchanged.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithError,
  replyWithCalls,
  neverSettles,
  replyNever,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import { FairleadError, historyError, runLoop, toArray, type RunState } from './index.ts';

const slowTest = { timeout: 20_000 };
const detachReason = new FairleadError('run/left', 'The worker is going.', { blame: 'harness' });

const runDetachable = (
  fixture: CoreFixture,
  given: { signal?: AbortSignal; detachSignal?: AbortSignal },
): Promise<RunState> =>
  runLoop(fixture.agent, {
    writer: fixture.head,
    signal: new AbortController().signal,
    ...given,
    onChunk: () => {},
    clock: () => performance.now(),
  });

test('[A24, A71] a run that is detached between two steps does not end, and continues unchanged', async () => {
  const leave = new AbortController();
  const add = createTestTool('add', 'write', () => (leave.abort(), 'added'));
  const fixture = await createCoreFixture({ replies: [replyWithCalls('add'), replyWithText('done it')], tools: [add] });
  const state = await runDetachable(fixture, { detachSignal: leave.signal });
  assert.deepEqual(
    [state.run, fixture.eventsOfType('run-ended'), fixture.eventsOfType('tool-ended').length],
    ['r1', [], 1],
  );
  const ended = await fixture.run();
  assert.equal(ended.ended?.reason, 'answered');
  assert.deepEqual(
    [fixture.requests.length, fixture.eventsOfType('turn-started').length, fixture.eventsOfType('tool-started').length],
    [2, 2, 1],
  );
});

test(
  '[A24] a model request that is aborted by a detach is sent again, and does not count as a failure',
  slowTest,
  async () => {
    const fixture = await createCoreFixture({
      replies: [replyNever('Once'), replyNever('Once'), replyWithText('Once upon a time.')],
      limits: { errors: 1 },
    });
    for (let i = 0; i < 2; i++) {
      const stop = new AbortController();
      const over = runDetachable(fixture, { signal: stop.signal });
      setImmediate(() => stop.abort(detachReason));
      const state = await over;
      assert.deepEqual([state.run, state.failures], ['r1', 0]);
    }
    const ended = await fixture.run();
    assert.equal(ended.ended?.reason, 'answered');
    assert.deepEqual(fixture.transcript(), ['user: go', 'assistant: Once upon a time.']);
  },
);

for (const [effect, outcome, times] of [
  ['read', 'ok', 2],
  ['external', 'unknown', 1],
] as const) {
  test(
    `[A53] a tool with the effect ${effect} that is aborted by a detach stays open, as after a crash`,
    slowTest,
    async () => {
      const stop = new AbortController();
      let begun = 0;
      const send = createTestTool('send', effect, () => {
        begun++;
        if (begun > 1) return 'sent';
        setImmediate(() => stop.abort(detachReason));
        return neverSettles();
      });
      const fixture = await createCoreFixture({ replies: [replyWithCalls('send')], tools: [send] });
      const state = await runDetachable(fixture, { signal: stop.signal });
      assert.deepEqual([state.run, fixture.eventsOfType('tool-ended')], ['r1', []]);
      const ended = await fixture.run();
      assert.equal(ended.ended?.reason, 'answered');
      assert.deepEqual([begun, fixture.eventsOfType('tool-ended').map((event) => event.outcome)], [times, [outcome]]);
      assert.equal(historyError(toArray(ended.messages)), undefined);
    },
  );
}

for (const reason of ['money-budget', 'token-budget'] as const) {
  test(`[A64] a provider that refuses for a ${reason} beyond the run’s own ends the run with that reason`, async () => {
    const fixture = await createCoreFixture({
      replies: [replyWithError(new FairleadError(`run/${reason}`, 'The tenant has nothing left.', { blame: 'user' }))],
    });
    const { ended } = await fixture.run();
    assert.deepEqual([ended?.reason, ended?.detail], [reason, 'The tenant has nothing left.']);
  });
}

test('a run that is detached before it begins has done nothing', async () => {
  const fixture = await createCoreFixture({ replies: [replyWithText('hello')] });
  const state = await runDetachable(fixture, { detachSignal: AbortSignal.abort() });
  assert.deepEqual([state.run, fixture.requests.length, fixture.eventsOfType('turn-started')], ['r1', 0, []]);
});
