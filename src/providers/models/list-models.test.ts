// Tests of model listings, with servers in the format of each provider.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { FairleadError } from '../../core/index.ts';
import { closedUrl, scriptedServer, type ListedModel, type ListingStyle } from '../../testing/index.ts';
import { listModels } from './list-models.ts';
import type { ModelInfo } from './model-info.ts';

const models: readonly ListedModel[] = [
  {
    id: 'able',
    context: 40_960,
    loaded: 8192,
    tools: true,
    images: true,
    reasoning: true,
    price: { input: 2, output: 6 },
  },
  { id: 'plain', context: 4096, tools: false },
  { id: 'vectors-embed', context: 512, embedding: true },
];

async function listFrom(
  t: test.TestContext,
  provider: string,
  path: string,
  style: ListingStyle = 'openai',
  list: readonly ListedModel[] = models,
): Promise<readonly ModelInfo[]> {
  const server = await scriptedServer([], { models: list, listingStyle: style });
  t.after(() => server.close());
  return listModels({ provider, baseUrl: `${server.url}${path}`, apiKey: 'k' });
}

const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const summarize = (list: readonly ModelInfo[]): unknown =>
  list.map(({ id, tools, images, reasoning, contextWindow }) => [id, tools, images, reasoning, contextWindow]);

test('[A5, J89] Ollama: capabilities and context windows come from the details of each model; embedding models are omitted', async (t) => {
  const list = await listFrom(t, 'ollama', '', 'openai', [
    ...models,
    { id: 'set', context: 131_072, tools: true, parameters: 'temperature 0.7\nnum_ctx                 16384' },
  ]);
  assert.deepEqual(summarize(list), [
    ['able', true, true, true, 8192],
    ['plain', false, false, false, 4096],
    ['set', true, false, false, 16_384],
  ]);
  assert.deepEqual(
    list.map(({ loaded, size, price }) => [loaded, size, price?.input]),
    [
      [true, 4_000_000_000, 0],
      [false, 4_000_000_000, 0],
      [false, 4_000_000_000, 0],
    ],
  );
});

test('[A5, J89] LM Studio: its own listing, in both versions; a model without the capability cannot call tools', async (t) => {
  assert.deepEqual(summarize(await listFrom(t, 'lm-studio', '/v1', 'lm-studio')), [
    ['able', true, true, 'unknown', 8192],
    ['plain', false, false, 'unknown', 4096],
  ]);
  assert.deepEqual(summarize(await listFrom(t, 'lm-studio', '')), [
    ['able', true, true, 'unknown', 8192],
    ['plain', false, false, 'unknown', 4096],
  ]);
});

test('[A5, J89] Lemonade: labels contain the capabilities, and the health endpoint contains the loaded models', async (t) => {
  const list = await listFrom(t, 'lemonade', '/api/v1', 'lemonade');
  assert.deepEqual(summarize(list), [
    ['able', true, true, true, 8192],
    ['plain', false, false, false, undefined],
  ]);
  assert.deepEqual(
    list.map(({ loaded, size }) => [loaded, size]),
    [
      [true, 2_500_000_000],
      [false, 2_500_000_000],
    ],
  );
  const row = { id: 'm', labels: ['tool-calling'], recipe: 'llamacpp', max_context_window: 262_144 };
  const cloud = { id: 'c', labels: [], recipe: 'cloud', context_length: 1000 };
  const baseUrl = await serveFixed(t, {
    '/api/v1/models': { data: [row, cloud, { ...row, id: 'x', downloaded: false }] },
  });
  const newer = await listModels({ provider: 'lemonade', baseUrl });
  assert.deepEqual(summarize(newer), [
    ['m', true, false, false, 262_144],
    ['c', false, false, false, 1000],
  ]);
  assert.deepEqual(
    newer.map(({ loaded, price }) => [loaded, price?.input]),
    [
      [undefined, 0],
      [undefined, undefined],
    ],
  );
});

test('[A5] llama.cpp: its actual context window, and tool support by its chat template', async (t) => {
  assert.deepEqual(summarize(await listFrom(t, 'llama.cpp', '/v1', 'llama.cpp', [models[0] as ListedModel])), [
    ['able', true, true, 'unknown', 8192],
  ]);
  assert.deepEqual(summarize(await listFrom(t, 'llama.cpp', '/v1', 'llama.cpp', [models[1] as ListedModel])), [
    ['plain', false, false, 'unknown', 4096],
  ]);
});

test('[A5] vLLM: its configured context window, and no guesses about the rest', async (t) => {
  assert.deepEqual(summarize(await listFrom(t, 'vllm', '/v1', 'vllm')), [
    ['able', 'unknown', 'unknown', 'unknown', 8192],
    ['plain', 'unknown', 'unknown', 'unknown', 4096],
  ]);
});

test('[A5] OpenRouter: parameters, modalities and prices', async (t) => {
  const list = await listFrom(t, 'openrouter', '/api/v1', 'openrouter', models.slice(0, 2));
  assert.deepEqual(summarize(list), [
    ['able', true, true, true, 40_960],
    ['plain', false, false, false, 4096],
  ]);
  assert.deepEqual(list[0]?.price, { input: 2, output: 6 });
});

test('[A5] Mistral, Google, Hugging Face and Anthropic: each with its own fields', async (t) => {
  assert.deepEqual(summarize(await listFrom(t, 'mistral', '/v1', 'mistral')), [
    ['able', true, true, 'unknown', 40_960],
    ['plain', false, false, 'unknown', 4096],
  ]);
  assert.deepEqual(summarize(await listFrom(t, 'google', '/v1beta')), [
    ['able', 'unknown', 'unknown', true, 40_960],
    ['plain', 'unknown', 'unknown', 'unknown', 4096],
  ]);
  assert.deepEqual(summarize(await listFrom(t, 'huggingface', '/v1', 'huggingface', models.slice(0, 2))), [
    ['able', true, true, 'unknown', 40_960],
    ['plain', false, false, 'unknown', 4096],
  ]);
  assert.deepEqual(summarize(await listFrom(t, 'anthropic', '/v1', 'openai', [{ id: 'claude-sonnet-4-5-20250929' }])), [
    ['claude-sonnet-4-5-20250929', true, true, true, 200_000],
  ]);
});

test('[A5] a plain listing is completed with known data of the model name, and the rest is unknown', async (t) => {
  const list = await listFrom(t, 'openai', '/v1', 'openai', [
    { id: 'gpt-4o-2024-11-20' },
    { id: 'gpt-9-unheard-of' },
    { id: 'text-embedding-3-large' },
    { id: 'whisper-1' },
  ]);
  assert.deepEqual(summarize(list), [
    ['gpt-4o-2024-11-20', true, true, false, 128_000],
    ['gpt-9-unheard-of', 'unknown', 'unknown', 'unknown', undefined],
  ]);
  assert.deepEqual([list[0]?.price?.input, list[1]?.price], [2.5, undefined]);
});

test('[A8] any other server with an OpenAI-compatible listing works, also by host name only', async (t) => {
  assert.deepEqual(
    summarize(await listFrom(t, 'openai-compatible', '', 'groq', [{ id: 'openai/gpt-oss-120b', context: 9000 }])),
    [['openai/gpt-oss-120b', true, false, true, 9000]],
  );
});

/** A server with a fixed response for each path, or 500. */
async function serveFixed(t: test.TestContext, replies: { readonly [path: string]: unknown }): Promise<string> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    response.writeHead(Object.hasOwn(replies, path) ? 200 : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify(replies[path] ?? { error: 'broken' }));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('[J89] a model without details is listed as unknown, and invalid entries of a listing are ignored', async (t) => {
  const baseUrl = await serveFixed(t, {
    '/api/tags': { models: [{ name: 'a:1', size: 'big' }, 'nonsense', { size: 3 }, { name: 'b:2', size: 7 }] },
  });
  assert.deepEqual(await listModels({ provider: 'ollama', baseUrl }), [
    {
      id: 'a:1',
      provider: 'ollama',
      tools: 'unknown',
      images: 'unknown',
      reasoning: 'unknown',
      loaded: false,
      price: free,
    },
    {
      id: 'b:2',
      provider: 'ollama',
      tools: 'unknown',
      images: 'unknown',
      reasoning: 'unknown',
      loaded: false,
      size: 7,
      price: free,
    },
  ]);
  const lemonade = await serveFixed(t, { '/v1/models': { data: [{ id: 'm' }] } });
  assert.deepEqual(summarize(await listModels({ provider: 'lemonade', baseUrl: `${lemonade}/v1` })), [
    ['m', 'unknown', 'unknown', 'unknown', undefined],
  ]);
});

test('[J89] the details of many models are requested with limited concurrency', async (t) => {
  let now = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const many = { models: Array.from({ length: 30 }, (_, i) => ({ name: `m${i}` })) };
    if (request.url === '/api/tags') return void response.end(JSON.stringify(many));
    most = Math.max(most, ++now);
    setImmediate(() =>
      setImmediate(() => {
        now--;
        response.end('{"capabilities":["completion","tools"]}');
      }),
    );
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const list = await listModels({
    provider: 'ollama',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  assert.equal(list.filter((model) => model.tools === true).length, 30);
  assert.ok(most > 1 && most <= 5, `${most} at once`);
});

test('a missing key, server or provider and a wrong key are one sentence each, with a hint', async (t) => {
  const failure = async (work: Promise<unknown>): Promise<FairleadError> =>
    work.then(
      () => assert.fail('it did not fail'),
      (error: unknown) => (error instanceof FairleadError ? error : assert.fail(String(error))),
    );
  const none = await failure(listModels('groq', { env: {} }));
  assert.deepEqual([none.code, none.message], ['provider/no-key', 'groq needs a key, and GROQ_API_KEY is not set.']);
  const away = await failure(listModels({ provider: 'ollama', baseUrl: await closedUrl() }));
  assert.equal(away.code, 'provider/unreachable');
  const typo = await failure(listModels('olama'));
  assert.deepEqual([typo.code, typo.hint?.includes('Did you mean ollama?')], ['provider/unknown', true]);
  const server = await scriptedServer([], { key: 'right' });
  t.after(() => server.close());
  const wrong = await failure(listModels({ provider: 'groq', baseUrl: `${server.url}/v1`, apiKey: 'wrong-key' }));
  assert.equal(wrong.code, 'provider/unauthorized');
  assert.ok(!wrong.message.includes('wrong-key'));
});

test('a listing that does not arrive times out', async (t) => {
  const server = createServer(() => {});
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  await assert.rejects(listModels({ provider: 'vllm', baseUrl }, { timeoutMs: 50 }), { code: 'provider/timeout' });
});
