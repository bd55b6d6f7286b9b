// The model listings, each in the format of its service or server.
import assert from 'node:assert/strict';
import test from 'node:test';
import { scriptedServer, type ListedModel, type ListingStyle } from './index.ts';

const models: readonly ListedModel[] = [
  {
    id: 'big',
    context: 131_072,
    loaded: 8192,
    tools: true,
    images: true,
    reasoning: true,
    price: { input: 3, output: 15 },
    parameters: 'num_ctx 8192',
  },
  { id: 'plain', context: 4096 },
  { id: 'vectors', context: 512, embedding: true },
];

type Row = { readonly [key: string]: unknown };

async function get(path: string, style: ListingStyle = 'openai', init: RequestInit = {}): Promise<Row> {
  await using server = await scriptedServer([], { models, listingStyle: style });
  const response = await fetch(server.url + path, init);
  assert.equal(response.status, 200);
  return (await response.json()) as Row;
}

const first = (listing: Row, key: string): Row => (listing[key] as readonly Row[])[0] as Row;

test('[J89] OpenAI, Anthropic and Google list their models under the same names', async () => {
  const openai = await get('/v1/models');
  assert.equal(openai['object'], 'list');
  assert.deepEqual(Object.keys(first(openai, 'data')), ['id', 'object', 'created', 'owned_by']);
  const anthropic = await get('/v1/models', 'openai', { headers: { 'anthropic-version': '2023-06-01' } });
  assert.deepEqual(
    [anthropic['has_more'], anthropic['first_id'], first(anthropic, 'data')['type']],
    [false, 'big', 'model'],
  );
  const google = first(await get('/v1beta/models'), 'models');
  assert.deepEqual([google['name'], google['inputTokenLimit']], ['models/big', 131_072]);
});

test('[J89] Ollama lists, shows and runs models, and returns its version', async () => {
  assert.equal(first(await get('/api/tags'), 'models')['name'], 'big');
  assert.ok((await get('/api/version'))['version']);
  assert.equal(first(await get('/api/ps'), 'models')['context_length'], 8192);
  const show = await get('/api/show', 'openai', { method: 'POST', body: JSON.stringify({ model: 'big' }) });
  assert.deepEqual(show['capabilities'], ['completion', 'tools', 'vision', 'thinking']);
  assert.equal((show['model_info'] as Row)['llama.context_length'], 131_072);
  assert.equal(show['parameters'], 'num_ctx 8192');
});

test('[J89] LM Studio lists models at both of its own endpoints', async () => {
  const old = first(await get('/api/v0/models', 'lm-studio'), 'data');
  assert.deepEqual(
    [old['type'], old['state'], old['loaded_context_length'], old['capabilities']],
    ['vlm', 'loaded', 8192, ['tool_use']],
  );
  const all = (await get('/api/v0/models', 'lm-studio'))['data'] as readonly Row[];
  assert.deepEqual(
    all.map((model) => model['state']),
    ['loaded', 'not-loaded', 'not-loaded'],
  );
  const young = first(await get('/api/v1/models', 'lm-studio'), 'models');
  assert.deepEqual(
    [young['key'], young['max_context_length'], young['capabilities']],
    ['big', 131_072, { vision: true, trained_for_tool_use: true }],
  );
});

test('[J89] Lemonade lists models with labels and recipes', async () => {
  const model = first(await get('/api/v1/models', 'lemonade'), 'data');
  assert.deepEqual(model['labels'], ['tool-calling', 'vision', 'reasoning']);
  assert.deepEqual([model['recipe'], model['recipe_options']], ['llamacpp', { ctx_size: 8192 }]);
});

test('[A5] the other servers list models with fields for the context window and tool support', async () => {
  const window: Readonly<Partial<Record<ListingStyle, (model: Row) => unknown>>> = {
    groq: (model) => model['context_window'],
    mistral: (model) => model['max_context_length'],
    openrouter: (model) => model['context_length'],
    huggingface: (model) => (model['providers'] as readonly Row[])[0]?.['context_length'],
    'llama.cpp': (model) => (model['meta'] as Row)['n_ctx_train'],
  };
  for (const [style, read] of Object.entries(window))
    assert.equal(read(first(await get('/v1/models', style as ListingStyle), 'data')), 131_072, style);
  assert.equal(first(await get('/v1/models', 'vllm'), 'data')['max_model_len'], 8192);
  assert.deepEqual(first(await get('/api/v1/models', 'openrouter'), 'data')['pricing'], {
    prompt: '0.000003',
    completion: '0.000015',
  });
  assert.deepEqual((await get('/props', 'llama.cpp'))['default_generation_settings'], { n_ctx: 8192 });
});

test('one model is described by its id, and an unknown one is a 404', async () => {
  assert.equal((await get('/v1/models/plain'))['id'], 'plain');
  await using server = await scriptedServer([], { models });
  assert.equal((await fetch(`${server.url}/v1/models/none`)).status, 404);
  assert.equal((await fetch(`${server.url}/api/show`, { method: 'POST', body: '{"model":"none"}' })).status, 404);
});
