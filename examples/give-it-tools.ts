// Give an agent tools, and a rule that holds whatever the model wants: nothing is deleted without a person's yes.
import assert from 'node:assert/strict';
import { defineTool, Harness, type Gate } from 'fairlead';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const files = new Map([
  ['a.txt', 'alpha'],
  ['b.txt', 'beta'],
]);
const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

const read = defineTool({
  name: 'read',
  description: 'Reads a file.',
  effect: 'read',
  input: name,
  run: (input) => files.get(String(input['name'])) ?? 'no such file',
});
const remove = defineTool({
  name: 'remove',
  description: 'Deletes a file.',
  effect: 'write',
  input: name,
  run: (input) => `deleted: ${files.delete(String(input['name']))}`,
});

const askBeforeDeleting: Gate = (call) =>
  call.tool === 'remove' ? { type: 'ask', question: `Delete ${JSON.stringify(call.input)}?` } : { type: 'allow' };

const provider = scriptedProvider([
  calls('read', { name: 'a.txt' }),
  calls('remove', { name: 'a.txt' }),
  says('Read it and deleted it.'),
]);
const harness = new Harness({
  provider,
  system: 'You keep files in order.',
  tools: [read, remove],
  gates: [askBeforeDeleting],
  runDir: null,
});

const waiting = await harness.runResult('Clean up.');
assert.equal(waiting.status, 'waiting');
assert.equal(files.size, 2);

const [ask] = waiting.pendingApprovals;
console.log(ask?.question);
await harness.session?.approve(ask?.id ?? '');
await harness.session?.resume();
assert.equal(files.size, 1);
console.log([...files.keys()]);
