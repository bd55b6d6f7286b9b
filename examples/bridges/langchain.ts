// Applies rules to LangChain: to an agent of `createAgent`, and to a chat model.
import assert from 'node:assert/strict';
import * as messages from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { fairleadMiddleware, wrapChatModel } from 'fairlead/bridges/langchain';
import { defineGate, compileRuleSet } from 'fairlead/rules';
import { calls, says, scriptedServer } from 'fairlead/testing';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';

await using server = await scriptedServer([
  calls('search', { query: 'the salary of Ada' }),
  calls('search', { query: 'the birthday of Ada' }),
  says('It is in December.'),
]);
const chat = new ChatOpenAI({ model: 'any-model', apiKey: 'none', configuration: { baseURL: `${server.url}/v1` } });

const rules = compileRuleSet({
  name: 'project-rules',
  gates: [
    defineGate({
      name: 'no-salaries',
      description: 'Salaries are private.',
      decide: ({ input }) =>
        JSON.stringify(input).includes('salary') ? { deny: 'Salaries are not looked up here.' } : undefined,
      examples: [],
    }),
  ],
});
const searched: string[] = [];
const search = tool(
  ({ query }: { query: string }) => {
    searched.push(query);
    return '10 December';
  },
  { name: 'search', description: 'Searches.', schema: z.object({ query: z.string() }) },
);

const agent = createAgent({
  model: chat,
  tools: [search],
  middleware: [fairleadMiddleware({ ...rules, messages })],
});
const { messages: said } = await agent.invoke({ messages: [{ role: 'user', content: 'When is the party?' }] });
assert.equal(said.at(-1)?.text, 'It is in December.');
assert.deepEqual(searched, ['the birthday of Ada']);

// A chat model: wrapChatModel returns a chat model that can be bound, piped, streamed and used in chains.
const wrapped = wrapChatModel(chat, {
  messages,
  stops: [({ total }) => (total.turns >= 1 ? { reason: 'rule', detail: 'One answer is enough.' } : undefined)],
});
server.setScript([says('Good morning.')]);
const first = await wrapped.invoke('Hello!');
assert.equal(first.text, 'Good morning.');

let text = '';
for await (const chunk of await wrapped.stream(['Hello!', first, 'And now?'])) text += chunk.text;
assert.match(text, /stopped \(rule\): One answer is enough/);
