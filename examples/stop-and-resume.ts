// A session is a file. Stop the program at any moment, open the file again, and the run goes on where it was; no effect happens twice.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, Harness } from 'fairlead';
import { openJsonl, verifyFile } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const folder = mkdtempSync(join(tmpdir(), 'fairlead-example-'));
const file = join(folder, 'session.jsonl');
let payments = 0;
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  effect: 'external',
  input: { type: 'object' },
  run: () => `payment ${++payments} made`,
});
const wiring = { system: 'You pay bills.', tools: [pay] };

// One process pays and then stops before the model has answered.
const first = new Harness({ ...wiring, provider: scriptedProvider([calls('pay'), says('never said')]) });
const session = await first.open(await openJsonl(file));
session.subscribe((event) => event.type === 'tool-ended' && session.cancel());
await first.askResult('Pay the bill.');
await first.close();

// Another one opens the file and goes on.
const second = new Harness({ ...wiring, provider: scriptedProvider([says('The bill is paid.')]) });
await second.open(await openJsonl(file));
console.log(await second.ask('Go on.'));
await second.close();

assert.equal(payments, 1);
assert.equal((await verifyFile(file)).ok, true);
rmSync(folder, { recursive: true });
