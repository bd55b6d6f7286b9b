// Tests of provider discovery on this machine, with servers on free ports.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { closedUrl, scriptedServer, type ListingStyle } from '../testing/index.ts';
import { discover, listProbedAddresses } from './discover.ts';

async function servePort(t: test.TestContext, style: ListingStyle): Promise<number> {
  const server = await scriptedServer([], { listingStyle: style });
  t.after(() => server.close());
  return server.port;
}

const closedPort = async (): Promise<number> => Number(new URL(await closedUrl()).port);

test('[A8] servers are listed first by their detected type, then keys, and the embedded model last; the proxy at port 5000 is probed', async (t) => {
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
      'lm-studio server',
      'lemonade server',
      'llama.cpp server',
      'vllm server',
      'openai-compatible server',
      'openai key',
      'google key',
      'embedded embedded',
    ],
  );
  assert.deepEqual(found.at(-2), { provider: 'google', how: 'key', variable: 'GOOGLE_API_KEY' });
  assert.ok(listProbedAddresses({}).includes('http://localhost:5000/v1'));
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

/** A server that answers after a delay, as a busy Ollama does. */
async function serveSlowly(t: test.TestContext, ms: number): Promise<number> {
  // The timer of a server that never answers must not keep the process of the tests alive.
  const server = createServer((_, reply) => void setTimeout(() => reply.end('{"version":"1"}'), ms).unref());
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('a server that takes half a second or two seconds is found, one that answers early is reported early, one that never answers is not waited for beyond the limit', async (t) => {
  const [half, two, never] = await Promise.all([serveSlowly(t, 500), serveSlowly(t, 2000), serveSlowly(t, 60_000)]);
  const reported: number[] = [];
  const found = await discover({
    env: {},
    ports: { ollama: [never, two, half] },
    onFound: (each) => void reported.push('baseUrl' in each ? Number(new URL(each.baseUrl).port) : 0),
  });
  assert.deepEqual(reported, [half, two]);
  assert.deepEqual(
    found.map((each) => ('baseUrl' in each ? Number(new URL(each.baseUrl).port) : each.how)),
    [two, half, 'embedded'],
  );
});

test('an aborted search lists what has answered', async (t) => {
  const [slow, stop] = [await serveSlowly(t, 60_000), new AbortController()];
  const searching = discover({ env: { OPENAI_API_KEY: 'k' }, ports: { ollama: [slow] }, signal: stop.signal });
  stop.abort();
  assert.deepEqual(
    (await searching).map(({ how }) => how),
    ['key', 'embedded'],
  );
});
