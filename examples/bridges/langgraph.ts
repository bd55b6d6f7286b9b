// Applies rules to the model of a LangGraph graph, and evaluates the gates at its tools again.
import assert from 'node:assert/strict';
import * as messages from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { createInterceptor } from 'fairlead/bridges';
import { wrapChatModel, guardTools } from 'fairlead/bridges/langchain';
import { rateLimit, compileRuleSet } from 'fairlead/rules';
import { calls, says, scriptedServer } from 'fairlead/testing';
import { tool } from 'langchain';
import { z } from 'zod';

await using server = await scriptedServer([
  calls('send_mail', { to: 'ada@example.com' }),
  calls('send_mail', { to: 'bob@example.com' }),
  says('One mail is sent, one has to wait.'),
]);
const chat = new ChatOpenAI({ model: 'any-model', apiKey: 'none', configuration: { baseURL: `${server.url}/v1` } });
const sent: string[] = [];
const mail = tool(({ to }: { to: string }) => `sent ${sent.push(to)}`, {
  name: 'send_mail',
  description: 'Sends a mail.',
  schema: z.object({ to: z.string() }),
});

const rules = compileRuleSet({ name: 'mail', gates: [rateLimit({ tool: 'send_mail', most: 1, per: 'turn' })] });
const interceptor = await createInterceptor(rules);
const model = wrapChatModel(chat, { messages, interceptor }).bindTools([mail]);

const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tools', new ToolNode(guardTools([mail], interceptor)))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition)
  .addEdge('tools', 'model')
  .compile();

const { messages: said } = await graph.invoke({ messages: [new messages.HumanMessage('Write to Ada and Bob.')] });
assert.equal(said.at(-1)?.text, 'One mail is sent, one has to wait.');
assert.deepEqual(sent, ['ada@example.com']);
