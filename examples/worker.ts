// Runs a worker in a program: it executes all queued runs with one agent and returns.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'fairlead';
import { worker } from 'fairlead/fleet';
import { openFleetStore } from 'fairlead/stores';
import { scriptedProvider } from 'fairlead/testing';

const dir = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
const model = scriptedProvider(({ prompt }) => `Summary of ${prompt}`);

const store = await openFleetStore(join(dir, 'fleet.sqlite'));
const agent = new Agent({ model, instructions: 'Summarise the chapter.' });

await store.queue.enqueue([{ prompt: 'chapter 1' }, { prompt: 'chapter 2' }]);
await worker({ store, agent }).drain();

const runs = await store.queue.list();
for (const { outcome } of runs) console.log(outcome?.text);

assert.deepEqual(
  runs.map(({ outcome }) => outcome?.text ?? '').toSorted((a, b) => a.localeCompare(b)),
  ['Summary of chapter 1', 'Summary of chapter 2'],
);
await store.close();
rmSync(dir, { recursive: true });
