// Tests of the Gemini provider: request format and unusual responses.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createPersistentList, type Chunk, type Message, type ModelRequest } from '../../core/index.ts';
import { says, scriptedServer, sends, type ScriptedServer } from '../../testing/index.ts';
import { googleProvider } from './google.ts';

type Body = {
  readonly contents: readonly unknown[];
  readonly generationConfig: { readonly thinkingConfig?: unknown };
  readonly tools: readonly [{ readonly functionDeclarations: readonly [{ readonly parametersJsonSchema: unknown }] }];
  readonly toolConfig: unknown;
};

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const lookTool = { name: 'look', description: 'Looks.', input: { type: 'object', properties: {} } };

const createRequest = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  tools: [lookTool],
  messages: createPersistentList(messages),
  toolChoice: 'auto',
  settings: {},
  ...more,
});

async function ask(server: ScriptedServer, request: ModelRequest): Promise<Chunk & { type: 'end' }> {
  const provider = googleProvider({ model: 'gemini-3-pro', apiKey: 'k', baseUrl: `${server.url}/v1beta` });
  for await (const chunk of provider.stream(request, AbortSignal.timeout(9000))) if (chunk.type === 'end') return chunk;
  throw new Error('The stream had no end.');
}

async function sentBody(request: ModelRequest): Promise<Body> {
  await using server = await scriptedServer([says('ok')]);
  await ask(server, request);
  return server.requests[0]?.body as unknown as Body;
}

async function read(chunks: readonly object[], contentType = 'text/event-stream'): Promise<Chunk & { type: 'end' }> {
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join('');
  const body = contentType === 'text/event-stream' ? events : JSON.stringify(chunks);
  await using server = await scriptedServer([sends({ headers: { 'content-type': contentType }, body })]);
  return await ask(server, createRequest([user('Go.')]));
}

const partsChunk = (...list: readonly object[]): object => ({ candidates: [{ content: { parts: list } }] });
const finishChunk = (finishReason: string, more: object = {}): object => ({ candidates: [{ finishReason, ...more }] });

test('[A1] signatures and ids of calls are sent back with their parts', async () => {
  const seal = { family: 'google', data: { thoughtSignature: 'seal' } };
  const called: Message = {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'Hm.', meta: { family: 'google', data: { thoughtSignature: 'first' } } },
      { type: 'text', text: 'Looking.' },
      { type: 'tool-call', id: 'c00001000', tool: 'look', input: { at: 1 }, meta: seal },
      { type: 'tool-call', id: 'c00001001', tool: 'look', input: {} },
    ],
  };
  const back: Message = {
    role: 'tool',
    parts: ['c00001000', 'c00001001'].map((id, i) => ({
      type: 'tool-result',
      id,
      tool: 'look',
      text: 'a wall',
      failed: i === 1,
    })),
  };
  const { contents } = await sentBody(createRequest([user('Go.'), called, back]));
  assert.deepEqual(contents.slice(1), [
    {
      role: 'model',
      parts: [
        { text: 'Hm.', thought: true, thoughtSignature: 'first' },
        { text: 'Looking.' },
        { functionCall: { id: 'c00001000', name: 'look', args: { at: 1 } }, thoughtSignature: 'seal' },
        { functionCall: { id: 'c00001001', name: 'look', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'c00001000', name: 'look', response: { name: 'look', content: 'a wall' } } },
        { functionResponse: { id: 'c00001001', name: 'look', response: { name: 'look', error: 'a wall' } } },
      ],
    },
  ]);
});

test('signatures are kept with their part, also with empty parts', async () => {
  const { message, finishReason } = await read([
    partsChunk({ text: 'Hm', thought: true }, { text: '.', thought: true, thoughtSignature: 'a' }),
    partsChunk({ text: 'Yes.' }),
    partsChunk({ text: '', thoughtSignature: 'b' }),
    partsChunk(
      { functionCall: { name: 'look', args: { at: 'é' } }, thoughtSignature: 'c' },
      { functionCall: { name: 'look' } },
    ),
    finishChunk('STOP'),
  ]);
  const seal = (thoughtSignature: string): object => ({ meta: { family: 'google', data: { thoughtSignature } } });
  const ids = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []));
  assert.deepEqual(message.parts, [
    { type: 'reasoning', text: 'Hm.', ...seal('a') },
    { type: 'text', text: 'Yes.', ...seal('b') },
    { type: 'tool-call', id: ids[0], tool: 'look', input: { at: 'é' }, ...seal('c') },
    { type: 'tool-call', id: ids[1], tool: 'look', input: {} },
  ]);
  assert.equal(new Set(ids).size, 2);
  assert.equal(finishReason, 'tool-calls');
});

test('a call with chunked arguments is assembled, and is dropped if it is incomplete', async () => {
  const call = (functionCall: object): object => partsChunk({ functionCall });
  const begun = [
    call({ name: 'look', willContinue: true }),
    call({ partialArgs: [{ jsonPath: '$.at', stringValue: 'he', willContinue: true }], willContinue: true }),
  ];
  const whole = [call({ partialArgs: [{ jsonPath: '$.at', stringValue: 're' }], willContinue: true }), call({})];
  const { message } = await read([...begun, ...whole, finishChunk('STOP')]);
  assert.deepEqual(
    message.parts.map((part) => part.type === 'tool-call' && part.input),
    [{ at: 'here' }],
  );
  assert.deepEqual((await read([...begun, finishChunk('MAX_TOKENS')])).message.parts, []);
});

test('server-side tool calls and unknown fields are ignored', async () => {
  const { message } = await read([
    partsChunk(
      { executableCode: { language: 'PYTHON', code: 'x' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK' } },
    ),
    partsChunk({ toolCall: { toolType: 'GOOGLE_SEARCH' } }, { part_of_tomorrow: {} }, { text: 'Yes.' }),
    finishChunk('STOP', { groundingMetadata: { groundingChunks: [{ web: 3 }] }, safetyRatings: 'none' }),
  ]);
  assert.deepEqual(message.parts, [{ type: 'text', text: 'Yes.' }]);
});

test('a JSON array instead of an event stream is parsed, and so is a file', async () => {
  const { message, finishReason } = await read(
    [
      partsChunk({ text: 'Ye' }),
      partsChunk({ text: 's.' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }),
      finishChunk('STOP'),
    ],
    'application/json',
  );
  assert.deepEqual(message.parts, [
    { type: 'text', text: 'Yes.' },
    { type: 'file', mediaType: 'image/png', data: 'AAAA' },
  ]);
  assert.equal(finishReason, 'stop');
});

test('filters, limits and failures are mapped to finish reasons (faults 51, 52)', async () => {
  const ends = async (chunk: object): Promise<readonly unknown[]> => {
    const { finishReason, rawFinishReason } = await read([chunk]);
    return [finishReason, rawFinishReason];
  };
  for (const reason of ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR'])
    assert.deepEqual(await ends(finishChunk(reason)), ['filtered', reason]);
  assert.deepEqual(await ends({ promptFeedback: { blockReason: 'OTHER' } }), ['filtered', 'OTHER']);
  assert.deepEqual(await ends(finishChunk('MAX_TOKENS')), ['length', 'MAX_TOKENS']);
  assert.deepEqual(await ends(finishChunk('MALFORMED_FUNCTION_CALL')), ['other', 'MALFORMED_FUNCTION_CALL']);
  assert.deepEqual(await ends(finishChunk('REASON_OF_TOMORROW')), ['other', 'REASON_OF_TOMORROW']);
});

test('an answer that the server would continue in another request ends with "length": one stream is one request', async () => {
  await using server = await scriptedServer(() =>
    sends({
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify(finishChunk('CONTINUATION', { continuationToken: 'more' }))}\n\n`,
    }),
  );
  assert.equal((await ask(server, createRequest([user('Go.')]))).finishReason, 'length');
  assert.equal(server.requests.length, 1);
});

test('a connection error after the finish reason loses no text', async () => {
  const said = `data: ${JSON.stringify(partsChunk({ text: 'Yes.' }))}\n\ndata: ${JSON.stringify(finishChunk('STOP'))}\n\n`;
  await using server = await scriptedServer([
    sends({ headers: { 'content-type': 'text/event-stream' }, body: `${said}: goodbye`, cutAt: said.length + 3 }),
  ]);
  const { message, finishReason } = await ask(server, createRequest([user('Go.')]));
  assert.deepEqual([message.parts, finishReason], [[{ type: 'text', text: 'Yes.' }], 'stop']);
});

test('usage includes input of server-side tools and reasoning output, and missing counts stay unknown (fault 54)', async () => {
  const usage = async (usageMetadata: object | undefined): Promise<unknown> =>
    (await read([{ ...finishChunk('STOP'), ...(usageMetadata ? { usageMetadata } : {}) }])).usage;
  const counts = {
    promptTokenCount: 10,
    toolUsePromptTokenCount: 5,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 4,
    totalTokenCount: 22,
  };
  assert.deepEqual(await usage(counts), { input: 15, output: 7, reasoning: 4 });
  assert.deepEqual(await usage({ promptTokenCount: 10, cachedContentTokenCount: 8, totalTokenCount: 10 }), {
    input: 10,
    output: 0,
    cacheRead: 8,
  });
  assert.deepEqual(await usage(undefined), {});
});

test('the reasoning parameters follow the settings, and reasoning text is requested', async () => {
  const body = await sentBody(createRequest([user('Go.')], { settings: { reasoning: 'high' } }));
  assert.deepEqual(body.generationConfig.thinkingConfig, { thinkingLevel: 'high', includeThoughts: true });
  assert.equal((await sentBody(createRequest([user('Go.')]))).generationConfig.thinkingConfig, undefined);
});

test('[A22] a forced tool is named in addition to the tools', async () => {
  const { toolConfig } = await sentBody(createRequest([user('Go.')], { toolChoice: { tool: 'look' } }));
  assert.deepEqual(toolConfig, { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } });
});

test('unsupported parts of schemas are removed for Gemini', async () => {
  const input = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      kind: { const: 'cat' },
      age: { type: 'integer', exclusiveMinimum: 0, multipleOf: 1 },
      name: { $ref: '#/definitions/name', description: 'dropped beside a reference' },
      any: true,
      both: {
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: {} }, required: ['b'] },
        ],
      },
    },
    patternProperties: { '^x': {} },
    additionalProperties: false,
    definitions: { name: { type: 'string', pattern: '^[a-z]+$' } },
  };
  const { tools } = await sentBody(createRequest([user('Go.')], { tools: [{ ...lookTool, input }] }));
  assert.deepEqual(tools[0].functionDeclarations[0].parametersJsonSchema, {
    type: 'object',
    properties: {
      kind: { enum: ['cat'] },
      age: { type: 'integer', minimum: 0 },
      name: { $ref: '#/$defs/name' },
      any: {},
      both: { properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] },
    },
    additionalProperties: false,
    $defs: { name: { type: 'string' } },
  });
});
