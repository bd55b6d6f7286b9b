// Prints an answer while the model writes it, then reads the result of the same run.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { says, scriptedProvider } from 'fairlead/testing';

const model = process.env['FAIRLEAD_MODEL'] ?? scriptedProvider(() => says('One, two, three.', { chunks: 4 }));
const agent = new Agent({ model });

const stream = agent.stream('Count to three.');
for await (const text of stream.textStream) process.stdout.write(text);
process.stdout.write('\n');

const result = await stream.result;
assert.equal(result.status, 'success');

// The stream itself has every event: messages as in the Anthropic Messages API, tool results, and the result at the end.
const types = new Set<string>();
for await (const event of agent.stream('Count to three.')) types.add(event.type);
assert.ok(types.has('message_start') && types.has('content_block_delta') && types.has('result'));
