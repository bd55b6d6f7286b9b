// A process with an agent whose model repeats one external call until it has a known result.
// Arguments: the session file, the ledger, and how to continue: `die` (SIGKILL inside the call), `run`, `stream`, `approve` or `reject`.
import fs from 'node:fs';
import { Agent, fileSession, tool } from '../../src/agent/index.ts';
import { pendingApprovals } from '../../src/core/index.ts';
import { calls, says, scriptedProvider } from '../../src/testing/index.ts';

const [file = '', ledger = '', how = 'run'] = process.argv.slice(2);

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object', properties: { usd: { type: 'number' } } },
  effect: 'external',
  execute() {
    fs.appendFileSync(ledger, 'paid\n');
    if (how === 'die') process.kill(process.pid, 'SIGKILL');
    return 'paid';
  },
});
const model = scriptedProvider(({ results }) =>
  results.length < 2 ? calls('pay', { usd: 5 }) : says(results.at(-1) ?? ''),
);
const agent = new Agent({ model, tools: [pay] });
const session = await agent.session({ store: fileSession(file) });
const [pending] = pendingApprovals(session.state);
if (pending && how === 'approve') await session.approve(pending.id);
if (pending && how === 'reject') await session.reject(pending.id);
const result =
  how === 'die' ? await session.run('pay') : how === 'stream' ? await session.stream().result : await session.run();
await session.close();
fs.writeSync(1, JSON.stringify({ status: result.status, text: result.text, pending: result.pendingApprovals }));
