// Wires everything explicitly: a provider, a deferred tool, a session cache, a reminder and a run file, in one program.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Harness, SessionCache, tool } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const runDir = mkdtempSync(path.join(tmpdir(), 'fairlead-runs-'));
const cache = new SessionCache();

// The model sees a handle and a snapshot of the rows; the program has the rows themselves.
const query = tool({
  name: 'query',
  description: 'Reads the orders of a month.',
  inputSchema: { type: 'object', properties: { month: { type: 'integer' } }, required: ['month'] },
  effect: 'read',
  execute: ({ month }) => {
    const rows = [1, 2, 3].map((id) => ({ id, month, usd: id * 10 }));
    const handle = cache.put('orders', rows, { semantics: 'orders of one month' });
    return { handle, snapshot: cache.snapshot(handle) };
  },
});

// A deferred tool is not in the request: the model loads it by name, so the prompt stays short and its prefix cached.
const total = tool({
  name: 'total',
  description: 'Adds up the orders of a handle.',
  inputSchema: { type: 'object', properties: { handle: { type: 'string' } }, required: ['handle'] },
  effect: 'read',
  deferred: true,
  execute: ({ handle }) => {
    const rows = cache.get(handle) as readonly { readonly usd: number }[];
    const usd = rows.reduce((sum, row) => sum + row.usd, 0);
    cache.setAnswer({ usd });
    return { usd };
  },
});

const provider = scriptedProvider([
  calls('query', { month: 6 }),
  calls('load_tools', { names: ['total'] }),
  calls('use_tool', { tool: 'total', input: { handle: 'orders' } }),
  says('The orders of June add up to 60 dollars.'),
]);
const harness = new Harness({
  provider,
  system: 'You analyse orders.',
  tools: [query, total],
  maxTurns: 10,
  runDir,
  cache,
});
harness.registerReminder((turn, maxTurns) => (turn > 2 ? `Turn ${turn} of ${maxTurns}.` : null));

const result = await harness.runResult('What did June bring?', { runId: 'june' });
await harness.close();

console.log(result.text, result.object, result.runFile);
assert.deepEqual([result.status, result.runId, result.object], ['success', 'june', { usd: 60 }]);
assert.deepEqual(Object.keys(result.cacheSnapshots), ['orders']);
const [first] = provider.requests;
assert.deepEqual(first?.tools.map(({ name }) => name).includes('total'), false);
assert.ok(provider.requests.every(({ system }) => system === 'You analyse orders.'));
assert.match(readFileSync(result.runFile ?? '', 'utf8'), /Turn 3 of 10\./);
cache.close();
rmSync(runDir, { recursive: true });
