// Gives an agent tools, and a gate that applies to every tool: a deletion needs approval, whatever the model asks for.
import assert from 'node:assert/strict';
import { Agent, tool, type Gate } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const files = new Map([
  ['a.txt', 'alpha'],
  ['b.txt', 'beta'],
]);
const inputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

const read = tool({
  name: 'read',
  description: 'Reads a file.',
  inputSchema,
  effect: 'read',
  execute: ({ name }) => files.get(name) ?? 'There is no such file.',
});
const remove = tool({
  name: 'remove',
  description: 'Deletes a file.',
  inputSchema,
  effect: 'write',
  execute: ({ name }) => `deleted: ${files.delete(name)}`,
});

const askBeforeDeleting: Gate = ({ tool: name, input }) =>
  name === 'remove' ? { type: 'ask', question: `Delete ${JSON.stringify(input)}?` } : { type: 'allow' };

const model = scriptedProvider([
  calls('read', { name: 'a.txt' }),
  calls('remove', { name: 'a.txt' }),
  says('I read a.txt and deleted it.'),
]);
const agent = new Agent({ model, tools: [read, remove], gates: [askBeforeDeleting] });
await using session = await agent.session();

const waiting = await session.run('Clean up.');
assert.equal(waiting.status, 'waiting');
assert.equal(files.size, 2);

for (const { id, question } of waiting.pendingApprovals) {
  console.log(question);
  await session.approve(id);
}
const result = await session.run();
console.log(result.text, [...files.keys()]);
assert.deepEqual([...files.keys()], ['b.txt']);
