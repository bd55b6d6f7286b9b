// Streams of verified runs: a client that streams ends with the verified text, and gets no text before.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { isObject, type JsonObject } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { respondAsModel } from './support/scripted-judges.ts';

const models = ['qwen3', 'llama3.2', 'mistral-small'].map((id) => ({ id, tools: true, context: 32_768 }));

const readSystem = (body: JsonObject): string => {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const system = messages.find((message) => isObject(message) && message['role'] === 'system');
  return isObject(system) ? String(system['content']) : '';
};

const question = 'At how many bar does the pump of the house run?';
const answer = 'The pump of the house runs at 40 bar. The filter is changed in June.';

async function createReader(t: TestContext): Promise<TestProgram> {
  const program = await createProgram(
    t,
    ({ model, prompt, results, body }) => {
      if (model !== 'qwen3') return respondAsModel({ answers: true }, readSystem(body), prompt);
      return results.length === 0 ? calls('read_file', { path: 'notes.md' }) : says(answer);
    },
    { models },
  );
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'notes.md'), '# Notes\n\nThe pump of the house runs at 40 bar.\n');
  return program;
}

/** The text of a chat completion that was streamed. */
const readDeltas = (stream: string): string =>
  stream
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as JsonObject] : []))
    .flatMap(({ choices }) => (Array.isArray(choices) ? choices : []))
    .map((choice) => (isObject(choice) && isObject(choice['delta']) ? String(choice['delta']['content'] ?? '') : ''))
    .join('');

test('[A34] [A36] [A90] a streamed OpenAI completion of a verified run has the verified text alone', async (t) => {
  const program = await createReader(t);
  const key = 'a-key-that-operates-all';
  const served = program.start(['serve', '--port', '0'], { env: { HARNESS_API_KEY: key } });
  t.after(() => served.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(served.err()), 30_000);
  const url = /Listening at (\S+)/.exec(served.err())?.[1] ?? '';
  const ask = async (): Promise<string> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'qwen3', stream: true, messages: [{ role: 'user', content: question }] }),
    });
    return response.text();
  };
  assert.equal(readDeltas(await ask()), answer);
  assert.equal((await program.run(['config', 'set', 'verify.answers', 'true'])).code, 0);
  const stream = await ask();
  assert.equal(readDeltas(stream), 'The pump of the house runs at 40 bar. [1] ~~The filter is changed in June.~~');
  assert.match(stream, /data: \[DONE\]/);
});

test('[A36] --output-format stream-json marks the streamed text of a verified run as a draft, and ends with the verified text', async (t) => {
  const program = await createReader(t);
  const run = async (...more: readonly string[]): Promise<readonly JsonObject[]> =>
    (await program.run(['-p', question, '--output-format', 'stream-json', ...more])).out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JsonObject]));
  const lines = await run('--verify');
  const deltas = lines.filter(({ type }) => type === 'content_block_delta');
  assert.ok(deltas.length > 0 && deltas.every(({ draft }) => draft === true));
  assert.match(String(lines.at(-1)?.['result']), /40 bar\. \[1\] ~~The filter is changed in June\.~~$/);
  assert.ok((await run()).every(({ draft }) => draft === undefined));
});
