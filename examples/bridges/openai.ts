// Applies rules to the official OpenAI client: wrapOpenAI returns a client of the same type.
import assert from 'node:assert/strict';
import { wrapOpenAI } from 'fairlead/bridges';
import { confirm, compileRuleSet } from 'fairlead/rules';
import { calls, says, scriptedServer } from 'fairlead/testing';
import OpenAI from 'openai';

await using server = await scriptedServer([calls('delete_file', { path: 'a.txt' }), says('I leave it, then.')]);

const rules = compileRuleSet({ name: 'project-rules', gates: [confirm({ which: ['delete_file'] })] });
const client = wrapOpenAI(new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any' }), rules);

const { choices } = await client.chat.completions.create({
  model: 'any-model',
  messages: [{ role: 'user', content: 'Clean up.' }],
  tools: [{ type: 'function', function: { name: 'delete_file', parameters: { type: 'object' } } }],
});

// There is no approval handler, so the call was denied: the model received the reason and answered again.
assert.equal(choices[0]?.message.content, 'I leave it, then.');
assert.equal(server.requests.length, 2);
console.log(choices[0].message.content);
