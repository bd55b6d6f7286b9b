// Streams a run, stops at a tool call that needs approval, and continues as a stream after the decision.
import assert from 'node:assert/strict';
import { Agent, tool, type StreamEvent } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';
import * as z from 'zod';

const pay = tool({
  name: 'pay',
  description: 'Pays an amount.',
  inputSchema: z.object({ to: z.string(), usd: z.number() }),
  needsApproval: true,
  execute: ({ to, usd }) => `Paid ${usd} to ${to}.`,
});
const model = scriptedProvider([calls('pay', { to: 'Ada', usd: 40 }), says('Ada has her money.')]);
const seen: string[] = [];

const show = (event: StreamEvent): void => {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') process.stdout.write(event.delta.text);
  if (event.type === 'tool_result') console.log(`${event.tool_name}: ${event.content}`);
  seen.push(event.type);
};

const agent = new Agent({ model, tools: [pay] });
await using session = await agent.session();

let stream = session.stream('Pay Ada 40.');
for await (const event of stream) show(event);

while ((await stream.result).status === 'waiting') {
  for (const { id, question } of (await stream.result).pendingApprovals) {
    console.log(question);
    await session.approve(id, { by: 'Ann' });
  }
  stream = session.stream();
  for await (const event of stream) show(event);
}
const result = await stream.result;
console.log(`\n${result.status} after ${result.turns} turns`);

assert.equal(result.text, 'Ada has her money.');
assert.equal(seen.filter((type) => type === 'tool_result').length, 1);
