// Behaviour of the LangChain and LangGraph bridge in addition to the shared conformance tests.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { awaitAllCallbacks } from '@langchain/core/callbacks/promises';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import * as messages from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { MemorySaver } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { createAgent, initChatModel, tool } from 'langchain';
import { z } from 'zod';
import type { Gate, Rule } from '../../core/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { calls, joinResponses, prefixBreaks, says, scriptedServer, type ScriptedServer } from '../../testing/index.ts';
import { createConversationTracker } from '../conversation-tracking/tracker.ts';
import { createInterceptor } from '../interceptor/interceptor.ts';
import { fairleadMiddleware, wrapChatModel, guardTools } from './index.ts';

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm -r') ? { type: 'deny', reason: 'Nothing is deleted.' } : { type: 'allow' };
const notingRule: Rule = (event) =>
  event.type === 'input-received' && event.how === 'prompt' ? [{ key: 'n', text: 'Be kind.' }] : [];

const chat = ({ url }: ScriptedServer, more: ChatOpenAIFields = {}): ChatOpenAI =>
  new ChatOpenAI({ apiKey: 'k', model: 'm', maxRetries: 0, configuration: { baseURL: `${url}/v1` }, ...more });

const runTool = (ran: string[]) =>
  tool(({ command }: { command: string }) => `ran ${ran.push(command)}`, {
    name: 'run',
    description: 'Runs.',
    schema: z.object({ command: z.string() }),
  });

const deniedOnce = [
  joinResponses([says('Let me clean. '), calls('run', { command: 'rm -r' })]),
  calls('run', { command: 'ls' }),
];

test('[M42] a wrapped chat model is a chat model: invoke, stream, pipe, batch, config and structured output work', async () => {
  await using server = await scriptedServer(() => says('{"a":1}'));
  const model = wrapChatModel(chat(server), { messages, rules: [notingRule] });
  assert.ok(model instanceof ChatOpenAI);
  assert.equal((await model.invoke('One.')).text, '{"a":1}');
  let text = '';
  for await (const chunk of await model.stream('Two.')) text += chunk.text;
  assert.equal(text, '{"a":1}');
  assert.equal(await model.pipe(new StringOutputParser()).invoke('Three.'), '{"a":1}');
  assert.equal((await model.withConfig({ tags: ['t'] }).invoke('Four.')).text, '{"a":1}');
  const shaped = model.withStructuredOutput(z.object({ a: z.number() }), { method: 'jsonMode' });
  assert.deepEqual(await shaped.invoke('Five.'), { a: 1 });
  assert.equal((await model.batch(['Six.', 'Seven.'])).length, 2);
  assert.equal(server.requests.length, 7);
  for (const { body } of server.requests) assert.match(JSON.stringify(body), /Be kind\./);
});

test('callbacks get the forwarded text and no denied call, also if a model always streams', async () => {
  for (const streaming of [true, false]) {
    await using server = await scriptedServer(deniedOnce);
    const heard: string[] = [];
    const model = wrapChatModel(chat(server, streaming ? { streaming } : {}), {
      messages,
      gates: [denyDelete],
    }).bindTools([runTool([])]);
    const callbacks = [
      {
        handleLLMNewToken: (token: string, _at: unknown, ...rest: unknown[]) =>
          void heard.push(token, JSON.stringify(rest.at(-1))),
      },
    ];
    const answer = await (streaming
      ? model.invoke('Go.', { callbacks })
      : model.stream('Go.', { callbacks }).then(async (stream) => {
          let all: messages.AIMessageChunk | undefined;
          for await (const chunk of stream) all = all?.concat(chunk) ?? chunk;
          return all;
        }));
    assert.deepEqual(
      answer?.tool_calls?.map(({ args }) => args),
      [{ command: 'ls' }],
    );
    await awaitAllCallbacks();
    assert.ok(heard.includes('Let'), heard.join('|'));
    assert.ok(!heard.join('').includes('rm -r'), 'not even in part');
  }
});

test('both versions of streamEvents contain only what was forwarded', async () => {
  await using server = await scriptedServer([...deniedOnce, ...deniedOnce]);
  const model = wrapChatModel(chat(server), { messages, gates: [denyDelete] });
  const told: string[] = [];
  for await (const event of model.bindTools([runTool([])]).streamEvents('Go.', { version: 'v2' }))
    told.push(JSON.stringify(event.data));
  for await (const event of model.streamEvents('Go on.')) told.push(JSON.stringify(event));
  assert.ok(told.length > 4);
  assert.ok(told.join('').includes('clean'));
  assert.ok(!told.join('').includes('rm -r'));
});

test('a model with bound tools can be wrapped', async () => {
  await using server = await scriptedServer(deniedOnce);
  const bound = chat(server).bindTools([runTool([])]);
  const plain = new Plain({});
  const tagged = plain.withConfig({ tags: ['t'] });
  assert.notEqual(tagged.constructor, Plain, 'a binding, not a model');
  await wrapChatModel(tagged, { messages, system: 'Aware.' }).invoke('Go.');
  assert.equal(plain.asked[0]?.[0]?.text, 'Aware.');
  const answer = await wrapChatModel(bound, { messages, gates: [denyDelete] }).invoke('Go.');
  assert.deepEqual((answer as messages.AIMessage).tool_calls?.length, 1);
  assert.equal(server.requests.length, 2);
});

class Plain extends BaseChatModel {
  asked: messages.BaseMessage[][] = [];
  _llmType(): string {
    return 'plain';
  }
  async _generate(said: messages.BaseMessage[]): Promise<ChatResult> {
    this.asked.push(said);
    return { generations: [{ text: 'Hm.', message: new messages.AIMessage('Hm.') }] };
  }
}

class Rebuilt extends Plain {
  static heard: messages.BaseMessage[] = [];
  override bindTools(): Rebuilt {
    return new Rebuilt({});
  }
  override async _generate(said: messages.BaseMessage[]): Promise<ChatResult> {
    Rebuilt.heard = said;
    return super._generate(said);
  }
}

test('a model whose bindTools returns a new instance stays wrapped', async () => {
  await wrapChatModel(new Rebuilt({}), { messages, system: 'Aware.' }).bindTools().invoke('Go.');
  assert.equal(Rebuilt.heard[0]?.text, 'Aware.');
});

test('a model without streaming or bindTools can be wrapped', async () => {
  const plain = new Plain({});
  const model = wrapChatModel(plain, { messages, system: 'Aware.', rules: [notingRule] });
  const pieces: string[] = [];
  for await (const chunk of await model.stream('Go.')) pieces.push(chunk.text);
  assert.deepEqual(pieces, ['Hm.']);
  assert.deepEqual(
    plain.asked[0]?.map((message) => message.type),
    ['system', 'human', 'human'],
  );
});

test('[M42, M45] each thread of a checkpointer is one conversation, whatever its id', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-threads-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const conversations = createConversationTracker({ folder, rules: [notingRule] });
  await using server = await scriptedServer([says('One.'), says('Other.'), says('Two.')]);
  const agent = createAgent({
    model: chat(server),
    tools: [],
    checkpointer: new MemorySaver(),
    middleware: [fairleadMiddleware({ messages, tracker: conversations })],
  });
  const say = (words: string, thread_id: string) =>
    agent.invoke({ messages: [{ role: 'user', content: words }] }, { configurable: { thread_id } });
  await say('Hi.', 'tenant:1');
  await say('Hi.', 'tenant:2');
  await say('And?', 'tenant:1');
  await conversations.close();
  assert.equal(readdirSync(folder).filter((name) => name.startsWith('named-')).length, 2);
  const [first, , third] = server.requests;
  assert.ok(first && third);
  assert.deepEqual(prefixBreaks([first, third]), []);
  assert.equal(JSON.stringify(third.body).split('Be kind.').length, 3, 'one for each of the two prompts');
});

test('an agent with a model from initChatModel is intercepted by the middleware', async () => {
  await using server = await scriptedServer([calls('run', { command: 'rm -r' }), says('Then not.')]);
  const ran: string[] = [];
  const model = await initChatModel('m', {
    modelProvider: 'openai',
    apiKey: 'k',
    configuration: { baseURL: `${server.url}/v1` },
  });
  const agent = createAgent({
    model,
    tools: [runTool(ran)],
    middleware: [fairleadMiddleware({ messages, gates: [denyDelete] })],
  });
  const { messages: said } = await agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] });
  assert.equal(said.at(-1)?.text, 'Then not.');
  assert.deepEqual(ran, []);
  assert.throws(() => wrapChatModel(model, { messages }), /not a chat model/);
  assert.throws(() => wrapChatModel({}, { messages }), /not a chat model/);
});

test('[M41] a ToolNode with guarded tools denies calls that did not come from a wrapped model', async () => {
  const ran: string[] = [];
  const interceptor = await createInterceptor({ gates: [denyDelete], log: memoryLog() });
  const node = new ToolNode(guardTools([runTool(ran)], interceptor));
  const asks = new messages.AIMessage({
    content: '',
    tool_calls: [
      { id: '1', name: 'run', args: { command: 'rm -r' }, type: 'tool_call' },
      { id: '2', name: 'run', args: { command: 'ls' }, type: 'tool_call' },
    ],
  });
  const { messages: results } = (await node.invoke({ messages: [asks] })) as { messages: messages.ToolMessage[] };
  assert.match(results[0]?.text ?? '', /Nothing is deleted/);
  assert.equal(results[0]?.status, 'error');
  assert.deepEqual(ran, ['ls']);
});
