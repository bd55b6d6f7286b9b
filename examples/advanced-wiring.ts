// Wires everything explicitly: a provider adapter, a hidden tool, a session cache, a reminder and a run file, in one program.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Harness, SessionCache, tool } from 'fairlead';
import { openProvider } from 'fairlead/providers';
import { calls, says, scriptedServer } from 'fairlead/testing';

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

// A hidden tool is in no request. The system prompt tells the model about it, and a call that names it runs.
const total = tool({
  name: 'total',
  description: 'Adds up the orders of a handle.',
  inputSchema: { type: 'object', properties: { handle: { type: 'string' } }, required: ['handle'] },
  effect: 'read',
  visible: false,
  execute: ({ handle }) => {
    const rows = cache.get(handle) as readonly { readonly usd: number }[];
    const usd = rows.reduce((sum, row) => sum + row.usd, 0);
    cache.setAnswer({ usd });
    return { usd };
  },
});

const server = await scriptedServer([
  calls('query', { month: 6 }),
  calls('total', { handle: 'orders' }),
  says('The orders of June add up to 60 dollars.'),
]);
// The adapter translates between the harness and the API of one provider: here Anthropic's, on a scripted server.
const provider = await openProvider({
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  baseUrl: `${server.url}/v1`,
  apiKey: 'any',
});
const system = 'You analyse orders. To add up the orders of a handle, call total with {"handle": "..."}.';
const harness = new Harness({
  provider,
  system,
  tools: [query, total],
  maxTurns: 10,
  runDir,
  cache,
});
harness.registerReminder((turn, maxTurns) => (turn > 1 ? `Turn ${turn} of ${maxTurns}.` : null));

const result = await harness.runResult('What did June bring?', { runId: 'june' });
await harness.close();

console.log(result.text, result.object, result.runFile);
assert.deepEqual([result.status, result.runId, result.object], ['success', 'june', { usd: 60 }]);
assert.deepEqual(Object.keys(result.cacheSnapshots), ['orders']);
assert.equal(server.requests.length, 3);
for (const { body } of server.requests) {
  const request = body as { readonly system: readonly { readonly text: string }[]; readonly tools: readonly object[] };
  assert.equal(request.system[0]?.text, system, 'the system prompt has the same bytes in every request');
  assert.doesNotMatch(JSON.stringify(request.tools), /"total"/);
}
assert.match(readFileSync(result.runFile ?? '', 'utf8'), /Turn 2 of 10\./);
cache.close();
await server.close();
rmSync(runDir, { recursive: true });
