// Tests of epochs: only a fact begins a new prefix, and logs of older versions are read with the field names of this one.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
  type CoreFixture,
} from '../../test/support/core-fixture.ts';
import {
  epochStartedFact,
  openSessionWriter,
  runStateView,
  messageText,
  toArray,
  upcastEvent,
  type Event,
  type Message,
} from './index.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const look = createTestTool('look', 'read', () => 'x'.repeat(400));

async function answered(): Promise<CoreFixture> {
  const fixture = await createCoreFixture({ replies: [replyWithCalls('look'), replyWithText('one')], tools: [look] });
  await fixture.run();
  return fixture;
}

test('a change of model begins an epoch that keeps the history unchanged', async () => {
  const { run, head, startRun, requests } = await answered();
  const before = toArray(head.state.messages);
  await head.record((state) => [{ ...epochStartedFact(state, 'model-changed'), model: 'other' }]);
  assert.deepEqual(toArray(head.state.messages), before);
  assert.deepEqual([head.state.epoch, head.state.model], [2, 'other']);
  await startRun('next');
  await run();
  assert.deepEqual(toArray(requests.at(-1)?.messages ?? { length: 0, items: [] }).slice(0, before.length), before);
});

test('an edited history begins a new epoch, and the run it branched from does not restart', async () => {
  const { run, head, log, startRun, requests } = await answered();
  const middle = log.events.find((event) => event.type === 'turn-ended') as Event;
  const edited = [user('other words')];
  await head.branch(middle.id, (state) => [
    { type: 'branch-started', from: middle.id, reason: 'edited' },
    epochStartedFact(state, 'edited', edited),
  ]);
  const reopened = await openSessionWriter(log, runStateView(), 'epoch');
  for (const state of [head.state, reopened.state]) {
    assert.deepEqual([state.run, state.pending, state.calls], [undefined, [], []]);
    assert.deepEqual(toArray(state.messages), edited);
  }
  await startRun('next');
  await run();
  assert.deepEqual(toArray(requests.at(-1)?.messages ?? { length: 0, items: [] }).map(messageText), [
    'other words\nnext',
  ]);
});

test('the active run in a baseline of an older version is read with the field names of this version', () => {
  const activeRun = { run: 'r1', reasks: 1, rounds: [7, 8], due: true, verified: false, inTurn: false };
  const event = { type: 'epoch-started', epoch: 2, system: '', baseline: { session: 's', going: activeRun } };
  const { baseline } = upcastEvent(structuredClone(event)) as { readonly baseline: { readonly activeRun: unknown } };
  const unchanged = { run: 'r1', verified: false, inTurn: false };
  assert.deepEqual(baseline.activeRun, { ...unchanged, answerRetries: 1, callBatches: [7, 8], needsTurn: true });
});
