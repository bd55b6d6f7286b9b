// Stops a session between a tool call and the answer, and resumes it from its file with another agent; the call is not repeated.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fileSession, tool } from 'fairlead';
import { verifyFile } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const dir = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
const file = join(dir, 'session.jsonl');
let payments = 0;
const pay = tool({
  name: 'pay',
  description: 'Pays the bill.',
  inputSchema: { type: 'object' },
  effect: 'external',
  execute: () => `payment ${++payments} made`,
});

// The first process detaches after the payment, before the model answers.
const stop = new AbortController();
const first = new Agent({ model: scriptedProvider([calls('pay'), says('This is never sent.')]), tools: [pay] });
const session = await first.session({ store: fileSession(file) });
session.subscribe((event) => event.type === 'tool-ended' && stop.abort());
assert.equal((await session.run('Pay the bill.', { detachSignal: stop.signal })).status, 'waiting');
await session.close();

// Another process opens the file and resumes the run.
const second = new Agent({ model: scriptedProvider([says('The bill is paid.')]), tools: [pay] });
const resumed = await second.session({ store: fileSession(file) });
console.log((await resumed.run()).text);
await resumed.close();

assert.equal(payments, 1);
assert.equal((await verifyFile(file)).ok, true);
rmSync(dir, { recursive: true });
