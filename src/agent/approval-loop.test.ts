// The approval loop: order of questions, decisions from outside, interrupted waits and late input.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as z from 'zod';
import { pendingApprovals, type PendingApproval } from '../core/index.ts';
import { memoryLog } from '../stores/index.ts';
import { calls, says, scriptedProvider } from '../testing/index.ts';
import { Agent, continueWithApprovals, isAwaitingApproval, runWithApprovals, Session, tool } from './index.ts';

async function openSession(steps: string[]): Promise<Session> {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({ usd: z.number() }),
    needsApproval: true,
    execute: ({ usd }) => {
      steps.push(`paid ${usd}`);
      return 'paid';
    },
  });
  const twoCalls = calls('pay', { usd: 1 }).and(calls('pay', { usd: 2 }));
  const model = scriptedProvider([twoCalls, says('done'), says('read')]);
  return Session.open(await new Agent({ model, tools: [pay] }).resolve(), memoryLog());
}

test('the handler is asked about all pending calls of a turn before the approved ones run', async () => {
  const steps: string[] = [];
  await using session = await openSession(steps);
  const onApproval = ({ input }: PendingApproval): boolean => steps.push(`asked ${JSON.stringify(input)}`) > 0;
  await runWithApprovals(session, 'go', { onApproval });
  assert.deepEqual(steps, ['asked {"usd":1}', 'asked {"usd":2}', 'paid 1', 'paid 2']);
});

test('an aborted wait signal ends the wait: the call stays pending and another run decides it', async () => {
  const steps: string[] = [];
  await using session = await openSession(steps);
  const quit = new AbortController();
  const left = await runWithApprovals(session, 'go', {
    waitSignal: quit.signal,
    onApproval(_request, signal) {
      quit.abort();
      assert.equal(signal.aborted, true, 'the question is interrupted');
      return true;
    },
  });
  assert.deepEqual([isAwaitingApproval(left), steps], [true, []]);
  const ended = await continueWithApprovals(session, session.state, { onApproval: () => true });
  assert.deepEqual([ended.ended?.reason, steps], ['answered', ['paid 1', 'paid 2']]);
});

test('an aborted signal while a question is open is recorded as a cancelled run', async () => {
  await using session = await openSession([]);
  const stop = new AbortController();
  const state = await runWithApprovals(session, 'go', {
    signal: stop.signal,
    onApproval: () => (stop.abort(), true),
  });
  assert.deepEqual([state.run, state.ended?.reason], [undefined, 'cancelled']);
});

test('a decision that arrives from outside before the next step continues the run without a handler', async () => {
  const steps: string[] = [];
  await using session = await openSession(steps);
  const state = await runWithApprovals(session, 'go', {
    async beforeDecision() {
      for (const { id } of pendingApprovals(session.state)) await session.approve(id);
    },
  });
  assert.deepEqual([state.ended?.reason, steps], ['answered', ['paid 1', 'paid 2']]);
});

test('input that is recorded after the answer is read by another run', async () => {
  await using session = await openSession([]);
  let isSent = false;
  await runWithApprovals(session, 'go', {
    onApproval: () => true,
    async beforeDecision() {
      if (isSent || session.state.run !== undefined) return;
      isSent = true;
      await session.steer('one more thing');
    },
  });
  const last = session.messages.at(-1);
  assert.deepEqual([isSent, last?.parts], [true, [{ type: 'text', text: 'read' }]]);
});
