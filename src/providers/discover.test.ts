// Tests of provider discovery on this machine, with servers on free ports.
import assert from 'node:assert/strict';
import test from 'node:test';
import { closedUrl, scriptedServer, type ListingStyle } from '../testing/index.ts';
import { discover } from './discover.ts';

async function servePort(t: test.TestContext, style: ListingStyle): Promise<number> {
  const server = await scriptedServer([], { listingStyle: style });
  t.after(() => server.close());
  return server.port;
}

const closedPort = async (): Promise<number> => Number(new URL(await closedUrl()).port);

test('keys are listed first, then servers by their detected type, and the embedded model last', async (t) => {
  const shared = await servePort(t, 'vllm');
  const found = await discover({
    env: { OPENAI_API_KEY: 'o', GOOGLE_API_KEY: 'g', ANTHROPIC_API_KEY: ' ', HTTP_PROXY: await closedUrl() },
    timeoutMs: 5000,
    ports: {
      ollama: [await closedPort()],
      'lm-studio': [await servePort(t, 'lm-studio')],
      lemonade: [shared, await servePort(t, 'lemonade')],
      'llama.cpp': [await servePort(t, 'llama.cpp')],
      vllm: [shared],
      'openai-compatible': [await servePort(t, 'openai')],
    },
  });
  assert.deepEqual(
    found.map(({ provider, how }) => `${provider} ${how}`),
    [
      'openai key',
      'google key',
      'lm-studio server',
      'lemonade server',
      'llama.cpp server',
      'vllm server',
      'openai-compatible server',
      'embedded embedded',
    ],
  );
  assert.deepEqual(found[1], { provider: 'google', how: 'key', variable: 'GOOGLE_API_KEY' });
  const vllm = found.find(({ provider }) => provider === 'vllm');
  assert.deepEqual(vllm, { provider: 'vllm', how: 'server', baseUrl: `http://localhost:${shared}/v1` });
});

test('without keys and servers only the embedded model is listed', async () => {
  const ports = { ollama: [await closedPort()], 'lm-studio': [await closedPort()] };
  assert.deepEqual(await discover({ env: {}, ports }), [{ provider: 'embedded', how: 'embedded' }]);
});

test('a configured URL replaces the default one; a remote URL is listed without a request', async (t) => {
  const server = await scriptedServer([]);
  t.after(() => server.close());
  const ports = { ollama: [1], 'llama.cpp': [1] };
  const env = { OLLAMA_HOST: `127.0.0.1:${server.port}`, LLAMA_CPP_BASE_URL: 'http://192.0.2.1:8080' };
  assert.deepEqual(await discover({ env, ports, timeoutMs: 5000 }), [
    { provider: 'ollama', how: 'server', baseUrl: server.url },
    { provider: 'llama.cpp', how: 'address', baseUrl: 'http://192.0.2.1:8080/v1', variable: 'LLAMA_CPP_BASE_URL' },
    { provider: 'embedded', how: 'embedded' },
  ]);
});
