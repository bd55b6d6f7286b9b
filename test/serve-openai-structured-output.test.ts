// Structured output over the OpenAI endpoints with common clients: the answer matches its schema, or there is no answer.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, Output, streamText } from 'ai';
import OpenAI, { UnprocessableEntityError, type APIError } from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { toolOutput, type Tool } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createApiFixture, roleKeys, type ApiFixture } from './support/api-server.ts';

const createOpenAiClient = ({ url }: ApiFixture): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: roleKeys.runner, maxRetries: 0, timeout: 30_000 });

const Weather = z.object({ city: z.string(), degrees: z.number() });
const rome = { city: 'Rome', degrees: 31 };
const messages = [{ role: 'user' as const, content: 'The weather in Rome?' }];
const chatRequest = { model: 'fairlead', messages };

test('[A110] the openai SDK parses structured output, whole and streamed, with both endpoints', async (t) => {
  const schemas: unknown[] = [];
  const api = await createApiFixture(t, {
    script: ({ body }) => {
      schemas.push(body.outputSchema);
      return says(JSON.stringify(rome));
    },
  });
  const client = createOpenAiClient(api);
  const chat = { ...chatRequest, response_format: zodResponseFormat(Weather, 'weather') };
  const whole = await client.chat.completions.parse(chat);
  assert.deepEqual(whole.choices[0]?.message.parsed, rome);
  const stream = client.chat.completions.stream(chat);
  assert.deepEqual((await stream.finalChatCompletion()).choices[0]?.message.parsed, rome);
  const responses = { model: 'fairlead', input: 'Rome?', text: { format: zodTextFormat(Weather, 'weather') } };
  assert.deepEqual((await client.responses.parse(responses)).output_parsed, rome);
  assert.deepEqual((await client.responses.stream(responses).finalResponse()).output_parsed, rome);
  assert.equal(schemas.length, 4);
  for (const schema of schemas)
    assert.deepEqual(Object.keys((schema as { properties: object }).properties), ['city', 'degrees']);
});

test('[A110] the AI SDK gets structured output with each of its providers, whole and streamed', async (t) => {
  const api = await createApiFixture(t, { script: () => says(JSON.stringify(rome)) });
  const own = { baseURL: `${api.url}/v1`, apiKey: roleKeys.runner };
  const openai = createOpenAI(own);
  const compatible = createOpenAICompatible({ name: 'fairlead', ...own, supportsStructuredOutputs: true });
  for (const model of [openai.chat('fairlead'), openai.responses('fairlead'), compatible('fairlead')]) {
    const { object } = await generateObject({ model, schema: Weather, prompt: 'Rome?' });
    assert.deepEqual(object, rome);
    const streamed = streamText({ model, prompt: 'Rome?', output: Output.object({ schema: Weather }) });
    for await (const _ of streamed.partialOutputStream);
    assert.deepEqual(await streamed.output, rome);
  }
});

test('[A110] an answer that does not match is requested again, and no part of it is sent to the client', async (t) => {
  const api = await createApiFixture(t, {
    script: ({ index }) =>
      index % 3 === 0 ? 'It is warm.' : index % 3 === 1 ? '{"city": 5}' : `\`\`\`json\n${JSON.stringify(rome)}\n\`\`\``,
  });
  const client = createOpenAiClient(api);
  const chat = { ...chatRequest, response_format: zodResponseFormat(Weather, 'weather') };
  const whole = await client.chat.completions.create(chat);
  assert.deepEqual(JSON.parse(whole.choices[0]?.message.content ?? ''), rome, 'a fence around it is removed');
  let said = '';
  for await (const { choices } of await client.chat.completions.create({ ...chat, stream: true }))
    said += choices[0]?.delta.content ?? '';
  assert.deepEqual(JSON.parse(said), rome);
});

test('[A110] an answer that never matches is an error, and so is a run that a tool completes; JSON without a schema must be an object', async (t) => {
  const finish: Tool = {
    name: 'finish',
    description: 'Ends the task.',
    input: { type: 'object' },
    effect: 'read',
    execute: () => toolOutput({ text: 'done', endsRun: true }),
  };
  const script: Record<string, () => ReturnType<typeof says>> = {
    words: () => says('Warm.'),
    tool: () => says('I am done.').and(calls('finish')),
    list: () => says('[1]'),
    object: () => says('{"a": 1}'),
  };
  const api = await createApiFixture(t, {
    tools: [finish],
    script: ({ prompt, body }) => (script[prompt] ?? script[getFirstWord(body.messages)])?.() ?? says('?'),
    bounds: { firstChunkMs: 30_000 },
  });
  const client = createOpenAiClient(api);
  const ask = (words: string, type: 'json_object' | 'json_schema', stream = false): Promise<unknown> =>
    client.chat.completions.create({
      model: 'fairlead',
      messages: [{ role: 'user', content: words }],
      response_format: type === 'json_object' ? { type } : zodResponseFormat(Weather, 'weather'),
      stream,
    });
  for (const [words, type] of [
    ['words', 'json_schema'],
    ['tool', 'json_schema'],
    ['words', 'json_object'],
    ['list', 'json_object'],
  ] as const)
    for (const stream of [false, true])
      await assert.rejects(ask(words, type, stream), (error: unknown) => {
        assert.ok(error instanceof UnprocessableEntityError, `${words} ${type} ${String(stream)}: ${String(error)}`);
        assert.match(error.message, /does not match|required schema/);
        return true;
      });
  const { choices } = (await ask('object', 'json_object')) as OpenAI.ChatCompletion;
  assert.equal(choices[0]?.message.content, '{"a": 1}');
});

const getFirstWord = (messages: { readonly root?: unknown } | object): string =>
  /"text":"(\w+)/.exec(JSON.stringify(messages))?.[1] ?? '';

test('[A110] a refusal of the model is reported as a refusal, and a truncated answer as truncated', async (t) => {
  const api = await createApiFixture(t, {
    script: ({ body }) =>
      body.settings.maxOutputTokens === undefined
        ? says('I will not say that.', { finish: 'refusal' })
        : says('{"city": "Ro', { finish: 'length' }),
  });
  const client = createOpenAiClient(api);
  const chat = { ...chatRequest, response_format: zodResponseFormat(Weather, 'weather') };
  const { message } = (await client.chat.completions.parse(chat)).choices[0] ?? {};
  assert.deepEqual([message?.refusal, message?.content, message?.parsed], ['I will not say that.', null, null]);
  let refusal = '';
  for await (const { choices } of await client.chat.completions.create({ ...chat, stream: true }))
    refusal += choices[0]?.delta.refusal ?? '';
  assert.equal(refusal, 'I will not say that.');
  const responses = { model: 'fairlead', input: 'Rome?', text: { format: zodTextFormat(Weather, 'weather') } };
  const { output } = await client.responses.create(responses);
  assert.deepEqual(output[0]?.type === 'message' && output[0].content, [
    { type: 'refusal', refusal: 'I will not say that.' },
  ]);
  const cut = await client.chat.completions.create({ ...chat, max_tokens: 4 });
  assert.equal(cut.choices[0]?.finish_reason, 'length');
  const incomplete = await client.responses.create({ ...responses, max_output_tokens: 4 });
  assert.deepEqual([incomplete.status, incomplete.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }]);
});

test('[A110] an invalid schema is refused with the name of its field, before a run starts', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  const client = createOpenAiClient(api);
  for (const [given, param] of [
    [{ type: 'grammar' }, 'response_format.type'],
    ['json', 'response_format'],
    [{ type: 'json_schema' }, 'response_format.json_schema.schema'],
    [{ type: 'json_schema', json_schema: { name: 'a', schema: 5 } }, 'response_format.json_schema.schema'],
    [
      { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'objekt' } } },
      'response_format.json_schema.schema',
    ],
  ] as const)
    await assert.rejects(
      client.chat.completions.create({ ...chatRequest, response_format: given } as never),
      (error) => {
        const { status, param: named, type } = error as APIError;
        assert.deepEqual([status, named, type], [400, param, 'invalid_request_error'], JSON.stringify(given));
        return true;
      },
    );
  const text = { format: { type: 'json_schema', name: 'a', schema: { type: 'objekt' } } };
  await assert.rejects(client.responses.create({ model: 'fairlead', input: 'x', text } as never), (error) => {
    assert.equal((error as APIError).param, 'text.format.schema');
    return true;
  });
  assert.equal((await api.store.queue.list()).length, 0);
});
