// Tests of the embedding models of providers: both wire formats, the order of vectors, retries, and errors without keys.
import assert from 'node:assert/strict';
import test from 'node:test';
import { conceptVector, startEmbeddingServer } from '../../test/support/embedding-server.ts';
import { FairleadError } from '../core/index.ts';
import { openEmbeddingModel } from './index.ts';

const { signal } = new AbortController();
const texts = ['the car', 'a physician', ''];

test('Ollama and OpenAI-like servers give a vector for each text in order, with the key in a header', async (t) => {
  const server = await startEmbeddingServer(t);
  const ollama = await openEmbeddingModel('ollama/nomic-embed-text', { env: { OLLAMA_HOST: server.url } });
  assert.equal(ollama.name, 'ollama/nomic-embed-text');
  assert.deepEqual(await ollama.embed(texts, signal), texts.map(conceptVector));
  const openai = await openEmbeddingModel('openai/text-embedding-3-small', {
    env: { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test-123456789' },
  });
  assert.deepEqual(await openai.embed(texts, signal), texts.map(conceptVector));
  assert.deepEqual(
    server.requests.map(({ path, authorization }) => [path, authorization]),
    [
      ['/api/embed', undefined],
      ['/v1/embeddings', 'Bearer sk-test-123456789'],
    ],
  );
});

test('a busy server is asked again; a wrong key, a malformed reply and a provider without embeddings are errors without the key', async (t) => {
  const server = await startEmbeddingServer(t);
  const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-test-123456789' };
  const model = await openEmbeddingModel('openai/text-embedding-3-small', { env });
  server.failures.push({ status: 503, body: { error: { message: 'busy' } } });
  assert.equal((await model.embed(['x'], signal)).length, 1);
  assert.equal(server.requests.length, 2);
  const failsWith = (pattern: RegExp) => (error: unknown) =>
    error instanceof FairleadError && pattern.test(error.message) && !/sk-test/.test(`${error.message} ${error.hint}`);
  server.failures.push({ status: 401, body: { error: { message: 'bad key sk-test-123456789' } } });
  await assert.rejects(model.embed(['x'], signal), failsWith(/401/));
  for (const body of [
    {},
    { data: [] },
    { data: [{ index: 0, embedding: [] }] },
    { data: [{ index: 5, embedding: [1] }] },
    { embeddings: [['a']] },
    { embeddings: [[1, null]] },
    [1],
  ]) {
    server.failures.push({ status: 200, body });
    await assert.rejects(model.embed(['x'], signal), failsWith(/vector/), JSON.stringify(body));
  }
  await assert.rejects(
    openEmbeddingModel('anthropic/x', { env: { ANTHROPIC_API_KEY: 'k' } }),
    failsWith(/no embedding models/),
  );
  await assert.rejects(openEmbeddingModel('openai/x', { env: {} }), failsWith(/needs a key/));
});
