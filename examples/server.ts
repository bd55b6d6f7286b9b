// Serves the HTTP API in a program: one agent, one store, one API key.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'fairlead';
import { createServer } from 'fairlead/server';
import { openFleetStore } from 'fairlead/stores';
import { scriptedProvider } from 'fairlead/testing';

const dir = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
const model = scriptedProvider(({ prompt }) => `You said: ${prompt}`);
const key = 'a-long-random-key';

const store = await openFleetStore(join(dir, 'fleet.sqlite'));
const agent = new Agent({ model, instructions: 'Answer in one sentence.' });
const server = await createServer({ store, agent, keys: key, port: 0 });

const response = await fetch(`${server.url}/api/runs?wait=30`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ prompt: 'hello' }),
});
const { run } = (await response.json()) as { run: { status: string; outcome?: { text: string } } };
console.log(run.status, run.outcome?.text);

assert.deepEqual([run.status, run.outcome?.text], ['ended', 'You said: hello']);
await server.close();
await store.close();
rmSync(dir, { recursive: true });
