// Behaviour of the AI SDK bridge in addition to the shared conformance tests.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from 'ai';
import { z } from 'zod';
import type { Gate } from '../../core/index.ts';
import {
  calls,
  fails,
  joinResponses,
  prefixBreaks,
  says,
  scriptedServer,
  thinks,
  type ScriptedServer,
} from '../../testing/index.ts';
import { memoryLog } from '../../stores/index.ts';
import { createConversationTracker } from '../conversation-tracking/tracker.ts';
import { createInterceptor } from '../interceptor/interceptor.ts';
import { fairleadMiddleware, guardToolSet, type BridgeOptions } from './index.ts';

const chat = ({ url }: ScriptedServer, options: BridgeOptions) =>
  wrapLanguageModel({
    model: createOpenAICompatible({ name: 'x', baseURL: `${url}/v1`, includeUsage: true })('m'),
    middleware: fairleadMiddleware(options),
  });

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm') ? { type: 'deny', reason: 'Nothing is deleted.' } : { type: 'allow' };

const tools = (ran: string[]) => ({
  run: tool({
    description: 'Runs.',
    inputSchema: z.object({ command: z.string() }),
    execute: ({ command }) => `ran ${ran.push(command)}`,
  }),
});

test('[M42] two conversations with the same first message and different names are stored in separate files', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-sdk-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await using server = await scriptedServer(() => says('Hello.'));
  const conversations = createConversationTracker({ folder });
  const model = chat(server, { tracker: conversations });
  for (const conversation of ['ada', 'tenant/bob', 'ada'])
    await generateText({ model, prompt: 'Hi.', providerOptions: { fairlead: { conversation } } });
  await conversations.close();
  assert.equal(readdirSync(folder).filter((name) => name.startsWith('named-')).length, 2);
});

test('when the SDK retries after a failure, the added notes stay at the same positions', async () => {
  await using server = await scriptedServer([fails('overloaded', { afterMs: 1 }), says('Here.')]);
  const model = chat(server, {
    rules: [(event) => (event.type === 'input-received' ? [{ key: 'n', text: 'Be kind.' }] : [])],
  });
  const { text } = await generateText({ model, prompt: 'Hi.' });
  assert.equal(text, 'Here.');
  assert.deepEqual(prefixBreaks(server.requests), []);
  assert.equal(JSON.stringify(server.requests[1]?.body).split('Be kind.').length, 2);
});

test('if one of two calls is denied, neither runs, and the model gets a result for both', async () => {
  await using server = await scriptedServer([
    joinResponses([calls('run', { command: 'ls' }), calls('run', { command: 'rm' })]),
    says('Then not.'),
  ]);
  const ran: string[] = [];
  const model = chat(server, { gates: [denyDelete] });
  const { text } = await generateText({ model, prompt: 'Go.', tools: tools(ran), stopWhen: isStepCount(5) });
  assert.equal(text, 'Then not.');
  assert.deepEqual(ran, []);
  const told = JSON.stringify(server.requests[1]?.body);
  assert.match(told, /Not run, because another call of this answer was refused/);
  assert.match(told, /Nothing is deleted\./);
});

for (const streamed of [false, true])
  test(`reasoning keeps its signature when a denied answer is sent back to the model, ${streamed ? 'streamed' : 'whole'}`, async () => {
    await using server = await scriptedServer([
      joinResponses([thinks('Better delete it.'), calls('run', { command: 'rm' })]),
      says('Then not.'),
    ]);
    const model = wrapLanguageModel({
      model: createAnthropic({ apiKey: 'k', baseURL: `${server.url}/v1` })('claude-x'),
      middleware: fairleadMiddleware({ gates: [denyDelete] }),
    });
    const call = { model, prompt: 'Go.', tools: tools([]), stopWhen: isStepCount(5) };
    assert.equal(await (streamed ? streamText(call).text : generateText(call).then(({ text }) => text)), 'Then not.');
    const told = JSON.stringify(server.requests[1]?.body);
    assert.match(told, /"type":"thinking","thinking":"Better delete it\.","signature":"[^"]+"/);
  });

test('a stop condition puts its reason into the provider metadata, and the SDK sees the finish reason "stop"', async () => {
  await using server = await scriptedServer([]);
  const model = chat(server, { stops: [() => ({ reason: 'rule', detail: 'Closed today.' })] });
  const whole = await generateText({ model, prompt: 'Hi.' });
  assert.equal(whole.finishReason, 'stop');
  assert.deepEqual(whole.providerMetadata?.['fairlead'], { stop: { reason: 'rule', detail: 'Closed today.' } });
  const streamed = streamText({ model, prompt: 'Hi.' });
  assert.match(await streamed.text, /Closed today/);
  assert.deepEqual((await streamed.providerMetadata)?.['fairlead'], whole.providerMetadata?.['fairlead']);
  assert.equal(server.requests.length, 0);
});

test('an error inside a stream is reported by the SDK, and no pending call runs', async () => {
  await using server = await scriptedServer([
    joinResponses([calls('run', { command: 'ls' }), { cutAfter: 2, error: { name: 'server-error' } }]),
    says('Here.'),
  ]);
  const ran: string[] = [];
  const errors: unknown[] = [];
  const model = chat(server, {});
  const call = {
    model,
    prompt: 'Go.',
    tools: tools(ran),
    maxRetries: 0,
    onError: (each: unknown) => void errors.push(each),
  };
  await streamText(call).consumeStream();
  assert.equal(errors.length > 0, true);
  assert.deepEqual(ran, []);
  assert.equal(await streamText(call).text, 'Here.');
});

test('[M41] guardToolSet denies direct tool calls that did not come from a wrapped model', async () => {
  const interceptor = await createInterceptor({ gates: [denyDelete] });
  const ran: string[] = [];
  const guarded = guardToolSet(tools(ran), interceptor);
  const options = { toolCallId: '1', messages: [], context: {} };
  await assert.rejects(async () => guarded.run.execute?.({ command: 'rm' }, options), /Nothing is deleted/);
  assert.equal(await guarded.run.execute?.({ command: 'ls' }, options), 'ran 1');
  assert.deepEqual(ran, ['ls']);
});

test('text before a denied call and text after it are two text parts of one answer, and are sent back unchanged', async () => {
  await using server = await scriptedServer([
    joinResponses([says('Let me clean up. '), calls('run', { command: 'rm' })]),
    says('Then not.'),
    says('Yes.'),
  ]);
  const model = chat(server, { gates: [denyDelete] });
  const first = streamText({ model, prompt: 'Go.', tools: tools([]), stopWhen: isStepCount(5) });
  const parts: string[] = [];
  for await (const part of first.stream) if (part.type.startsWith('text-')) parts.push(part.type);
  assert.equal(await first.text, 'Let me clean up. Then not.');
  assert.deepEqual(
    parts.filter((type) => type !== 'text-delta'),
    ['text-start', 'text-end', 'text-start', 'text-end'],
  );
  const said = (await first.response).messages;
  await generateText({
    model,
    tools: tools([]),
    messages: [{ role: 'user', content: 'Go.' }, ...said, { role: 'user', content: 'Sure?' }],
  });
  assert.deepEqual(prefixBreaks(server.requests), []);
  assert.equal(JSON.stringify(server.requests[2]?.body).split('Nothing is deleted.').length, 2);
});

test('a stream that is not read, or not read to its end, does not block its conversation', async () => {
  await using server = await scriptedServer([
    says('One.'),
    says('Two, and more, and more.', { cutAfter: 2, hang: true }),
    says('Three.'),
  ]);
  const model = wrapLanguageModel({
    model: createOpenAICompatible({ name: 'x', baseURL: `${server.url}/v1` })('m'),
    middleware: fairleadMiddleware({ log: memoryLog() }),
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Go.' }] }];
  await model.doStream({ prompt });
  const left = await model.doStream({ prompt });
  const reader = left.stream.getReader();
  await reader.read();
  await reader.cancel();
  const { content } = await model.doGenerate({ prompt });
  assert.deepEqual(
    content.map((part) => (part.type === 'text' ? part.text : part.type)),
    ['Three.'],
  );
});

test('a stream with a second attempt has one stream-start and one finish event', async () => {
  await using server = await scriptedServer([calls('run', { command: 'rm' }), says('Then not.')]);
  const { stream } = await chat(server, { gates: [denyDelete] }).doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }],
  });
  const types: string[] = [];
  for await (const { type } of stream as unknown as AsyncIterable<{ type: string }>) types.push(type);
  assert.equal(types.filter((type) => type === 'stream-start').length, 1);
  assert.equal(types.filter((type) => type === 'finish').length, 1);
});

test('cancelling a stream that sends nothing aborts the request', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const silent: Pick<LanguageModelV4, 'modelId' | 'doStream'> = {
    modelId: 'm',
    async doStream({ abortSignal }) {
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] });
            abortSignal?.addEventListener('abort', () => {
              controller.error(abortSignal.reason);
              resolve();
            });
          },
        }),
      };
    },
  };
  const middleware = fairleadMiddleware({});
  const params = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }] };
  const call = { params, model: silent, doStream: () => silent.doStream(params as LanguageModelV4CallOptions) };
  const reader = (await middleware.wrapStream(call)).stream.getReader();
  await reader.read();
  await reader.cancel();
  await promise;
});
