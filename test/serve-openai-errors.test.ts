// Errors of the OpenAI endpoints as the official clients see them: error classes, codes and fields.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText } from 'ai';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { fails, says } from '../src/testing/index.ts';
import { createApiFixture, roleKeys, type ApiFixture } from './support/api-server.ts';

const createOpenAiClient = ({ url }: ApiFixture, key: string = roleKeys.runner): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, timeout: 30_000 });

const chatRequest = { model: 'fairlead', messages: [{ role: 'user' as const, content: 'Hello' }] };

type ExpectedError = { readonly code?: string | null; readonly param?: string | null; readonly type?: string };

/** Matches an error: its class, and its fields. */
const createErrorMatcher =
  (kind: new (...given: never[]) => APIError, told: ExpectedError) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof kind, String(error));
    const { code, param, type, message } = error;
    assert.deepEqual({ code, param, type }, { code: told.code ?? null, param: told.param ?? null, type: told.type });
    assert.ok(message.length > 10);
    return true;
  };

const notFound = createErrorMatcher(NotFoundError, {
  code: 'model_not_found',
  param: 'model',
  type: 'invalid_request_error',
});

test('an unknown model is not found, at every endpoint, and no run is started for it', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  const client = createOpenAiClient(api);
  await assert.rejects(client.chat.completions.create({ ...chatRequest, model: 'gpt-9' }), notFound);
  await assert.rejects(client.chat.completions.create({ ...chatRequest, model: 'gpt-9', stream: true }), notFound);
  await assert.rejects(client.responses.create({ model: 'gpt-9', input: 'x' }), notFound);
  await assert.rejects(client.models.retrieve('some/gpt-9'), notFound);
  await assert.rejects(client.responses.retrieve('resp_none'), NotFoundError);
  assert.equal((await client.models.retrieve('scripted')).id, 'scripted');
  assert.equal((await client.models.retrieve('fairlead')).id, 'fairlead');
  const model = createOpenAI({ baseURL: `${api.url}/v1`, apiKey: roleKeys.runner }).chat('gpt-9');
  await assert.rejects(
    generateText({ model, prompt: 'x', maxRetries: 0 }),
    (error) => APICallError.isInstance(error) && error.statusCode === 404 && !error.isRetryable,
  );
  assert.equal((await api.store.queue.list()).length, 0);
});

test('a wrong key, a missing permission and too many requests are the errors that clients expect', async (t) => {
  const api = await createApiFixture(t, { worker: false, bounds: { rate: { burst: 2, perSecond: 0.001 } } });
  await assert.rejects(
    createOpenAiClient(api, roleKeys.wrong).models.list(),
    createErrorMatcher(AuthenticationError, { code: 'invalid_api_key', type: 'invalid_request_error' }),
  );
  await assert.rejects(
    createOpenAiClient(api, roleKeys.reader).chat.completions.create(chatRequest),
    createErrorMatcher(PermissionDeniedError, { code: 'server/role', type: 'invalid_request_error' }),
  );
  const client = createOpenAiClient(api);
  await client.models.list();
  await client.models.list();
  await assert.rejects(
    client.models.list(),
    createErrorMatcher(RateLimitError, { code: 'rate_limit_exceeded', type: 'rate_limit_error' }),
  );
});

test('the stop reason of a run is reported as the error that clients expect', async (t) => {
  const failures = {
    limited: fails({ name: 'rate-limited', retry: false }),
    unknown: fails('not-found'),
    long: fails('context-too-long'),
    broken: fails('unauthorized'),
  };
  const api = await createApiFixture(t, {
    script: ({ prompt }) => failures[prompt as keyof typeof failures] ?? says('?'),
    bounds: { firstChunkMs: 30_000 },
  });
  const client = createOpenAiClient(api);
  await assert.rejects(client.responses.create({ model: 'fairlead', input: 'broken' }), APIError);
  const [run] = await api.store.queue.list();
  const { status, error } = await client.responses.retrieve(`resp_${run?.id}`);
  assert.deepEqual([status, error?.code], ['failed', 'server/no-answer']);
  for (const [words, check] of [
    ['limited', createErrorMatcher(RateLimitError, { code: 'rate_limit_exceeded', type: 'rate_limit_error' })],
    ['unknown', notFound],
    ['long', createErrorMatcher(BadRequestError, { code: 'context_length_exceeded', type: 'invalid_request_error' })],
    ['broken', createErrorMatcher(APIError, { code: 'server/no-answer', type: 'server_error' })],
  ] as const)
    for (const stream of [false, true])
      await assert.rejects(
        client.chat.completions.create({ ...chatRequest, messages: [{ role: 'user', content: words }], stream }),
        check,
        words,
      );
});

test('a tenant whose budget is spent gets the error "insufficient_quota"', async (t) => {
  const api = await createApiFixture(t, { bounds: { firstChunkMs: 30_000 } });
  assert.equal((await api.request('PUT /api/budgets/default', { body: { period: 'day', tokens: 1 } })).status, 200);
  for (const stream of [false, true])
    await assert.rejects(
      createOpenAiClient(api).chat.completions.create({ ...chatRequest, stream }),
      createErrorMatcher(RateLimitError, { code: 'insufficient_quota', type: 'rate_limit_error' }),
    );
});

test('fields that affect a model reach it, and harmless ones are accepted', async (t) => {
  const seen: unknown[] = [];
  const api = await createApiFixture(t, {
    script: ({ body }) => {
      seen.push(body.settings);
      return says('Fine.');
    },
  });
  const client = createOpenAiClient(api);
  const chat = {
    temperature: 0,
    top_p: 0.9,
    seed: 7,
    max_completion_tokens: 50,
    reasoning_effort: 'minimal',
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    metadata: { a: 'b' },
    store: true,
    service_tier: 'flex',
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    verbosity: 'low',
    parallel_tool_calls: true,
    n: 1,
    logprobs: false,
    logit_bias: {},
    modalities: ['text'],
    tools: [],
    tool_choice: 'auto',
    response_format: { type: 'text' },
    stop: null,
    something_new: { of: 'tomorrow' },
  };
  const told = await client.chat.completions.create({
    ...chatRequest,
    ...chat,
  } as OpenAI.ChatCompletionCreateParamsNonStreaming);
  assert.equal(told.choices[0]?.message.content, 'Fine.');
  const responses = {
    temperature: 1,
    max_output_tokens: 60,
    reasoning: { effort: 'high', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    truncation: 'auto',
    store: false,
    text: { format: { type: 'text' }, verbosity: 'low' },
  };
  await client.responses.create({
    model: 'fairlead',
    input: 'x',
    ...responses,
  } as OpenAI.Responses.ResponseCreateParamsNonStreaming);
  assert.deepEqual(seen, [
    { temperature: 0, topP: 0.9, seed: 7, maxOutputTokens: 50, reasoning: 'low' },
    { temperature: 1, maxOutputTokens: 60, reasoning: 'high' },
  ]);
});

test('unsupported fields are refused by name, and no run is started', async (t) => {
  const api = await createApiFixture(t, { worker: false });
  const client = createOpenAiClient(api);
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
  const odd: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ logit_bias: { 50256: -100 } }, 'logit_bias'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ audio: { voice: 'alloy', format: 'wav' } }, 'audio'],
    [{ functions: [{ name: 'f' }] }, 'functions'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ top_p: 7 }, 'top_p'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ seed: 1.5 }, 'seed'],
    [{ reasoning_effort: 'some' }, 'reasoning_effort'],
    [{ stop: [1] }, 'stop'],
    [{ stream: 'yes' }, 'stream'],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [picture] },
        ],
      },
      'messages[1].content',
    ],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'function', name: 'f', content: 'b' },
        ],
      },
      'messages[1].role',
    ],
    [{ messages: ['a'] }, 'messages.0'],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c', content: [picture] },
        ],
      },
      'messages[2].content',
    ],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'assistant', content: 'a' }] }, 'messages'],
  ];
  for (const [given, param] of odd)
    await assert.rejects(client.chat.completions.create({ ...chatRequest, ...given } as never), (error: unknown) => {
      assert.ok(error instanceof BadRequestError, JSON.stringify(given));
      assert.deepEqual([error.param, error.code], [param, 'invalid_value'], JSON.stringify(given));
      return true;
    });
  for (const [given, param] of [
    [{ background: true }, 'background'],
    [{ conversation: 'c' }, 'conversation'],
    [{ prompt: { id: 'p' } }, 'prompt'],
    [{ max_tool_calls: 3 }, 'max_tool_calls'],
    [{ reasoning: { effort: 'some' } }, 'reasoning.effort'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] }] }, 'input[0].content'],
    [{ previous_response_id: 5 }, 'previous_response_id'],
    [
      {
        input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'data:,' }] }],
      },
      'input[0].output',
    ],
  ] as const)
    await assert.rejects(
      client.responses.create({ model: 'fairlead', input: 'x', ...given } as never),
      (error: unknown) => error instanceof BadRequestError && error.param === param,
      JSON.stringify(given),
    );
  await assert.rejects(
    client.responses.create({ model: 'fairlead', input: 'x', previous_response_id: 'resp_none' }),
    (error: unknown) => error instanceof NotFoundError && error.param === 'previous_response_id',
  );
  assert.equal((await api.store.queue.list()).length, 0);
});
