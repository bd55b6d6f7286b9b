// Tests of the Anthropic provider: request format, cache markers and unusual responses.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  createPersistentList,
  type Chunk,
  type Message,
  type MessagePart,
  type ModelRequest,
} from '../../core/index.ts';
import { says, scriptedServer, sends, type ScriptedServer } from '../../testing/index.ts';
import { anthropicProvider, type AnthropicOptions } from './anthropic.ts';

type Body = {
  readonly max_tokens: number;
  readonly cache_control?: unknown;
  readonly system: readonly unknown[];
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[];
  readonly tools?: readonly { readonly name: string; readonly input_schema: unknown }[];
  readonly tool_choice?: { readonly type: string };
  readonly thinking?: { readonly type: string };
};

type Event = { readonly type: string; readonly [key: string]: unknown };

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const lookTool = { name: 'look', description: 'Looks.', input: { type: 'object', properties: {} } };
const leapTool = { ...lookTool, name: 'leap' };

const createRequest = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  tools: [lookTool, leapTool],
  messages: createPersistentList(messages),
  toolChoice: 'auto',
  settings: {},
  ...more,
});

async function ask(
  server: ScriptedServer,
  request: ModelRequest,
  more: Partial<AnthropicOptions> = {},
): Promise<Chunk & { type: 'end' }> {
  const provider = anthropicProvider({ model: 'claude-sonnet-4-5', apiKey: 'k', baseUrl: `${server.url}/v1`, ...more });
  for await (const chunk of provider.stream(request, AbortSignal.timeout(9000))) if (chunk.type === 'end') return chunk;
  throw new Error('The stream had no end.');
}

async function sentBody(request: ModelRequest, more: Partial<AnthropicOptions> = {}): Promise<Body> {
  await using server = await scriptedServer([says('ok')]);
  await ask(server, request, more);
  return server.requests[0]?.body as Body;
}

const stream = (...events: readonly Event[]): ReturnType<typeof sends> =>
  sends({
    headers: { 'content-type': 'text/event-stream' },
    body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  });

const start = {
  type: 'message_start',
  message: { id: 'm', model: 'claude-x', content: [], usage: { input_tokens: 7, output_tokens: 1 } },
};
const block = (index: number, content_block: unknown): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, piece: unknown): Event => ({
  type: 'content_block_delta',
  index,
  delta: piece,
});
const stop = (index: number): Event => ({ type: 'content_block_stop', index });
const end = (stop_reason: string): readonly Event[] => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

async function read(...events: readonly Event[]): Promise<Chunk & { type: 'end' }> {
  await using server = await scriptedServer([stream(start, ...events)]);
  return await ask(server, createRequest([user('Go.')]));
}

test('[P50] the system prompt and the request have cache markers, and no message has one', async () => {
  const body = await sentBody(createRequest([user('Go.')]));
  const mark = { type: 'ephemeral' };
  assert.deepEqual(body.cache_control, mark);
  assert.deepEqual(body.system, [{ type: 'text', text: 'Be brief.', cache_control: mark }]);
  assert.doesNotMatch(JSON.stringify([body.messages, body.tools]), /cache_control/);
  assert.doesNotMatch(JSON.stringify(await sentBody(createRequest([user('Go.')]), { cache: false })), /cache_control/);
});

test('tool results and user text after them are one user message, results first', async () => {
  const called: Message = {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Hm.', meta: { family: 'anthropic', data: { signature: 'seal' } } },
      { type: 'reasoning', text: '', meta: { family: 'anthropic', data: { redactedData: 'dark' } } },
      { type: 'text', text: '  ' },
      { type: 'tool-call', id: 'c00001000', tool: 'look', input: { at: 1 } },
      { type: 'tool-call', id: 'c00001001', tool: 'leap', input: [1] },
    ],
  };
  const back: Message = {
    role: 'tool',
    parts: [
      { type: 'tool-result', id: 'c00001000', tool: 'look', text: 'a wall', failed: false },
      { type: 'tool-result', id: 'c00001001', tool: 'leap', text: '', failed: true },
    ],
  };
  const { messages } = await sentBody(createRequest([user('Go.'), called, back, user('Hurry.')]));
  assert.deepEqual(messages, [
    { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'seal' },
        { type: 'redacted_thinking', data: 'dark' },
        { type: 'tool_use', id: 'c00001000', name: 'look', input: { at: 1 } },
        { type: 'tool_use', id: 'c00001001', name: 'leap', input: { input: [1] } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c00001000', content: 'a wall' },
        { type: 'tool_result', tool_use_id: 'c00001001', content: '(no output)', is_error: true },
        { type: 'text', text: 'Hurry.' },
      ],
    },
  ]);
});

test('files are sent as images, documents or text, and an unsupported file is a user error', async () => {
  const data = Buffer.from('hello').toString('base64');
  const files: MessagePart[] = [
    { type: 'file', mediaType: 'image/png', data },
    { type: 'file', mediaType: 'application/pdf', data: 'https://example.com/a.pdf' },
    { type: 'file', mediaType: 'text/csv', data, name: 'a.csv' },
  ];
  const { messages } = await sentBody(createRequest([{ role: 'user', parts: files }]));
  assert.deepEqual(messages[0]?.content, [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    { type: 'text', text: 'a.csv:\nhello' },
  ]);
  const audio: Message = { role: 'user', parts: [{ type: 'file', mediaType: 'audio/mp3', data }] };
  await assert.rejects(sentBody(createRequest([audio])), { code: 'provider/unsupported', blame: 'user', retry: false });
});

test('max output tokens follow the model', async () => {
  const most = async (model: string, settings: ModelRequest['settings'] = {}): Promise<number> =>
    (await sentBody(createRequest([user('Go.')], { settings }), { model })).max_tokens;
  assert.equal(await most('claude-sonnet-4-5'), 32_000);
  assert.equal(await most('claude-3-haiku-20240307'), 4096);
  assert.equal(await most('glm-5'), 8192);
  assert.equal(await most('claude-opus-4-8', { maxOutputTokens: 50 }), 50);
});

test('the reasoning parameters follow the settings', async () => {
  const thinking = async (model: string, reasoning: 'none' | 'high'): Promise<string | undefined> =>
    (await sentBody(createRequest([user('Go.')], { settings: { reasoning } }), { model })).thinking?.type;
  assert.equal(await thinking('claude-sonnet-4-5', 'high'), 'enabled');
  assert.equal(await thinking('claude-opus-4-8', 'high'), 'adaptive');
  assert.equal(await thinking('claude-sonnet-4-5', 'none'), 'disabled');
  assert.equal((await sentBody(createRequest([user('Go.')]))).thinking, undefined);
});

test('[A22] a forced tool never removes the others from the request', async () => {
  const forced = { toolChoice: { tool: 'leap' } } as const;
  const plain = await sentBody(createRequest([user('Go.')], forced));
  assert.deepEqual(plain.tool_choice, { type: 'tool', name: 'leap' });
  for (const body of [
    plain,
    await sentBody(createRequest([user('Go.')], { ...forced, settings: { reasoning: 'low' } })),
    await sentBody(createRequest([user('Go.')], forced), { model: 'claude-opus-5-5' }),
  ])
    assert.deepEqual(
      body.tools?.map((tool) => tool.name),
      ['look', 'leap'],
    );
});

test('blocks of server-side tools and unknown events are ignored', async () => {
  const { message, finishReason, rawFinishReason, usage } = await read(
    { type: 'ping' },
    { type: 'event_of_tomorrow', index: 0 },
    block(0, { type: 'text', text: 'I ' }),
    delta(0, { type: 'text_delta', text: 'search.' }),
    delta(0, { type: 'citations_delta', citation: { type: 'of_tomorrow' } }),
    stop(0),
    block(1, { type: 'server_tool_use', id: 's', name: 'look', input: {} }),
    delta(1, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
    stop(1),
    block(2, { type: 'mcp_tool_result', tool_use_id: 'nobody', content: 'x' }),
    stop(2),
    block(3, { type: 'block_of_tomorrow', text: 'x' }),
    delta(3, { type: 'text_delta', text: 'x' }),
    stop(3),
    block(4, { type: 'tool_use', id: 't', name: 'look', input: { at: 'once' }, caller: { type: 'of_tomorrow' } }),
    stop(4),
    ...end('tool_use'),
  );
  assert.deepEqual(message.parts, [
    { type: 'text', text: 'I search.' },
    { type: 'tool-call', id: 't', tool: 'look', input: { at: 'once' } },
  ]);
  assert.deepEqual([finishReason, rawFinishReason, usage], ['tool-calls', 'tool_use', { input: 7, output: 9 }]);
});

test('reasoning is kept with its signature, redacted reasoning too', async () => {
  const { message } = await read(
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
    delta(0, { type: 'signature_delta', signature: 'seal' }),
    stop(0),
    block(1, { type: 'redacted_thinking', data: 'dark' }),
    stop(1),
    block(2, { type: 'text', text: 'Yes.' }),
    stop(2),
    ...end('end_turn'),
  );
  assert.deepEqual(message.parts, [
    { type: 'reasoning', text: 'Hm.', meta: { family: 'anthropic', data: { signature: 'seal' } } },
    { type: 'reasoning', text: '', meta: { family: 'anthropic', data: { redactedData: 'dark' } } },
    { type: 'text', text: 'Yes.' },
  ]);
});

test('every stop reason is mapped to a finish reason', async () => {
  const finish = async (reason: string): Promise<string> =>
    (await read(block(0, { type: 'text', text: 'x' }), stop(0), ...end(reason))).finishReason;
  assert.equal(await finish('end_turn'), 'stop');
  assert.equal(await finish('stop_sequence'), 'stop');
  assert.equal(await finish('max_tokens'), 'length');
  assert.equal(await finish('model_context_window_exceeded'), 'length');
  assert.equal(await finish('refusal'), 'refusal');
  assert.equal(await finish('pause_turn'), 'other');
  assert.equal(await finish('reason_of_tomorrow'), 'other');
});

test('a call that the output limit truncated is dropped, and one that only lacks its closing event is kept (fault 51)', async () => {
  const open = [
    block(0, { type: 'tool_use', id: 't', name: 'look', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{}' }),
  ];
  const cut = await read(...open, ...end('max_tokens'));
  assert.deepEqual([cut.finishReason, cut.message.parts], ['length', []]);
  const whole = await read(...open, ...end('tool_use'));
  assert.equal(whole.message.parts.length, 1);
});

test('[A110] structured output uses the native feature of the server, or a tool whose input is the answer', async () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  };
  const body = await sentBody(createRequest([user('Go.')], { outputSchema: schema }));
  assert.match(JSON.stringify(body), /"output_config":\{"format":\{"type":"json_schema"/);
  await using server = await scriptedServer([
    stream(
      start,
      block(0, { type: 'tool_use', id: 't', name: 'json', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"a":1}' }),
      stop(0),
      ...end('tool_use'),
    ),
  ]);
  const { message, finishReason } = await ask(server, createRequest([user('Go.')], { outputSchema: schema }), {
    model: 'claude-3-haiku-20240307',
  });
  assert.deepEqual([message.parts, finishReason], [[{ type: 'text', text: '{"a":1}' }], 'stop']);
});
