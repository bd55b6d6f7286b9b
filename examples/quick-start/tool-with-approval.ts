// Gives an agent a tool whose larger calls need approval, and decides about them with a function.
import assert from 'node:assert/strict';
import { Agent, tool } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';
import * as z from 'zod';

const sent: string[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays an amount in US dollars.',
  inputSchema: z.object({ to: z.string(), usd: z.number().positive() }),
  effect: 'external',
  needsApproval: ({ usd }) => usd > 100,
  execute: ({ to, usd }) => {
    sent.push(`${usd} to ${to}`);
    return { paid: true };
  },
});

const model = scriptedProvider([
  calls('pay', { to: 'Ada', usd: 40 }).and(calls('pay', { to: 'Bob', usd: 5000 })),
  says('I paid Ada. Bob was not approved.'),
]);
const agent = new Agent({ model, tools: [pay] });

const result = await agent.run('Pay Ada 40 and Bob 5000.', {
  onApproval: ({ tool: name, input, question }) => {
    console.log(name, input, question);
    return { approved: false, reason: 'More than 1000 needs a second signature.' };
  },
});

console.log(result.text);
assert.deepEqual(sent, ['40 to Ada']);
