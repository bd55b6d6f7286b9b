// Tests the chat completions provider with a server on loopback: request bodies byte for byte, and all kinds of responses.
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import {
  FairleadError,
  appendItem,
  createPersistentList,
  type Chunk,
  type Json,
  type JsonObject,
  type Message,
  type MessagePart,
  type ModelRequest,
} from '../../core/index.ts';
import { chatProvider, type ChatOptions } from './chat.ts';

type End = Chunk & { readonly type: 'end' };
type ServerReply = {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
  readonly how?: 'cut' | 'open';
};
type WireObject = Record<string, unknown>;

const neverAborted = new AbortController().signal;
const userMessage = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const assistantMessage = (...parts: readonly MessagePart[]): Message => ({ role: 'assistant', parts });
const emptyRequest = { tools: [], settings: {} } as const;
const createRequest = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  messages: createPersistentList([userMessage('hi')]),
  toolChoice: 'auto',
  ...emptyRequest,
  ...more,
});
const noopTool = { name: 'noop', description: 'does nothing', input: { type: 'object', properties: {} } } as const;

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const deltaEvent = (fields: WireObject, finish: string | null = null, more: WireObject = {}): string =>
  event({ id: 'x', model: 'answering', choices: [{ index: 0, delta: fields, finish_reason: finish }], ...more });
const stream = (...events: readonly string[]): ServerReply => ({ type: 'text/event-stream', body: events.join('') });
const done = 'data: [DONE]\n\n';
const documentReply = (message: WireObject, finish: string | null = 'stop', more: WireObject = {}): ServerReply => ({
  type: 'application/json',
  body: JSON.stringify({ model: 'answering', choices: [{ index: 0, message, finish_reason: finish }], ...more }),
});
const toolCallDelta = (...list: readonly WireObject[]): string => deltaEvent({ tool_calls: list });

/** Starts a server that sends these replies in order and records the requests. */
async function serve(
  t: TestContext,
  ...replies: readonly ServerReply[]
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const reply = replies[Math.min(asked.length, replies.length - 1)];
      asked.push(Buffer.concat(pieces).toString('utf8'));
      response.writeHead(reply?.status ?? 200, { 'content-type': reply?.type ?? 'text/event-stream' });
      if (reply?.how === 'open') response.write(reply.body);
      else if (reply?.how === 'cut') response.write(reply.body, () => response.destroy());
      else response.end(reply?.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

async function drain(chunks: AsyncIterable<Chunk>): Promise<End> {
  let end: End | undefined;
  for await (const chunk of chunks) if (chunk.type === 'end') end = chunk;
  assert.ok(end);
  return end;
}

/** Returns the result of one reply. */
async function read(t: TestContext, reply: ServerReply, options: Partial<ChatOptions> = {}): Promise<End> {
  const { url } = await serve(t, reply);
  return drain(chatProvider({ model: 'm', baseUrl: url, ...options }).stream(createRequest(), neverAborted));
}

const expectError = async (t: TestContext, reply: ServerReply): Promise<FairleadError> => {
  const error: unknown = await read(t, reply).then(
    () => assert.fail('it worked'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FairleadError, String(error));
  return error;
};

/** Returns the body that is sent for a request. */
async function sentBody(
  t: TestContext,
  request: ModelRequest,
  options: Partial<ChatOptions> = {},
): Promise<WireObject> {
  const { url, asked } = await serve(t, documentReply({ content: 'ok' }));
  await drain(chatProvider({ model: 'm', baseUrl: url, ...options }).stream(request, neverAborted));
  return JSON.parse(asked[0] ?? '') as WireObject;
}

const shortReply = stream(deltaEvent({ content: 'ok' }, 'stop'), done);

test('[A10] [A21] every message is sent once, in order, and each body extends the previous one byte for byte', async (t) => {
  const { url, asked } = await serve(t, shortReply);
  const provider = chatProvider({ model: 'm', baseUrl: `${url}/`, apiKey: 'k' });
  let messages = createPersistentList([userMessage('hi é')]);
  const turns = 20;
  for (let turn = 0; turn < turns; turn++) {
    await drain(provider.stream(createRequest({ messages, tools: [noopTool] }), neverAborted));
    messages = appendItem(
      messages,
      assistantMessage(
        { type: 'text', text: 'x' },
        { type: 'tool-call', id: `a${turn}`, tool: 'noop', input: { turn } },
        { type: 'tool-call', id: `b${turn}`, tool: 'noop', input: {} },
      ),
    );
    const results = ['a', 'b'].map(
      (name) => ({ type: 'tool-result', id: `${name}${turn}`, tool: 'noop', text: '"ok"\n', failed: false }) as const,
    );
    messages = appendItem(messages, { role: 'tool', parts: results });
    if (turn % 3 === 0) messages = appendItem(messages, userMessage('go on'));
  }
  assert.equal(asked.length, turns);
  for (const [i, body] of asked.entries()) {
    assert.ok(body.endsWith(']}'));
    if (i > 0) assert.ok(body.startsWith(`${asked[i - 1]?.slice(0, -2)},`));
  }
  const { messages: last, ...head } = JSON.parse(asked.at(-1) ?? '') as WireObject;
  assert.deepEqual(head, {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: 'function', function: { name: 'noop', description: 'does nothing', parameters: noopTool.input } }],
  });
  assert.deepEqual((last as WireObject[]).slice(0, 6), [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hi é' },
    {
      role: 'assistant',
      content: 'x',
      tool_calls: [
        { id: 'a0', type: 'function', function: { name: 'noop', arguments: '{"turn":0}' } },
        { id: 'b0', type: 'function', function: { name: 'noop', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a0', content: '"ok"\n' },
    { role: 'tool', tool_call_id: 'b0', content: '"ok"\n' },
    { role: 'user', content: 'go on' },
  ]);
});

test('[A10] histories with the same provider or the same beginning do not share different messages', async (t) => {
  const { url, asked } = await serve(t, shortReply);
  const provider = chatProvider({ model: 'm', baseUrl: url });
  const root = createPersistentList([userMessage('root')]);
  const ask = (request: Partial<ModelRequest>): Promise<End> =>
    drain(provider.stream(createRequest(request), neverAborted));
  await ask({ messages: root });
  await Promise.all([
    ask({ messages: appendItem(root, assistantMessage({ type: 'text', text: 'left' })) }),
    ask({ messages: appendItem(root, assistantMessage({ type: 'text', text: 'right' })) }),
  ]);
  await ask({ messages: root, system: 'Other.' });
  await ask({ messages: createPersistentList([userMessage('alone')]) });
  const contents = asked.map((body) =>
    (JSON.parse(body) as { messages: { content: string }[] }).messages.map((each) => each.content).join(' '),
  );
  assert.deepEqual(contents.toSorted(), [
    'Be brief. alone',
    'Be brief. root',
    'Be brief. root left',
    'Be brief. root right',
    'Other. root',
  ]);
});

test('[A22] settings, tool choice and schema are sent in the fields of each server', async (t) => {
  const settings = { maxOutputTokens: 9, temperature: 0, topP: 0.5, seed: 1, stop: ['x'], reasoning: 'low' } as const;
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const pick = ({ messages: _, tools: __, model: ___, stream: ____, ...rest }: WireObject): WireObject => rest;
  const usage = { stream_options: { include_usage: true } };
  const common = { temperature: 0, top_p: 0.5, stop: ['x'] };
  const strict = { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } };
  const request = createRequest({
    settings,
    tools: [noopTool],
    toolChoice: 'required',
    outputSchema: schema,
    session: 's-1',
  });
  const as = async (family: string, model = 'm'): Promise<WireObject> =>
    pick(await sentBody(t, request, { family, model }));
  assert.deepEqual(await as('openai'), {
    ...usage,
    prompt_cache_key: 's-1',
    max_completion_tokens: 9,
    ...common,
    seed: 1,
    reasoning_effort: 'low',
    ...strict,
    tool_choice: 'required',
  });
  assert.deepEqual(await as('vllm'), {
    ...usage,
    max_tokens: 9,
    ...common,
    seed: 1,
    reasoning_effort: 'low',
    ...strict,
    tool_choice: 'required',
  });
  assert.deepEqual(await as('mistral'), {
    max_tokens: 9,
    ...common,
    random_seed: 1,
    reasoning_effort: 'low',
    ...strict,
    tool_choice: 'any',
  });
  assert.deepEqual(await as('groq'), {
    ...usage,
    max_completion_tokens: 9,
    ...common,
    seed: 1,
    reasoning_effort: 'low',
    tool_choice: 'required',
  });
  assert.deepEqual(await as('deepseek'), {
    ...usage,
    max_tokens: 9,
    ...common,
    seed: 1,
    thinking: { type: 'enabled' },
    response_format: { type: 'json_object' },
    tool_choice: 'required',
  });
  assert.deepEqual(await as('openrouter', 'anthropic/claude'), {
    ...usage,
    cache_control: { type: 'ephemeral' },
    max_tokens: 9,
    ...common,
    seed: 1,
    reasoning: { effort: 'low' },
    ...strict,
    tool_choice: 'required',
  });
});

test('[A22] a named tool, no tool, and no reasoning can be requested', async (t) => {
  const named = await sentBody(t, createRequest({ tools: [noopTool], toolChoice: { tool: 'noop' } }));
  assert.deepEqual(named['tool_choice'], { type: 'function', function: { name: 'noop' } });
  assert.equal((await sentBody(t, createRequest({ tools: [noopTool], toolChoice: 'none' })))['tool_choice'], 'none');
  assert.equal((await sentBody(t, createRequest({ toolChoice: 'required' })))['tool_choice'], undefined);
  const effort = async (model: string, family: string): Promise<unknown> =>
    (await sentBody(t, createRequest({ settings: { reasoning: 'none' } }), { model, family }))['reasoning_effort'];
  assert.equal(await effort('gpt-4o', 'openai'), undefined);
  assert.equal(await effort('gpt-5-mini', 'openai'), 'minimal');
  assert.equal(await effort('gpt-5.2', 'openai'), 'none');
});

test('for a server that does not enforce a schema, the schema is in the system text', async (t) => {
  const schema: JsonObject = { type: 'object', properties: { a: {} } };
  const systemOf = async (family: string, system: string): Promise<unknown> =>
    ((await sentBody(t, createRequest({ outputSchema: schema, system }), { family }))['messages'] as WireObject[])[0]?.[
      'content'
    ];
  assert.match(String(await systemOf('deepseek', 'S')), /^S\n\n.*JSON schema.*\n\{"type":"object"/s);
  assert.equal(await systemOf('openai', 'S'), 'S');
  assert.equal(await systemOf('openai', ''), 'hi');
});

test('[A21] images, audio, texts and files are sent as parts; reasoning of other families is dropped and invalid tool names are replaced', async (t) => {
  const b64 = Buffer.from('words').toString('base64');
  const user: Message = {
    role: 'user',
    parts: [
      { type: 'text', text: 'look' },
      { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      { type: 'file', mediaType: 'image/png', data: 'https://x/y.png' },
      { type: 'file', mediaType: 'audio/wav', data: 'AAAA' },
      { type: 'file', mediaType: 'text/plain', data: b64, name: 'n.txt' },
      { type: 'file', mediaType: 'application/pdf', data: 'AAAA', name: 'd.pdf' },
    ],
  };
  const assistant = assistantMessage(
    { type: 'reasoning', text: 'secret', meta: { family: 'anthropic', data: { signature: 's' } } },
    { type: 'tool-call', id: 'c1', tool: 'bad name!', input: {}, invalid: '{"a":' },
    { type: 'tool-call', id: 'c2', tool: '', input: {} },
  );
  const { messages } = await sentBody(
    t,
    createRequest({ system: '', messages: createPersistentList([user, assistant]) }),
  );
  assert.deepEqual(messages, [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'https://x/y.png' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'text', text: 'n.txt:\nwords' },
        { type: 'file', file: { filename: 'd.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'bad_name_', arguments: '{}' } },
        { id: 'c2', type: 'function', function: { name: 'unnamed', arguments: '{}' } },
      ],
    },
  ]);
});

test('for a server that requires an assistant message after tool results, a filler message is sent', async (t) => {
  const messages = createPersistentList<Message>([
    userMessage('hi'),
    assistantMessage({ type: 'tool-call', id: 'c1', tool: 'noop', input: {} }),
    { role: 'tool', parts: [{ type: 'tool-result', id: 'c1', tool: 'noop', text: 'ok', failed: false }] },
    userMessage('and now?'),
  ]);
  const roles = async (family: string): Promise<unknown> =>
    ((await sentBody(t, createRequest({ messages }), { family }))['messages'] as WireObject[]).map(
      (each) => each['role'],
    );
  assert.deepEqual(await roles('mistral'), ['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  assert.deepEqual(await roles('openai'), ['system', 'user', 'assistant', 'tool', 'user']);
});

test('[A6] streamed text, reasoning and token counts become a response; counts can be in any chunk and field', async (t) => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 3 },
    cost: 0.5,
  };
  const expected = { input: 10, output: 5, cacheRead: 4, cacheWrite: 2, reasoning: 3 };
  const places = [
    [deltaEvent({ content: 'lo' }, 'stop'), event({ choices: [], usage }), done],
    [deltaEvent({ content: 'lo' }, 'stop', { usage }), done],
    [deltaEvent({ content: 'lo' }, 'stop', { x_groq: { usage } }), done],
    [deltaEvent({ content: 'lo' }, 'stop', { usage })],
    [
      deltaEvent({ content: 'lo' }),
      event({ model: 'answering', choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }),
    ],
  ];
  for (const tail of places) {
    const end = await read(
      t,
      stream(
        deltaEvent({ role: 'assistant', content: '' }),
        deltaEvent({ reasoning: 'hm' }),
        deltaEvent({ reasoning: 'm' }),
        deltaEvent({ content: 'Hel' }),
        ...tail,
      ),
    );
    assert.deepEqual(end, {
      type: 'end',
      message: assistantMessage({ type: 'reasoning', text: 'hmm' }, { type: 'text', text: 'Hello' }),
      finishReason: 'stop',
      rawFinishReason: 'stop',
      usage: expected,
      usd: 0.5,
      model: 'answering',
    });
  }
});

test('[A57] cached tokens are read from every field name', async (t) => {
  const places = [
    { prompt_tokens_details: { cached_tokens: 4 } },
    { prompt_cache_hit_tokens: 4 },
    { cached_tokens: 4 },
    { num_cached_tokens: 4 },
  ];
  for (const place of places) {
    const { usage } = await read(
      t,
      documentReply({ content: 'x' }, 'stop', { usage: { prompt_tokens: 10, ...place } }),
    );
    assert.deepEqual(usage, { input: 10, cacheRead: 4 });
  }
});

test('[A6] reasoning is read from every field name, once', async (t) => {
  for (const name of ['reasoning', 'reasoning_content', 'thinking']) {
    const end = await read(t, stream(deltaEvent({ [name]: 'hm' }), deltaEvent({ content: 'x' }, 'stop'), done));
    assert.deepEqual(end.message.parts[0], { type: 'reasoning', text: 'hm' }, name);
  }
  const twice = await read(
    t,
    stream(
      deltaEvent({
        reasoning: 'hm',
        reasoning_content: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
      }),
      deltaEvent({ content: 'x' }, 'stop'),
      done,
    ),
  );
  assert.deepEqual(twice.message.parts[0], { type: 'reasoning', text: 'hm' });
});

test('content as a list of chunks (Mistral) is text and reasoning', async (t) => {
  const content = [
    {
      type: 'thinking',
      thinking: [
        { type: 'text', text: 'h' },
        { type: 'text', text: 'm' },
      ],
    },
    { type: 'text', text: 'a' },
    { type: 'reference', reference_ids: [1] },
    { type: 'text', text: 'b' },
  ];
  const meta = { family: 'mistral', data: {} };
  const expected = assistantMessage({ type: 'reasoning', text: 'hm', meta }, { type: 'text', text: 'ab' });
  assert.deepEqual((await read(t, documentReply({ content }), { family: 'mistral' })).message, expected);
  assert.deepEqual(
    (await read(t, stream(deltaEvent({ content }, 'stop'), done), { family: 'mistral' })).message,
    expected,
  );
});

type ParsedCall = readonly [string, string, Json, string?];

const parsedCalls = ({ message }: End): readonly ParsedCall[] =>
  message.parts.flatMap((part): readonly ParsedCall[] => {
    if (part.type !== 'tool-call') return [];
    const { id, tool, input, invalid } = part;
    return [invalid === undefined ? [id, tool, input] : [id, tool, input, invalid]];
  });

test('[A21] tool calls are assembled for every way in which servers split and number them', async (t) => {
  const fn = (name?: string, args?: unknown): WireObject => ({
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  });
  const shapes: Readonly<Record<string, readonly string[]>> = {
    'in pieces by number': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '') }),
      toolCallDelta({ index: 0, ...fn(undefined, '{"x"') }),
      toolCallDelta({ index: 1, id: 'b', ...fn('two', '{}') }),
      toolCallDelta({ index: 0, ...fn(undefined, ':1}') }),
    ],
    'whole, both in one delta': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '{"x":1}') }, { index: 1, id: 'b', ...fn('two', '{}') }),
    ],
    'without numbers': [
      toolCallDelta({ id: 'a', ...fn('one', '{"x"') }),
      toolCallDelta({ ...fn(undefined, ':1}') }),
      toolCallDelta({ id: 'b', ...fn('two', '{}') }),
    ],
    'all of them number 0': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '{"x":1}') }),
      toolCallDelta({ index: 0, id: 'b', ...fn('two', '{}') }),
    ],
    'id and name repeated': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '{"x"') }),
      toolCallDelta({ index: 0, id: 'a', ...fn('one', ':1}') }),
      toolCallDelta({ index: 1, id: 'b', ...fn('two', '{}') }),
    ],
    'ids on later pieces that differ': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '{"x"') }),
      toolCallDelta({ index: 0, id: 'zzz', ...fn(undefined, ':1}') }),
      toolCallDelta({ index: 1, id: 'b', ...fn('two', '{}') }),
    ],
    'name in pieces': [
      toolCallDelta({ index: 0, id: 'a', ...fn('o') }),
      toolCallDelta({ index: 0, ...fn('ne', '{"x":1}') }),
      toolCallDelta({ index: 1, id: 'b', ...fn('two', '{}') }),
    ],
    'arguments as objects': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', { x: 1 }) }, { index: 1, id: 'b', ...fn('two', {}) }),
    ],
    'arguments missing': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '{"x":1}') }),
      toolCallDelta({ index: 1, id: 'b', ...fn('two') }),
    ],
    'arguments null, empty entries between': [
      toolCallDelta({ index: 0, id: 'a', ...fn('one', '{"x":1}') }),
      toolCallDelta({ index: 2, ...fn('', '') }),
      toolCallDelta({ index: 1, id: 'b', ...fn('two', null) }),
    ],
  };
  for (const [name, events] of Object.entries(shapes)) {
    const end = await read(t, stream(...events, deltaEvent({}, 'tool_calls'), done));
    assert.deepEqual(
      parsedCalls(end),
      [
        ['a', 'one', { x: 1 }],
        ['b', 'two', {}],
      ],
      name,
    );
    assert.equal(end.finishReason, 'tool-calls');
  }
  const nameless = await read(
    t,
    stream(
      toolCallDelta({ ...fn('one', '{"x":1}') }),
      toolCallDelta({ ...fn('two', '{}') }),
      deltaEvent({}, 'stop'),
      done,
    ),
  );
  assert.deepEqual(parsedCalls(nameless), [
    ['call_0', 'one', { x: 1 }],
    ['call_1', 'two', {}],
  ]);
  const whole = await read(
    t,
    documentReply(
      {
        content: null,
        tool_calls: [
          { index: 0, id: 'a', ...fn('one', '{"x":1}') },
          { index: 0, id: 'a', ...fn('two', '{}') },
        ],
      },
      'tool_calls',
    ),
  );
  assert.deepEqual(parsedCalls(whole), [
    ['a', 'one', { x: 1 }],
    ['a', 'two', {}],
  ]);
});

test('[A21] the legacy function call and a call with invalid arguments are calls; the latter is marked invalid', async (t) => {
  const legacy = await read(
    t,
    stream(
      deltaEvent({ function_call: { name: 'one', arguments: '{"x"' } }),
      deltaEvent({ function_call: { arguments: ':1}' } }, 'function_call'),
      done,
    ),
  );
  assert.deepEqual([parsedCalls(legacy), legacy.finishReason], [[['call_0', 'one', { x: 1 }]], 'tool-calls']);
  const broken = await read(
    t,
    stream(
      toolCallDelta({ index: 0, id: 'a', function: { name: 'one', arguments: '{}{}' } }),
      deltaEvent({}, 'tool_calls'),
      done,
    ),
  );
  assert.deepEqual(parsedCalls(broken), [['a', 'one', {}, '{}{}']]);
});

test('the finish reason is normalized, and the value of the server is kept', async (t) => {
  const expected: Readonly<Record<string, string>> = {
    stop: 'stop',
    length: 'length',
    model_length: 'length',
    content_filter: 'filtered',
    tool_calls: 'tool-calls',
    something_new: 'other',
  };
  for (const [raw, finish] of Object.entries(expected)) {
    const end = await read(t, stream(deltaEvent({ content: 'x' }, raw), done));
    assert.deepEqual([end.finishReason, end.rawFinishReason], [finish, raw]);
  }
  const refused = await read(
    t,
    stream(deltaEvent({ refusal: 'I ' }), deltaEvent({ refusal: 'will not.' }, 'stop'), done),
  );
  assert.deepEqual(
    [refused.finishReason, refused.rawFinishReason, refused.message],
    ['refusal', 'stop', assistantMessage({ type: 'text', text: 'I will not.' })],
  );
  const whole = await read(t, documentReply({ content: null, refusal: 'No.' }));
  assert.deepEqual([whole.finishReason, whole.message], ['refusal', assistantMessage({ type: 'text', text: 'No.' })]);
});

test('[A54] a response that ends early is truncated, and a partial call is dropped (fault 46)', async (t) => {
  const half = toolCallDelta({ index: 0, id: 'a', function: { name: 'rm', arguments: '' } });
  const ends: readonly ServerReply[] = [
    stream(deltaEvent({ content: 'x' })),
    stream(half),
    stream(half, done),
    { ...stream(deltaEvent({ content: 'x' })), how: 'cut' },
    stream(deltaEvent({ content: 'x' }), deltaEvent({ content: 'y' }, 'stop').trimEnd()),
    stream(''),
    stream('dat'),
    { type: 'application/json', body: '{"choices":[{"message":{"content":"x' },
  ];
  for (const reply of ends) {
    const error = await expectError(t, reply);
    assert.deepEqual([error.code, error.retry], ['provider/cut', true], reply.body);
  }
});

test('[A54] after the finish reason a response is complete, even without [DONE] or with a broken connection (fault 48)', async (t) => {
  const ends: readonly ServerReply[] = [
    stream(deltaEvent({ content: 'x' }, 'stop')),
    { ...stream(deltaEvent({ content: 'x' }, 'stop')), how: 'cut' },
    stream(deltaEvent({ content: 'x' }, 'stop'), done, done, 'data: {broken\n\n'),
    stream(
      deltaEvent({ content: 'x' }, 'stop'),
      deltaEvent({ content: 'after' }),
      toolCallDelta({ index: 0, id: 'z', function: { name: 'rm' } }),
      done,
    ),
    stream(': ping\n\n', 'event: ping\ndata: {}\n\n', deltaEvent({ content: 'x' }, 'stop'), done),
    { ...stream(deltaEvent({ content: 'x' }, 'stop'), done), how: 'open' },
    { type: 'text/plain', body: `${deltaEvent({ content: 'x' }, 'stop')}${done}` },
    { type: 'text/event-stream', body: documentReply({ content: 'x' }).body },
    { type: 'application/json', body: `\n\n  ${documentReply({ content: 'x' }).body}` },
  ];
  for (const reply of ends) {
    const end = await read(t, reply);
    assert.deepEqual(end.message, assistantMessage({ type: 'text', text: 'x' }), reply.body);
  }
  const unexplained = await read(t, stream(deltaEvent({ content: 'x' }), done));
  assert.deepEqual([unexplained.finishReason, unexplained.rawFinishReason], ['other', undefined]);
});

test('[A54] an error inside a 2xx reply is that error, in a stream, an event, a choice or a document (fault 49)', async (t) => {
  const error = { message: 'Overloaded', type: 'overloaded_error', code: 529 };
  const replies: readonly ServerReply[] = [
    stream(deltaEvent({ content: 'x' }), event({ error })),
    stream(deltaEvent({ content: 'x' }), `event: error\n${event({ error })}`),
    stream(event({ choices: [{ index: 0, delta: {}, finish_reason: 'error', error }] })),
    { type: 'application/json', body: JSON.stringify({ error }) },
    { type: 'text/event-stream', body: JSON.stringify({ error }) },
    { type: 'application/json', body: JSON.stringify([{ error }]) },
    { status: 529, type: 'application/json', body: JSON.stringify({ error }) },
  ];
  for (const reply of replies) assert.equal((await expectError(t, reply)).code, 'provider/overloaded', reply.body);
  assert.equal((await expectError(t, stream(deltaEvent({}, 'error'), done))).code, 'provider/server-error');
  assert.equal(
    (await expectError(t, stream(deltaEvent({}, 'insufficient_system_resource'), done))).code,
    'provider/overloaded',
  );
});

test('usage and cost that a stream reported before or with an error are kept in the error', async (t) => {
  const usage = { prompt_tokens: 9, completion_tokens: 4, cost: 0.25 };
  const error = { message: 'Provider disconnected', code: 502 };
  const replies: readonly ServerReply[] = [
    stream(deltaEvent({ content: 'x' }, null, { usage }), event({ error })),
    stream(deltaEvent({ content: 'x' }), deltaEvent({}, 'error', { error, usage })),
    stream(deltaEvent({ content: 'x' }, null, { usage })),
  ];
  for (const reply of replies) {
    const thrown = await expectError(t, reply);
    assert.deepEqual([thrown.usage, thrown.usd], [{ input: 9, output: 4 }, 0.25], reply.body);
  }
  assert.equal((await expectError(t, stream(event({ error })))).usage, undefined);
});

test('[A54] a body that is not a response is malformed, and its beginning is quoted (fault 59)', async (t) => {
  const replies: readonly ServerReply[] = [
    { type: 'text/html', body: '<html>\u0007Sign in</html>' },
    { type: 'application/json', body: '{"object":"list"}' },
    { type: 'application/json', body: '{"choices":[]}' },
    { type: 'application/json', body: '{broken} ' },
    stream('data: {"choices":[{]}\n\n'),
  ];
  for (const reply of replies) assert.equal((await expectError(t, reply)).code, 'provider/malformed', reply.body);
  assert.match((await expectError(t, replies[0] as ServerReply)).message, /<html> Sign in/);
});

test('reasoning, signatures and extra fields are sent back to the same family only', async (t) => {
  const details = [
    { type: 'reasoning.text', text: 'a', index: 0, format: 'f' },
    { type: 'reasoning.text', text: 'b', index: 0, signature: 'sig' },
    { type: 'reasoning.encrypted', data: 'zzz', index: 1, id: 'r1' },
  ];
  const google = { extra_content: { google: { thought_signature: 'ts' } } };
  const reply = stream(
    ...details.map((each) =>
      deltaEvent({ reasoning_details: [each], ...('text' in each ? { reasoning: each.text } : {}) }),
    ),
    toolCallDelta({ index: 0, id: 'a', ...google, function: { name: 'one', arguments: '{}' } }),
    deltaEvent({}, 'tool_calls'),
    done,
  );
  const back = async (family: string, asFamily = family): Promise<WireObject | undefined> => {
    const { message } = await read(t, reply, { family });
    const { messages } = await sentBody(
      t,
      createRequest({ messages: createPersistentList([userMessage('hi'), message]) }),
      {
        family: asFamily,
      },
    );
    return (messages as WireObject[])[2];
  };
  const call = { id: 'a', type: 'function', function: { name: 'one', arguments: '{}' } };
  assert.deepEqual(await back('openrouter'), {
    role: 'assistant',
    content: null,
    reasoning_details: [{ type: 'reasoning.text', text: 'ab', index: 0, format: 'f', signature: 'sig' }, details[2]],
    tool_calls: [{ ...call, ...google }],
  });
  assert.deepEqual(await back('deepseek'), {
    role: 'assistant',
    content: null,
    reasoning_content: 'ab',
    tool_calls: [{ ...call, ...google }],
  });
  assert.deepEqual(await back('mistral'), {
    role: 'assistant',
    content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'ab' }] }],
    tool_calls: [{ ...call, ...google }],
  });
  assert.deepEqual(await back('openrouter', 'deepseek'), { role: 'assistant', content: null, tool_calls: [call] });
  assert.deepEqual(await back('openrouter', 'openai'), { role: 'assistant', content: null, tool_calls: [call] });
});

test('[A54] a request that does not fit the window is rejected before it is sent, by the last count of the server', async (t) => {
  const { url, asked } = await serve(
    t,
    stream(deltaEvent({ content: 'x' }, 'stop', { usage: { prompt_tokens: 900, completion_tokens: 1 } }), done),
  );
  const provider = chatProvider({ model: 'm', baseUrl: url, contextWindow: 1000 });
  const ask = (messages: ModelRequest['messages']): Promise<End> =>
    drain(provider.stream(createRequest({ messages, settings: { maxOutputTokens: 50 } }), neverAborted));
  const first = createPersistentList([userMessage('hi')]);
  await ask(first);
  const second = appendItem(first, userMessage('a'.repeat(50)));
  await ask(second);
  await assert.rejects(ask(appendItem(second, userMessage('a'.repeat(400)))), { code: 'provider/context-too-long' });
  await assert.rejects(ask(createPersistentList([userMessage('a'.repeat(5000))])), {
    code: 'provider/context-too-long',
  });
  assert.equal(asked.length, 2);
});

test('no key appears in an error, even if the server repeats it', async (t) => {
  const { url } = await serve(t, {
    status: 401,
    type: 'application/json',
    body: '{"error":{"message":"Bad key sk-secret and tok-secret"}}',
  });
  const provider = chatProvider({
    model: 'm',
    baseUrl: url,
    apiKey: 'sk-secret',
    headers: { 'x-api-token': 'tok-secret' },
    keyVariable: 'M_KEY',
  });
  await assert.rejects(drain(provider.stream(createRequest(), neverAborted)), (error: FairleadError) => {
    assert.equal(error.code, 'provider/unauthorized');
    assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /sk-secret|tok-secret/);
    assert.match(error.hint ?? '', /M_KEY/);
    return true;
  });
});
