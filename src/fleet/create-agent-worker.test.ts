// Tests of worker({ store, agent }): it handles the runs and plans of a queue with one agent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Agent, defineTool } from '../agent/index.ts';
import { calls, scriptedProvider } from '../testing/index.ts';
import { openTempFleetStore } from '../../test/support/fleet-store.ts';
import { sendMessage, worker } from './index.ts';

test('drain handles queued runs with an Agent, and returns when none is left', async (t) => {
  const store = await openTempFleetStore(t);
  const agent = new Agent({ model: scriptedProvider(({ prompt }) => `Done: ${prompt}`) });
  await store.queue.enqueue(['one', 'two', 'three'].map((prompt) => ({ id: prompt, prompt })));
  await worker({ store, agent }).drain();
  const runs = await store.queue.list();
  assert.deepEqual(
    runs.map(({ outcome }) => outcome?.text ?? '').toSorted((a, b) => a.localeCompare(b)),
    ['Done: one', 'Done: three', 'Done: two'],
  );
});

test('an approval makes the run wait; a later worker continues it', async (t) => {
  const store = await openTempFleetStore(t);
  let sent = 0;
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    effect: 'external',
    inputSchema: { type: 'object' },
    execute: () => `sent ${++sent}`,
  });
  const agent = new Agent({
    model: scriptedProvider(({ results }) => (results.length === 0 ? calls('send') : `Done: ${results[0]}`)),
    tools: [send],
    gates: [() => ({ type: 'ask', question: 'Send it?' })],
  });
  await store.queue.enqueue([{ id: 'r', prompt: 'Send it.' }]);
  await worker({ store, agent }).drain();
  const waiting = await store.queue.run('r');
  assert.deepEqual([waiting?.status, waiting?.pendingApprovals[0]?.question, sent], ['waiting', 'Send it?', 0]);
  const call = waiting?.pendingApprovals[0]?.call ?? '';
  await sendMessage(store, 'r', { type: 'answer', call, allowed: true });
  await worker({ store, agent }).drain();
  assert.deepEqual([(await store.queue.run('r'))?.outcome?.text, sent], ['Done: sent 1', 1]);
});

test('a plan runs its steps with the same agent: the schema of the plan replaces the tools', async (t) => {
  const store = await openTempFleetStore(t);
  const plan = JSON.stringify({ steps: [{ id: 'a', words: 'Do it', after: [] }] });
  const agent = new Agent({
    model: scriptedProvider(({ prompt }) => (prompt.includes('Make a plan') ? plan : 'Done.')),
  });
  await store.queue.enqueue([{ id: 'p', prompt: 'All of it', kind: 'plan' }]);
  await worker({ store, agent }).drain();
  const ended = await store.queue.run('p');
  assert.deepEqual([ended?.status, ended?.outcome?.reason], ['ended', 'answered']);
});
