// Tests of the provider registry: resolving names, error messages and lazy loading.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  FairleadError,
  createPersistentList,
  type Chunk,
  type Message,
  type Provider,
  type ModelRequest,
} from '../core/index.ts';
import { closedUrl, says, scriptedServer } from '../testing/index.ts';
import { families } from './families.ts';
import { gateway } from './gateway/gateway.ts';
import { lookUpKnownModel } from './models/known-models.ts';
import { openProvider } from './registry.ts';
import { parseModelRef, resolveModel, type ModelRef } from './resolve.ts';

const request: ModelRequest = {
  system: 'Be brief.',
  tools: [],
  messages: createPersistentList<Message>([{ role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }]),
  toolChoice: 'auto',
  settings: {},
};

async function ask(provider: Provider): Promise<Chunk & { type: 'end' }> {
  for await (const chunk of provider.stream(request, new AbortController().signal))
    if (chunk.type === 'end') return chunk;
  return assert.fail('no end');
}

async function openError(ref: ModelRef, env = {}): Promise<FairleadError> {
  return openProvider(ref, { env }).then(
    () => assert.fail('it was opened'),
    (error: unknown) => (error instanceof FairleadError ? error : assert.fail(String(error))),
  );
}

const allApiKeys = Object.fromEntries(families.flatMap(({ keyVariables }) => keyVariables.map((name) => [name, 'k'])));

test('[A3, P9] every provider with a server works by its name, through one interface', async (t) => {
  const server = await scriptedServer(() => says('Hello.'), {
    validate: true,
    models: [{ id: 'm', context: 8192, tools: true }],
  });
  t.after(() => server.close());
  const paths: { readonly [dialect: string]: string } = { google: '/v1beta', ollama: '' };
  for (const { name, protocol } of families.filter((family) => family.protocol !== 'embedded')) {
    const baseUrl = `${server.url}${paths[protocol] ?? '/v1'}`;
    const provider = await openProvider({ provider: name, model: 'm', baseUrl }, { env: allApiKeys });
    const { message } = await ask(provider);
    assert.deepEqual(
      message.parts.map((part) => (part.type === 'text' ? part.text : part.type)),
      ['Hello.'],
      name,
    );
  }
  assert.deepEqual(
    new Set(server.requests.flatMap(({ format }) => format ?? [])),
    new Set(['anthropic', 'chat', 'google', 'ollama']),
  );
});

test('[A7] the gateway asks the live models by the names that users write, and knows their price and capabilities', async (t) => {
  const live = {
    'anthropic/claude-opus-4.8': { path: '/v1', id: 'claude-opus-4-8', usd: 0.00003 },
    'google/gemini-3.1-pro-preview': { path: '/v1beta', id: 'gemini-3.1-pro-preview', usd: 0.000014 },
    'openai/gpt-5.5': { path: '/v1', id: 'gpt-5.5', usd: 0.000035 },
  };
  const server = await scriptedServer(() => says('Hello.', { usage: { input: 1, output: 1 } }), { validate: true });
  t.after(() => server.close());
  const documented = readFileSync(path.resolve(import.meta.dirname, '../../docs/providers.md'), 'utf8');
  for (const [name, { path: root, id, usd }] of Object.entries(live)) {
    server.clearRequests();
    const model = parseModelRef(name);
    const opened = await openProvider({ ...model, baseUrl: `${server.url}${root}` }, { env: allApiKeys });
    const { message, ...end } = await ask(gateway(opened));
    assert.deepEqual(
      message.parts.map((part) => part.type),
      ['text'],
      name,
    );
    const [sent] = server.requests;
    assert.ok(`${sent?.path} ${sent?.raw.toString()}`.includes(id), name);
    assert.equal(end.usd?.toFixed(9), usd.toFixed(9), name);
    assert.deepEqual([lookUpKnownModel(id).tools, lookUpKnownModel(id).images], [true, true], name);
    assert.ok(documented.includes(`\`${name}\``), `docs/providers.md names ${name}`);
  }
});

test('[A4] a model uses its preferred API, unless configured otherwise', async (t) => {
  const api = (ref: ModelRef): string => resolveModel(ref, allApiKeys).api;
  assert.equal(api('openai/gpt-5.5'), 'responses');
  assert.equal(api('openai/o3'), 'responses');
  assert.equal(api('openai/gpt-4o'), 'chat');
  assert.equal(api('groq/gpt-5-like'), 'chat');
  assert.equal(api({ provider: 'openai', model: 'gpt-5.5', api: 'chat' }), 'chat');
  assert.equal(resolveModel('openai/gpt-5', { ...allApiKeys, OPENAI_BASE_URL: 'http://localhost:1/v1' }).api, 'chat');

  const server = await scriptedServer(() => says('Hello.'));
  t.after(() => server.close());
  const given = { provider: 'openai', model: 'gpt-4o', baseUrl: `${server.url}/v1` } as const;
  await ask(await openProvider({ ...given, api: 'responses' }, { env: allApiKeys }));
  await ask(await openProvider({ ...given, api: 'chat' }, { env: allApiKeys }));
  assert.deepEqual(
    server.requests.map((each) => each.format),
    ['responses', 'chat'],
  );
});

test('[P9] aliases of providers are resolved, in upper and lower case', () => {
  const name = (ref: string): string => resolveModel(ref, allApiKeys).family.name;
  assert.equal(name('claude/claude-sonnet-4'), 'anthropic');
  assert.equal(name('Gemini/gemini-2.5-flash'), 'google');
  assert.equal(name('huggingface/meta-llama/Llama-3-70b'), 'huggingface');
  assert.equal(resolveModel('huggingface/meta-llama/Llama-3-70b', allApiKeys).model, 'meta-llama/Llama-3-70b');
});

test('[A8] the default URL of an OpenAI-compatible server is http://localhost:5000', () => {
  const at = (baseUrl?: string): string =>
    resolveModel({ provider: 'openai-compatible', model: 'm', ...(baseUrl ? { baseUrl } : {}) }, {}).baseUrl;
  assert.equal(at(), 'http://localhost:5000/v1');
  assert.equal(at('https://models.example'), 'https://models.example/v1');
  assert.equal(at('https://models.example/openai/v2/'), 'https://models.example/openai/v2');
});

test('URLs come from the reference, then from the environment, in all common forms', () => {
  const at = (env: Record<string, string>): string => resolveModel('ollama/m', env).baseUrl;
  assert.equal(at({}), 'http://localhost:11434');
  assert.equal(at({ OLLAMA_HOST: '0.0.0.0' }), 'http://127.0.0.1:11434');
  assert.equal(at({ OLLAMA_HOST: 'box:9999' }), 'http://box:9999');
  assert.equal(at({ OLLAMA_API_URL: 'http://box:1/v1', OLLAMA_HOST: 'other' }), 'http://box:1');
  assert.equal(resolveModel('lm-studio/m', { LM_STUDIO_BASE_URL: 'http://box:1234' }).baseUrl, 'http://box:1234/v1');
});

test('[P9] keys come from the environment; the first variable that is set counts', () => {
  const key = (ref: string, env: Record<string, string>): string | undefined => resolveModel(ref, env).apiKey;
  assert.equal(key('google/m', { GOOGLE_API_KEY: 'b', GOOGLE_GENERATIVE_AI_API_KEY: 'c' }), 'b');
  assert.equal(key('google/m', { GEMINI_API_KEY: 'a', GOOGLE_API_KEY: 'b' }), 'a');
  assert.equal(key('huggingface/m', { HF_TOKEN: ' t ' }), 't');
  assert.equal(key('vllm/m', {}), undefined);
});

test('an unknown provider is an error with suggestions', async () => {
  const typo = await openError('antropic/claude-sonnet-4');
  assert.deepEqual([typo.code, typo.message], ['provider/unknown', 'There is no provider named "antropic".']);
  assert.match(typo.hint ?? '', /^Did you mean anthropic\? Known are anthropic, openai, /);
  assert.match((await openError('claude-sonnet-4-5')).hint ?? '', /Did you mean claude|"anthropic\/claude-sonnet-4-5"/);
  assert.match((await openError('meta-llama/Llama-3-70b')).hint ?? '', /"huggingface\/meta-llama\/Llama-3-70b"/);
  assert.match((await openError('xyzzy/m')).hint ?? '', /^Did you mean "huggingface|^Known are/);
});

test('a missing key or model is an error before any request, and names the variable', async () => {
  const key = await openError('anthropic/claude-sonnet-4');
  assert.deepEqual(
    [key.code, key.blame, key.message],
    ['provider/no-key', 'user', 'anthropic needs a key, and ANTHROPIC_API_KEY is not set.'],
  );
  assert.match(key.hint ?? '', /^Set ANTHROPIC_API_KEY/);
  const model = await openError('ollama');
  assert.deepEqual([model.code, model.hint], ['provider/no-model', 'Name one, such as "ollama/qwen3:8b".']);
  assert.equal((await openError({ provider: 'vllm', model: 'm', baseUrl: 'ftp://x' })).code, 'provider/bad-address');
  assert.equal((await openError('ollama/m', { OLLAMA_HOST: 'http://' })).code, 'provider/bad-address');
});

test('an unreachable server is a specific error at the first request', async () => {
  const provider = await openProvider(
    { provider: 'vllm', model: 'm', baseUrl: `${await closedUrl()}/v1` },
    { env: {} },
  );
  await assert.rejects(ask(provider), { code: 'provider/unreachable', retry: false });
});

test('the context window is the configured one, else the known one of the model, else unknown', async () => {
  const window = async (ref: ModelRef): Promise<number | undefined> =>
    (await openProvider(ref, { env: allApiKeys })).contextWindow;
  assert.equal(await window({ provider: 'vllm', model: 'm', contextWindow: 9000 }), 9000);
  assert.equal(await window('anthropic/claude-sonnet-4-5'), 200_000);
  assert.equal(await window('openrouter/openai/gpt-4o'), 128_000);
  assert.equal(await window('groq/who-knows'), undefined);
  assert.equal(await window('vllm/gpt-oss'), undefined, 'a local server sets its own context window');
});

test('custom providers are resolved by name, before the built-in ones', async () => {
  const own: Provider = { family: 'scripted', model: 'm', stream: () => assert.fail() };
  const providers = { scripted: () => own, openai: () => own };
  assert.equal(await openProvider('scripted/x', { providers }), own);
  assert.equal(await openProvider('openai/gpt-5', { providers, env: {} }), own);
  assert.match((await openError('scripted/x')).hint ?? '', /^It is for tests: take it from fairlead\/testing/);
  await assert.rejects(openProvider('scriptd/x', { providers, env: {} }), (error) => {
    assert.match((error as FairleadError).hint ?? '', /Did you mean scripted\?/);
    return true;
  });
});

test('docs/providers.md has a row for every provider, with its URL and its keys', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/providers.md'), 'utf8');
  for (const { name, baseUrl, keyVariables, local } of families) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    for (const words of [baseUrl, ...(local ? [] : keyVariables)]) assert.ok(row.includes(words), `${name}: ${words}`);
  }
});

test('importing the registry loads no provider family, gateway or SDK; opening a provider loads its own', () => {
  const spy = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`;
  const loaded = (code: string): readonly string[] => {
    const args = ['--import', `data:text/javascript,${encodeURIComponent(spy)}`, '--input-type=module', '--eval', code];
    const script = `${process.execPath} "$@" 2>&1 >/dev/null`;
    const out = execFileSync('/bin/sh', ['-c', script, 'sh', ...args], { encoding: 'utf8' });
    return out.split('\n').filter((line) => line.startsWith('file:'));
  };
  const registry = JSON.stringify(`file://${path.join(import.meta.dirname, 'registry.ts')}`);
  const heavy = /@ai-sdk|\/(chat|anthropic|google|responses|ollama|embedded|gateway)[\w-]*\.ts$/;
  const imported = loaded(`await import(${registry})`);
  assert.ok(imported.some((url) => url.endsWith('/registry.ts')));
  assert.deepEqual(
    imported.filter((url) => heavy.test(url)),
    [],
  );
  const chosen = loaded(`await (await import(${registry})).openProvider('vllm/m', { env: {} })`);
  assert.ok(chosen.some((url) => url.endsWith('/chat.ts')));
  assert.deepEqual(
    chosen.filter((url) => /@ai-sdk|anthropic|ollama\.ts/.test(url)),
    [],
  );
});
