// Tests the Ollama provider with a server on loopback: context window, requests that do not fit, responses as lines.
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import {
  FairleadError,
  appendItem,
  createPersistentList,
  type Chunk,
  type JsonObject,
  type Message,
  type ModelRequest,
} from '../../core/index.ts';
import { ollamaProvider, type OllamaOptions } from './ollama.ts';
import { resolveOllamaContextWindow } from './context-window.ts';

type End = Chunk & { readonly type: 'end' };
type WireObject = Record<string, unknown>;
type ServerScript = {
  readonly show?: WireObject | undefined;
  readonly ps?: WireObject | undefined;
  readonly chat?: string;
  readonly status?: number;
};

const neverAborted = new AbortController().signal;
const userMessage = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const createRequest = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  tools: [],
  messages: createPersistentList([userMessage('hi')]),
  toolChoice: 'auto',
  settings: {},
  ...more,
});
const noopTool = { name: 'noop', description: 'does nothing', input: { type: 'object', properties: {} } } as const;
const streamLine = (message: WireObject, more: WireObject = {}): string =>
  `${JSON.stringify({ model: 'llama', created_at: 'now', message: { role: 'assistant', content: '', ...message }, done: false, ...more })}\n`;
const lastLine = (more: WireObject = {}): string =>
  streamLine({}, { done: true, done_reason: 'stop', prompt_eval_count: 11, eval_count: 7, ...more });
const shortStream = streamLine({ content: 'ok' }) + lastLine();
const showResponse = (most: number, parameters = ''): WireObject => ({
  model_info: { 'general.architecture': 'llama', 'llama.context_length': most },
  parameters,
});

async function serve(
  t: TestContext,
  plan: ServerScript,
): Promise<{ readonly url: string; readonly asked: [string, string][] }> {
  const asked: [string, string][] = [];
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const place = request.url ?? '';
      asked.push([place, Buffer.concat(pieces).toString('utf8')]);
      if (place === '/api/chat') {
        response.writeHead(plan.status ?? 200, { 'content-type': 'application/x-ndjson' });
        return void response.end(plan.chat ?? shortStream);
      }
      const reply = place === '/api/show' ? (plan.show ?? showResponse(131_072)) : plan.ps;
      response.writeHead(reply ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply ?? { error: 'not found' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function drain(chunks: AsyncIterable<Chunk>): Promise<End> {
  let end: End | undefined;
  for await (const chunk of chunks) if (chunk.type === 'end') end = chunk;
  assert.ok(end);
  return end;
}

async function read(t: TestContext, chat: string, status = 200): Promise<End> {
  const { url } = await serve(t, { chat, status });
  return drain(ollamaProvider({ model: 'llama', baseUrl: url }).stream(createRequest(), neverAborted));
}

const expectError = async (work: Promise<unknown>): Promise<FairleadError> => {
  const error: unknown = await work.then(
    () => assert.fail('it worked'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FairleadError, String(error));
  return error;
};

async function sentBody(
  t: TestContext,
  request: ModelRequest,
  options: Partial<OllamaOptions> = {},
): Promise<WireObject> {
  const { url, asked } = await serve(t, {});
  await drain(ollamaProvider({ model: 'llama', baseUrl: url, ...options }).stream(request, neverAborted));
  return JSON.parse(asked.find(([place]) => place === '/api/chat')?.[1] ?? '') as WireObject;
}

test('[A5] the window is the requested one, that of the model file, the loaded one or 32,768, and at most the maximum of the model', async (t) => {
  const cases: readonly (readonly [ServerScript, number | undefined, number])[] = [
    [{ show: showResponse(131_072) }, undefined, 32_768],
    [{ show: showResponse(131_072) }, 65_536, 65_536],
    [{ show: showResponse(8192) }, undefined, 8192],
    [{ show: showResponse(8192) }, 65_536, 8192],
    [{ show: showResponse(131_072, 'stop "x"\nnum_ctx                        16384\n') }, undefined, 16_384],
    [{ show: showResponse(131_072, 'num_ctx 16384') }, 20_000, 20_000],
    [
      { show: showResponse(131_072), ps: { models: [{ name: 'llama:latest', context_length: 65_536 }] } },
      undefined,
      65_536,
    ],
    [
      { show: showResponse(131_072), ps: { models: [{ name: 'llama:latest', context_length: 4096 }] } },
      undefined,
      32_768,
    ],
    [
      { show: showResponse(131_072), ps: { models: [{ name: 'other:latest', context_length: 65_536 }] } },
      undefined,
      32_768,
    ],
    [{ show: { ...showResponse(262_144), remote_host: 'https://ollama.com:443' } }, undefined, 262_144],
    [{ show: { model_info: {} } }, undefined, 32_768],
    [{ show: {} }, 5000, 5000],
  ];
  for (const [plan, wish, expected] of cases) {
    const { url } = await serve(t, plan);
    assert.equal(await resolveOllamaContextWindow(`${url}/v1`, 'llama', wish), expected, JSON.stringify([plan, wish]));
  }
});

test('[A5] the window is sent as num_ctx with every request, is resolved once, and bodies extend each other', async (t) => {
  const { url, asked } = await serve(t, { show: showResponse(40_000) });
  const provider = ollamaProvider({ model: 'llama', baseUrl: url });
  let messages = createPersistentList([userMessage('hi')]);
  for (let i = 0; i < 5; i++) {
    await drain(provider.stream(createRequest({ messages, tools: [noopTool] }), neverAborted));
    messages = appendItem(messages, {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: `c${i}`, tool: 'noop', input: { i } }],
    });
    messages = appendItem(messages, {
      role: 'tool',
      parts: [{ type: 'tool-result', id: `c${i}`, tool: 'noop', text: 'ok', failed: false }],
    });
  }
  assert.equal(asked.filter(([place]) => place === '/api/show').length, 1);
  const bodies = asked.filter(([place]) => place === '/api/chat').map(([, body]) => body);
  for (const [i, body] of bodies.entries()) if (i > 0) assert.ok(body.startsWith(`${bodies[i - 1]?.slice(0, -2)},`));
  assert.deepEqual(JSON.parse(bodies[1] ?? ''), {
    model: 'llama',
    stream: true,
    truncate: false,
    shift: false,
    options: { num_ctx: 32_768 },
    tools: [{ type: 'function', function: { name: 'noop', description: 'does nothing', parameters: noopTool.input } }],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c0', function: { name: 'noop', arguments: { i: 0 } } }] },
      { role: 'tool', content: 'ok', tool_name: 'noop', tool_call_id: 'c0' },
    ],
  });
});

test('[A5] a request that does not fit is rejected before it is sent, and one that fits is sent', async (t) => {
  const { url, asked } = await serve(t, {
    show: showResponse(4096),
    chat: streamLine({ content: 'ok' }) + lastLine({ prompt_eval_count: 3700 }),
  });
  const provider = ollamaProvider({ model: 'llama', baseUrl: url });
  const ask = (messages: ModelRequest['messages']): Promise<End> =>
    drain(provider.stream(createRequest({ messages }), neverAborted));
  const error = await expectError(ask(createPersistentList([userMessage('word '.repeat(4000))])));
  assert.deepEqual([error.code, error.retry, error.blame], ['provider/context-too-long', false, 'user']);
  assert.match(error.message, /4096/);
  const fits = createPersistentList([userMessage('word '.repeat(2500))]);
  await ask(fits);
  await assert.rejects(ask(appendItem(fits, userMessage('word '.repeat(400)))), { code: 'provider/context-too-long' });
  assert.equal(asked.filter(([place]) => place === '/api/chat').length, 1);
});

test('[A1] settings, reasoning, schema, images and keep-alive are sent in the fields of Ollama', async (t) => {
  const schema: JsonObject = { type: 'object' };
  const image: Message = {
    role: 'user',
    parts: [
      { type: 'text', text: 'look' },
      { type: 'file', mediaType: 'image/png', data: 'data:image/png;base64,AAAA' },
      { type: 'file', mediaType: 'image/png', data: 'BBBB' },
      { type: 'file', mediaType: 'image/png', data: 'https://x/y.png' },
    ],
  };
  const settings = { maxOutputTokens: 9, temperature: 0, topP: 0.5, seed: 1, stop: ['x'], reasoning: 'high' } as const;
  const body = await sentBody(
    t,
    createRequest({ system: '', messages: createPersistentList([image]), settings, outputSchema: schema }),
    {
      keepAlive: '10m',
      contextWindow: 9000,
    },
  );
  assert.deepEqual(body, {
    model: 'llama',
    stream: true,
    truncate: false,
    shift: false,
    keep_alive: '10m',
    think: true,
    format: schema,
    options: { num_ctx: 9000, num_predict: 9, temperature: 0, top_p: 0.5, seed: 1, stop: ['x'] },
    messages: [{ role: 'user', content: 'look\n\n[file: https://x/y.png]', images: ['AAAA', 'BBBB'] }],
  });
  const think = async (model: string, reasoning: 'none' | 'low'): Promise<unknown> =>
    (await sentBody(t, createRequest({ settings: { reasoning } }), { model }))['think'];
  assert.deepEqual(
    [await think('qwen3', 'none'), await think('gpt-oss:20b', 'low'), await think('gpt-oss:20b', 'none')],
    [false, 'low', 'low'],
  );
  const both = await sentBody(t, createRequest({ tools: [noopTool], outputSchema: schema }));
  assert.equal(both['format'], undefined);
  assert.match(String((both['messages'] as WireObject[])[0]?.['content']), /JSON schema/);
  assert.equal((await sentBody(t, createRequest({ tools: [noopTool], toolChoice: 'none' })))['tools'], undefined);
});

test('[A6] [A21] lines become text, reasoning and calls; the reasoning is sent back to Ollama only', async (t) => {
  const chat =
    streamLine({ thinking: 'h' }) +
    streamLine({ thinking: 'm' }) +
    streamLine({ content: 'Hel' }) +
    streamLine({ content: 'lo' }) +
    streamLine({
      tool_calls: [
        { function: { name: 'one', arguments: { x: 1 } } },
        { id: 'k', function: { name: 'two', arguments: {} } },
      ],
    }) +
    lastLine();
  const end = await read(t, chat);
  const { message } = end;
  const meta = { family: 'ollama', data: {} };
  assert.deepEqual(end, {
    type: 'end',
    message: {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'hm', meta },
        { type: 'text', text: 'Hello' },
        { type: 'tool-call', id: 'call_2', tool: 'one', input: { x: 1 } },
        { type: 'tool-call', id: 'k', tool: 'two', input: {} },
      ],
    },
    finishReason: 'tool-calls',
    rawFinishReason: 'stop',
    usage: { input: 11, output: 7 },
    model: 'llama',
  });
  const { messages } = await sentBody(
    t,
    createRequest({ messages: createPersistentList([userMessage('hi'), message, userMessage('more')]) }),
  );
  assert.equal((messages as WireObject[])[2]?.['thinking'], 'hm');
});

test('the finish reason is reported, and missing counts are unknown', async (t) => {
  const finish = async (reason: string): Promise<string> =>
    (await read(t, streamLine({ content: 'x' }) + lastLine({ done_reason: reason }))).finishReason;
  assert.deepEqual([await finish('stop'), await finish('length'), await finish('load')], ['stop', 'length', 'other']);
  const { usage } = await read(t, streamLine({ content: 'x' }, { done: true }).trimEnd());
  assert.deepEqual(usage, {});
});

test('[A54] a response without its last line is truncated at every byte, and its calls are dropped (fault 46)', async () => {
  const { readOllamaStream } = await import('./response.ts');
  const bytes = Buffer.from(
    streamLine({ content: 'é' }) +
      streamLine({ tool_calls: [{ function: { name: 'rm', arguments: {} } }] }) +
      lastLine(),
  );
  async function* upTo(end: number): AsyncGenerator<Buffer> {
    for (let i = 0; i < end; i++) yield await Promise.resolve(bytes.subarray(i, i + 1));
  }
  for (let cut = 0; cut < bytes.length - 1; cut++) {
    const error = await expectError(drain(readOllamaStream(upTo(cut), { name: 'ollama' }, 'llama')));
    assert.deepEqual([error.code, error.retry], ['provider/cut', true], String(cut));
  }
  assert.equal(
    (await drain(readOllamaStream(upTo(bytes.length - 1), { name: 'ollama' }, 'llama'))).message.parts.length,
    2,
  );
});

test('[A54] errors are detected by status, inside a stream, and in bodies of another format (faults 48, 49, 59)', async (t) => {
  const code = async (chat: string, status = 200): Promise<string> => (await expectError(read(t, chat, status))).code;
  assert.equal(await code('{"error":"model \'llama\' not found"}', 404), 'provider/not-found');
  assert.equal(
    await code(`${streamLine({ content: 'x' })}{"error":"an error was encountered while running the model"}\n`),
    'provider/server-error',
  );
  assert.equal(await code('{"error":"the input length exceeds the context length"}', 400), 'provider/context-too-long');
  assert.equal(await code('<html>\n</html>'), 'provider/malformed');
  assert.equal(await code('{broken\n{}\n'), 'provider/malformed');
  const { url } = await serve(t, { show: undefined });
  const gone = ollamaProvider({ model: 'llama', baseUrl: url.replace(/:\d+$/, ':1') });
  assert.equal((await expectError(drain(gone.stream(createRequest(), neverAborted)))).code, 'provider/unreachable');
});
