// A plan: its steps run in parallel where they can, another model verifies a result, and one answer combines them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'fairlead';
import { readPlan, worker } from 'fairlead/fleet';
import { openFleetStore } from 'fairlead/stores';
import { scriptedProvider } from 'fairlead/testing';

const plan = {
  steps: [
    { id: 'a', task: 'Describe A.', after: [] },
    { id: 'b', task: 'Describe B.', after: [], verify: true },
    { id: 'compare', task: 'Compare them.', after: ['a', 'b'] },
  ],
};
const model = scriptedProvider(({ prompt }) =>
  prompt.startsWith('Make a plan') ? JSON.stringify(plan) : `Done: ${prompt.split('\n')[0]}`,
);
const judge = scriptedProvider(() => '{"passed": true, "reason": "It describes B."}', { model: 'judge' });

const dir = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
const store = await openFleetStore(join(dir, 'fleet.sqlite'));
const agent = new Agent({ model, instructions: 'You compare things.' });
const verifier = new Agent({ model: judge, instructions: 'You look for mistakes.' });

const settings = { plan: { caps: { steps: 5, parallel: 2 } } };
const [run] = await store.queue.enqueue([{ id: 'p', kind: 'plan', prompt: 'Compare A and B.', settings }]);
await worker({ store, agent, verifier }).drain();

assert.ok(run);
const { steps, estimate } = await readPlan(store, run);
for (const { id, status, depth } of steps) console.log(`${'  '.repeat(depth - 1)}${id}: ${status}`);
console.log(`${estimate?.requests} requests were expected`);

assert.deepEqual(
  steps.map(({ id, status, depth }) => `${id} ${status} ${depth}`),
  ['a done 1', 'b done 1', 'compare done 2'],
);
assert.equal((await store.queue.run('p'))?.outcome?.reason, 'answered');
assert.equal(judge.requests.length, 1);
await store.close();
rmSync(dir, { recursive: true });
