// Queued runs: any number of workers share a queue, and a run that needs an approval waits until it gets one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, tool } from 'fairlead';
import { sendMessage, worker } from 'fairlead/fleet';
import { openFleetStore } from 'fairlead/stores';
import { calls, scriptedProvider } from 'fairlead/testing';

const dir = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
let payments = 0;
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  effect: 'external',
  inputSchema: { type: 'object' },
  execute: () => `payment ${++payments} made`,
});
const model = scriptedProvider(({ results }) => (results.length === 0 ? calls('pay') : `Done: ${results[0]}`));

const store = await openFleetStore(join(dir, 'fleet.sqlite'));
const agent = new Agent({
  model,
  instructions: 'You pay bills.',
  tools: [pay],
  gates: [() => ({ type: 'ask', question: 'Pay this bill?' })],
});

// Queueing an id twice is one run.
await store.queue.enqueue([{ id: 'bill-17', prompt: 'Pay bill 17.' }]);
await store.queue.enqueue([{ id: 'bill-17', prompt: 'Pay bill 17.' }]);
await worker({ store, agent }).drain();
const waiting = await store.queue.run('bill-17');
console.log(waiting?.status, waiting?.pendingApprovals[0]?.question);

// Later, in any process: the approval is a message to the run, and any worker resumes it.
const call = waiting?.pendingApprovals[0]?.call ?? '';
await sendMessage(store, 'bill-17', { type: 'answer', call, allowed: true, by: 'Ann' });
await worker({ store, agent }).drain();
const ended = await store.queue.run('bill-17');
console.log(ended?.outcome?.text);

assert.equal(waiting?.status, 'waiting');
assert.equal(ended?.outcome?.text, 'Done: payment 1 made');
assert.equal(payments, 1);
await store.close();
rmSync(dir, { recursive: true });
