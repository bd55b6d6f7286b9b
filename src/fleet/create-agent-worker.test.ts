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
  const plan = JSON.stringify({ steps: [{ id: 'a', task: 'Do it', after: [] }] });
  const agent = new Agent({
    model: scriptedProvider(({ prompt }) => (prompt.includes('Make a plan') ? plan : 'Done.')),
  });
  await store.queue.enqueue([{ id: 'p', prompt: 'All of it', kind: 'plan' }]);
  await worker({ store, agent }).drain();
  const ended = await store.queue.run('p');
  assert.deepEqual([ended?.status, ended?.outcome?.reason], ['ended', 'answered']);
});

const steps = [
  { id: 'read', task: 'Read it.', after: [], tools: ['look'] },
  { id: 'judge', task: 'Judge it.', after: ['read'], agent: 'critic', verify: true },
];

const looking = { description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' } as const;
const look = defineTool({ ...looking, name: 'look', effect: 'read' });
const change = defineTool({ ...looking, name: 'change', effect: 'write' });

test('[A63, A69] steps use only the tools and the agent that they name, and a verifier with another model checks them', async (t) => {
  const store = await openTempFleetStore(t);
  const worked = scriptedProvider(({ prompt }) => `worked on ${prompt.slice(0, 8)}`, { model: 'worker' });
  const criticised = scriptedProvider(() => 'It is good.', { model: 'critic' });
  const verified = scriptedProvider(() => '{"passed":true,"reason":"It is."}', { model: 'judge' });
  const agent = new Agent({ model: worked, tools: [look, change] });
  const agents = { critic: new Agent({ model: criticised }) };
  const verifier = new Agent({ model: verified });
  await store.queue.enqueue([{ id: 'p', prompt: 'All of it', kind: 'plan', settings: { plan: { steps } } }]);
  await worker({ store, agent, agents, verifier }).drain();
  const ended = await store.queue.run('p');
  assert.deepEqual([ended?.status, ended?.outcome?.reason], ['ended', 'answered'], ended?.outcome?.detail);
  assert.deepEqual(
    worked.requests[0]?.tools.map(({ name }) => name),
    ['look'],
  );
  assert.equal(criticised.requests.length, 1);
  assert.equal(verified.requests.length, 1);
  assert.match(JSON.stringify(verified.requests[0]?.messages), /It is good\./);
});

test('[A63, A103] a worker refuses a plan whose verifier uses the model that does the steps, or that it does not have', async (t) => {
  const store = await openTempFleetStore(t);
  const model = scriptedProvider(() => 'Done.');
  const agent = new Agent({ model });
  const plan = (more: object) => ({ plan: { steps: [{ id: 'a', task: 'Do it.', after: [] }], ...more } });
  await store.queue.enqueue([{ id: 'same', prompt: 'x', kind: 'plan', settings: plan({}) }]);
  await worker({ store, agent, verifier: new Agent({ model: scriptedProvider(() => 'Yes.') }) }).drain();
  assert.equal((await store.queue.run('same'))?.outcome?.error?.code, 'fleet/same-verifier');
  await store.queue.enqueue([{ id: 'none', prompt: 'x', kind: 'plan', settings: plan({ verifier: 'x/y' }) }]);
  await worker({ store, agent }).drain();
  assert.equal((await store.queue.run('none'))?.outcome?.error?.code, 'fleet/no-verifier');
  const judge = new Agent({ model: scriptedProvider(() => 'Yes.', { model: 'judge' }) });
  await store.queue.enqueue([{ id: 'named', prompt: 'x', kind: 'plan', settings: plan({}) }]);
  await worker({ store, agent, agents: { critic: judge }, verifier: judge }).drain();
  assert.equal((await store.queue.run('named'))?.outcome?.error?.code, 'fleet/same-verifier');
  assert.equal(model.requests.length, 0);
});

test('[A59] a plan whose run keeps only some tools cannot give its steps the others', async (t) => {
  const store = await openTempFleetStore(t);
  const agent = new Agent({ model: scriptedProvider(() => 'Done.'), tools: [look, change] });
  const asking = [{ id: 'a', task: 'Do it.', after: [], tools: ['change'] }];
  const settings = { tools: ['look'], plan: { steps: asking } };
  await store.queue.enqueue([{ id: 'p', prompt: 'x', kind: 'plan', settings }]);
  await worker({ store, agent }).drain();
  const { outcome } = (await store.queue.run('p')) ?? {};
  assert.match(outcome?.detail ?? '', /The step a asks for the tool change, which the run does not have\./);
});

test('[A59] a plan with a tool or an agent that the worker does not have does not start', async (t) => {
  const store = await openTempFleetStore(t);
  const model = scriptedProvider(() => 'Done.');
  const agent = new Agent({ model, tools: [look] });
  const bad = [{ id: 'a', task: 'Do it.', after: [], tools: ['change'], agent: 'critic' }];
  await store.queue.enqueue([{ id: 'p', prompt: 'x', kind: 'plan', settings: { plan: { steps: bad } } }]);
  await worker({ store, agent }).drain();
  const { outcome } = (await store.queue.run('p')) ?? {};
  assert.equal(outcome?.reason, 'error-threshold');
  assert.match(
    outcome?.detail ?? '',
    /the tool change, which the run does not have[^]*an agent that does not exist: critic/,
  );
  assert.equal(model.requests.length, 0);
});
