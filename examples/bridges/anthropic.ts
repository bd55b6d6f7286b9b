// Applies rules to the official Anthropic client, with streaming.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { wrapAnthropic } from 'fairlead/bridges';
import { reminderSystemPrompt, defineReminder, toolFailures, compileRuleSet } from 'fairlead/rules';
import { says, scriptedServer } from 'fairlead/testing';

await using server = await scriptedServer([says('The target is spelt wrong.')]);

const rules = compileRuleSet({
  name: 'project-rules',
  reminders: [
    defineReminder({
      name: 'another-way',
      on: 'tool-ended',
      when: ({ state }) => toolFailures(state, 'run').inARow >= 1,
      message: 'Read the error before you try again.',
    }),
  ],
});
const plain = new Anthropic({ baseURL: server.url, apiKey: 'any' });
const client = wrapAnthropic(plain, { ...rules, system: reminderSystemPrompt });

const stream = client.messages.stream({
  model: 'any-model',
  max_tokens: 1000,
  messages: [
    { role: 'user', content: 'Run the tests.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'run', input: { command: 'make tset' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Error: no rule for tset' }] },
  ],
});
stream.on('text', (text) => process.stdout.write(text));
const { content } = await stream.finalMessage();

assert.deepEqual(
  content.map((block) => block.type),
  ['text'],
);
assert.match(server.requests[0]?.raw.toString() ?? '', /Read the error before you try again\./);
