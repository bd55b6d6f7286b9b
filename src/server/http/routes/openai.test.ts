// Tests of the OpenAI-compatible endpoints with the openai SDK and the AI SDK, streaming and non-streaming.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';
import OpenAI, { APIError } from 'openai';
import { toArray, type FleetRun, type Tool } from '../../../core/index.ts';
import { calls, says } from '../../../testing/index.ts';
import { createApiFixture, eventually, roleKeys, type ApiFixture } from '../../../../test/support/api-server.ts';

const clientOf = ({ url }: ApiFixture): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: roleKeys.runner });

const look: Tool = {
  name: 'look',
  description: 'Looks.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'It rains.',
};

test('the openai SDK gets a chat completion whose tools ran on the server, streaming and non-streaming', async (t) => {
  const api = await createApiFixture(t, {
    tools: [look],
    script: ({ results }) => (results.length === 0 ? calls('look', {}) : says(`I looked: ${results[0]}`)),
  });
  const client = clientOf(api);
  const messages = [{ role: 'user', content: 'How is the weather?' }] as const;
  const whole = await client.chat.completions.create({ model: 'fairlead', messages: [...messages] });
  assert.equal(whole.choices[0]?.message.content, 'I looked: It rains.');
  assert.equal(whole.choices[0]?.finish_reason, 'stop');
  assert.equal(whole.usage?.completion_tokens, 10);
  const stream = await client.chat.completions.create({
    model: 'fairlead',
    messages: [...messages],
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let finish: string | null | undefined;
  let tokens = 0;
  for await (const { choices, usage } of stream) {
    text += choices[0]?.delta.content ?? '';
    finish = choices[0]?.finish_reason ?? finish;
    tokens = usage?.total_tokens ?? tokens;
  }
  assert.equal(text, 'I looked: It rains.');
  assert.equal(finish, 'stop');
  assert.equal(tokens, 30);
  const { data } = await client.models.list();
  assert.deepEqual(
    data.map(({ id }) => id),
    ['fairlead', 'scripted'],
  );
  assert.equal((await api.store.queue.list()).length, 2, 'each request is one run of the fleet');
});

test('earlier messages become the start of the session, together with the system message', async (t) => {
  let seen: readonly string[] = [];
  const api = await createApiFixture(t, {
    script: ({ body }) => {
      seen = toArray(body.messages).map(
        ({ role, parts }) => `${role}: ${parts.map((part) => ('text' in part ? part.text : '')).join('|')}`,
      );
      return 'Noted.';
    },
  });
  const { choices } = await clientOf(api).chat.completions.create({
    model: 'fairlead',
    messages: [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
      { role: 'user', content: [{ type: 'text', text: 'Who' }] },
      { role: 'user', content: 'am I?' },
    ],
  });
  assert.equal(choices[0]?.message.content, 'Noted.');
  assert.deepEqual(seen, ['user: Be short.|I am Ada.', 'assistant: Hello Ada.', 'user: Who\nam I?']);
});

test('the openai SDK gets a response, streaming and non-streaming, and continues it by its id', async (t) => {
  const api = await createApiFixture(t, {
    script: ({ body, prompt }) => `${toArray(body.messages).length}: ${prompt}`,
  });
  const client = clientOf(api);
  const first = await client.responses.create({ model: 'fairlead', input: 'one' });
  assert.equal(first.output_text, '1: one');
  assert.equal(first.usage?.output_tokens, 5);
  const stream = await client.responses.create({
    model: 'fairlead',
    input: 'two',
    previous_response_id: first.id,
    stream: true,
  });
  const types: string[] = [];
  let text = '';
  let second = '';
  for await (const event of stream) {
    types.push(event.type);
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.completed') second = event.response.output_text || event.response.id;
  }
  assert.equal(text, '3: two');
  assert.equal(types[0], 'response.created');
  assert.equal(types.at(-1), 'response.completed');
  assert.ok(second);
  await assert.rejects(
    client.responses.create({ model: 'fairlead', input: 'three', previous_response_id: first.id }),
    (error: unknown) => error instanceof APIError && error.status === 400 && /last response/.test(error.message),
  );
});

test('the AI SDK works with both endpoints', async (t) => {
  const api = await createApiFixture(t);
  const provider = createOpenAI({ baseURL: `${api.url}/v1`, apiKey: roleKeys.runner });
  for (const model of [provider.chat('fairlead'), provider.responses('fairlead')]) {
    const { text } = await generateText({ model, prompt: 'hello' });
    assert.equal(text, 'You said: hello');
    const streamed = streamText({ model, prompt: 'again' });
    assert.equal(await streamed.text, 'You said: again');
    assert.equal(await streamed.finishReason, 'stop');
  }
});

test('text before the calls of a turn is streamed too, and repeated text is sent once', async (t) => {
  const api = await createApiFixture(t, {
    tools: [look],
    script: ({ results }) => (results.length === 0 ? [says('Let me look.'), calls('look', {})] : says('It rains.')),
  });
  const stream = await clientOf(api).chat.completions.create({
    model: 'fairlead',
    messages: [{ role: 'user', content: 'Weather?' }],
    stream: true,
  });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  assert.equal(text, 'Let me look.\n\nIt rains.');
});

test('unsupported parameters are refused with OpenAI errors, and a run without an answer is not retried', async (t) => {
  const api = await createApiFixture(t, {
    tools: [{ ...look, effect: 'external' }],
    gates: [() => ({ type: 'ask', question: 'May it look?' })],
    script: () => calls('look', {}),
  });
  const client = clientOf(api);
  const base = { model: 'fairlead', messages: [{ role: 'user', content: 'x' }] } as const;
  const refused = (told: RegExp, status: number) => (error: unknown) =>
    error instanceof APIError && error.status === status && told.test(error.message);
  const odd: readonly Record<string, unknown>[] = [
    { tools: [{ type: 'web_search' }] },
    { n: 2 },
    { response_format: { type: 'grammar' } },
    { messages: [{ role: 'assistant', content: 'x' }] },
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }] },
    { messages: [] },
    { messages: [{ role: 'user', content: ' ' }] },
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://127.0.0.1:9/x' } }] }] },
    { tools: {} },
    { functions: 'all' },
    { n: '2' },
    { stream: 'true' },
    { stop: [5] },
    { stop: { a: 1 } },
  ];
  for (const each of odd)
    await assert.rejects(
      client.chat.completions.create({ ...base, messages: [...base.messages], ...each } as never),
      (error: unknown) => error instanceof APIError && error.status === 400,
      JSON.stringify(each),
    );
  assert.equal((await api.store.queue.list()).length, 0);
  await assert.rejects(
    client.chat.completions.create({ ...base, messages: [...base.messages] }),
    refused(/waits for approval: May it look\?/, 422),
  );
  assert.equal((await api.store.queue.list()).length, 1);
  await assert.rejects(async () => {
    for await (const _ of await client.chat.completions.create({
      ...base,
      messages: [...base.messages],
      stream: true,
    }));
  }, /waits for approval/);
  const stranger = new OpenAI({ baseURL: `${api.url}/v1`, apiKey: roleKeys.reader, maxRetries: 0 });
  await assert.rejects(
    stranger.chat.completions.create({ ...base, messages: [...base.messages] }),
    refused(/role runner/, 403),
  );
});

test('an answer ends before the first stop sequence, streaming and non-streaming, however it is split into chunks', async (t) => {
  const api = await createApiFixture(t, { script: () => ({ chunks: ['one ', 'tw', 'o EN', 'D three ', 'STOP'] }) });
  const client = clientOf(api);
  const body = { model: 'fairlead', messages: [{ role: 'user' as const, content: 'count' }] };
  for (const [stop, told] of [
    ['END', 'one two '],
    ['STOP,two', 'one '],
    ['ENDE', 'one two END three STOP'],
    [null, 'one two END three STOP'],
  ] as const) {
    const given = { ...body, stop: stop?.includes(',') ? stop.split(',') : stop };
    const whole = await client.chat.completions.create(given);
    assert.equal(whole.choices[0]?.message.content, told);
    let said = '';
    for await (const chunk of await client.chat.completions.create({ ...given, stream: true }))
      said += chunk.choices[0]?.delta.content ?? '';
    assert.equal(said, told);
  }
});

test('unsupported parameters of the Responses API are refused with the same errors', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  for (const odd of [
    { conversation: 'c' },
    { prompt: { id: 'p' } },
    { instructions: ['a'] },
    { previous_response_id: 5 },
    { background: true },
    { text: 5 },
  ]) {
    const { status, body } = await api.request('POST /v1/responses', {
      body: { model: 'fairlead', input: 'x', ...odd },
    });
    assert.equal(status, 400, JSON.stringify(odd));
    const { error } = body as { readonly error: Record<string, unknown> };
    assert.deepEqual(Object.keys(error).toSorted(), ['code', 'message', 'param', 'type']);
  }
  assert.equal((await api.store.queue.list()).length, 0);
});

test('a client that disconnects cancels its run, and a stopped fleet accepts none', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  const client = clientOf(api);
  const leave = new AbortController();
  const body = { model: 'fairlead', messages: [{ role: 'user' as const, content: 'x' }] };
  const asking = client.chat.completions.create(body, { signal: leave.signal });
  asking.catch(() => undefined);
  let run: FleetRun | undefined;
  await eventually('a run was begun', async () => {
    [run] = await api.store.queue.list();
    return run !== undefined;
  });
  leave.abort();
  const ended = await api.waitForStatus(run?.id ?? '', 'ended');
  assert.equal(ended.outcome?.reason, 'cancelled');
  await api.request('POST /api/kill-switch', { body: { stopped: true, reason: 'enough' } });
  const reply = await api.request('POST /v1/chat/completions', { as: 'runner', body });
  assert.equal(reply.status, 503);
  assert.equal((await api.store.queue.list()).length, 1);
});
