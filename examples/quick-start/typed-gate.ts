// A gate for one tool: its function gets the input with the type of the schema, and decides before the call runs.
import assert from 'node:assert/strict';
import { Agent, tool, toolGate } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';
import * as z from 'zod';

const paid: number[] = [];
const pay = tool({
  name: 'pay',
  description: 'Pays an amount.',
  inputSchema: z.object({ to: z.string(), usd: z.number(), currency: z.string().default('usd') }),
  execute: ({ usd }) => `Payment ${paid.push(usd)} made.`,
});

const limit = toolGate(pay, ({ input }) =>
  input.usd > 1000 ? { type: 'deny', reason: `${input.usd} ${input.currency} is above the limit of 1000.` } : undefined,
);

const model = scriptedProvider([
  calls('pay', { to: 'Ada', usd: 40 }).and(calls('pay', { to: 'Bob', usd: 5000 })),
  says('Ada is paid. Bob is above the limit.'),
]);
const agent = new Agent({ model, tools: [pay], gates: [limit] });
const result = await agent.run('Pay Ada 40 and Bob 5000.');
console.log(result.text);
assert.deepEqual(paid, [40]);
