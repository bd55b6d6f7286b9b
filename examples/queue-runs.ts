// Runs in a queue: any number of workers share them, one that dies is taken over from, and what needs a person rests until it is answered.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveAgent, defineTool } from 'fairlead/agent';
import { createAgentRunHandler, sendMessage, startWorker } from 'fairlead/fleet';
import { openFleetStore } from 'fairlead/stores';
import { calls, scriptedProvider } from 'fairlead/testing';

const folder = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
let payments = 0;
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  effect: 'external',
  input: { type: 'object' },
  run: () => `payment ${++payments} made`,
});
const provider = scriptedProvider(({ results }) => (results.length === 0 ? calls('pay') : `Done: ${results[0]}`));

const store = await openFleetStore(join(folder, 'fleet.sqlite'));
const driver = createAgentRunHandler(async () => ({
  parts: resolveAgent({
    provider,
    system: 'You pay bills.',
    tools: [pay],
    gates: [() => ({ type: 'ask', question: 'Pay this bill?' })],
  }),
  close: async () => {},
}));

// The same id again is the same run.
await store.queue.enqueue([{ id: 'bill-17', prompt: 'Pay bill 17.' }]);
await store.queue.enqueue([{ id: 'bill-17', prompt: 'Pay bill 17.' }]);
await startWorker({ store, handlers: { run: driver }, drain: true }).done;
const waiting = await store.queue.run('bill-17');
console.log(waiting?.status, waiting?.pendingApprovals[0]?.question);

// Days later, from any process: the answer is a letter, and any worker goes on.
const call = waiting?.pendingApprovals[0]?.call ?? '';
await sendMessage(store, 'bill-17', { type: 'answer', call, allowed: true, by: 'Ann' });
await startWorker({ store, handlers: { run: driver }, drain: true }).done;
const ended = await store.queue.run('bill-17');
console.log(ended?.outcome?.text);

assert.equal(waiting?.status, 'waiting');
assert.equal(ended?.outcome?.text, 'Done: payment 1 made');
assert.equal(payments, 1);
await store.close();
rmSync(folder, { recursive: true });
