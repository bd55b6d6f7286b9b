// Leaving a run: what is done stays done, nothing is ended, and whoever goes on with it finds it as it was.
import assert from 'node:assert/strict';
import test from 'node:test';
import { breaks, calls, forever, hangs, says, stage, toolOf, type Stage } from '../../test/support/rehearsal.ts';
import { FairleadError, historyError, runLoop, toArray, type RunState } from './index.ts';

const slowTest = { timeout: 20_000 };
const detachReason = new FairleadError('run/left', 'The worker is going.', { blame: 'harness' });

const runDetachable = (set: Stage, given: { signal?: AbortSignal; leave?: AbortSignal }): Promise<RunState> =>
  runLoop(set.agent, {
    writer: set.head,
    signal: new AbortController().signal,
    ...given,
    onChunk: () => {},
    clock: () => performance.now(),
  });

test('[A24, A71] a run that is left between two steps is not ended, and goes on as if nothing had been', async () => {
  const leave = new AbortController();
  const add = toolOf('add', 'write', () => (leave.abort(), 'added'));
  const set = await stage({ lines: [calls('add'), says('done it')], tools: [add] });
  const state = await runDetachable(set, { leave: leave.signal });
  assert.deepEqual([state.run, set.all('run-ended'), set.all('tool-ended').length], ['r1', [], 1]);
  const ended = await set.go();
  assert.equal(ended.ended?.reason, 'answered');
  assert.deepEqual([set.requests.length, set.all('turn-started').length, set.all('tool-started').length], [2, 2, 1]);
});

test(
  '[A24] a model that is cut off because the run is left is asked again, and that counts as no failure',
  slowTest,
  async () => {
    const set = await stage({
      lines: [hangs('Once'), hangs('Once'), says('Once upon a time.')],
      limits: { errors: 1 },
    });
    for (let i = 0; i < 2; i++) {
      const stop = new AbortController();
      const over = runDetachable(set, { signal: stop.signal });
      setImmediate(() => stop.abort(detachReason));
      const state = await over;
      assert.deepEqual([state.run, state.failures], ['r1', 0]);
    }
    const ended = await set.go();
    assert.equal(ended.ended?.reason, 'answered');
    assert.deepEqual(set.told(), ['user: go', 'assistant: Once upon a time.']);
  },
);

for (const [effect, outcome, times] of [
  ['read', 'ok', 2],
  ['outside', 'unknown', 1],
] as const) {
  test(
    `[A53] a tool with the effect ${effect} that is cut off because the run is left stays open, as after a crash`,
    slowTest,
    async () => {
      const stop = new AbortController();
      let begun = 0;
      const send = toolOf('send', effect, () => {
        begun++;
        if (begun > 1) return 'sent';
        setImmediate(() => stop.abort(detachReason));
        return forever();
      });
      const set = await stage({ lines: [calls('send')], tools: [send] });
      const state = await runDetachable(set, { signal: stop.signal });
      assert.deepEqual([state.run, set.all('tool-ended')], ['r1', []]);
      const ended = await set.go();
      assert.equal(ended.ended?.reason, 'answered');
      assert.deepEqual([begun, set.all('tool-ended').map((event) => event.outcome)], [times, [outcome]]);
      assert.equal(historyError(toArray(ended.messages)), undefined);
    },
  );
}

for (const reason of ['money-budget', 'token-budget'] as const) {
  test(`[A64] a provider that refuses for a ${reason} beyond the run’s own ends the run for that reason`, async () => {
    const set = await stage({
      lines: [breaks(new FairleadError(`run/${reason}`, 'The tenant has nothing left.', { blame: 'user' }))],
    });
    const { ended } = await set.go();
    assert.deepEqual([ended?.reason, ended?.detail], [reason, 'The tenant has nothing left.']);
  });
}

test('a run that is left before it begins has done nothing', async () => {
  const set = await stage({ lines: [says('hello')] });
  const state = await runDetachable(set, { leave: AbortSignal.abort() });
  assert.deepEqual([state.run, set.requests.length, set.all('turn-started')], ['r1', 0, []]);
});
