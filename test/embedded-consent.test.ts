// Tests that only the user of a machine or the operator of a server can have a model downloaded: not a client, a queued run or a model.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { calls, says } from '../src/testing/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { installFakeRuntime } from './support/fake-runtime.ts';
import { createGguf, jinja, serveHub, type HubServer } from './support/hub-server.ts';

const address = 'hf:maker/Tiny-GGUF:Q8_0';
const key = Buffer.from('the runner key of this test').toString('base64url');
const refusal = /The model hf:maker\/Tiny-GGUF:Q8_0 is not on this machine and was not downloaded\./;

type Served = {
  readonly program: TestProgram;
  readonly hub: HubServer;
  readonly env: Readonly<Record<string, string>>;
  readonly post: (path: string, body: object) => Promise<string>;
  /** Starts a run and waits for its end; returns it as JSON. */
  readonly finish: (body: object, path?: string) => Promise<string>;
};

async function startServer(t: TestContext, args: readonly string[] = []): Promise<Served> {
  const program = await createProgram(t, ({ prompt, results }) => {
    if (!prompt.startsWith('spawn') || results.length > 1) return says(`Results: ${results.join()}`);
    return results.length === 0
      ? calls('load_tools', { names: ['spawn_agent'] })
      : calls('spawn_agent', { task: 'SAY:hi', model: address });
  });
  installFakeRuntime(program.data());
  await program.seedModels('qwen3');
  const files = { 'Tiny-1B-Q8_0.gguf': createGguf(jinja.tools) };
  const hub = await serveHub(t, { 'maker/Tiny-GGUF': { files, chatTemplate: jinja.tools } });
  const env = { HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_operator' };
  const keys = { HARNESS_API_KEY: `operator-${key}`, HARNESS_API_KEYS: `runner:${key}` };
  const server = program.start(['serve', '--port', '0', ...args], { env: { ...env, ...keys } });
  t.after(() => server.kill('SIGKILL'));
  await waitUntil('it listens', () => /Listening at \S+\n/.test(server.err()), 30_000);
  const url = /Listening at (\S+)/.exec(server.err())?.[1] ?? '';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post: Served['post'] = async (path, body) =>
    (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).text();
  return {
    program,
    hub,
    env,
    post,
    async finish(body, path = '/api/runs') {
      const { run } = JSON.parse(await post(path, body)) as { readonly run: { readonly id: string } };
      let text = '';
      const read = async (): Promise<boolean> => {
        text = await (await fetch(`${url}/api/runs/${run.id}`, { headers })).text();
        return /"status":"(ended|failed|dead)"/.test(text);
      };
      for (const end = Date.now() + 25_000; !(await read()); await pause(200))
        if (Date.now() > end) throw new Error(`${text}\n${server.err()}`);
      return text;
    },
  };
}

test('a client, a judge and a sub-agent that name a model of the hub get one sentence: nothing is requested with the token of the operator', async (t) => {
  const { program, hub, env, post, finish } = await startServer(t);
  assert.match(await finish({ prompt: 'SAY:hi', model: address }), refusal);
  assert.match(await finish({ prompt: 'SAY:hi', model: 'embedded' }), /is not on this machine and was not downloaded/);
  const messages = [{ role: 'user', content: 'SAY:hi' }];
  assert.match(await post('/v1/chat/completions', { model: address, messages }), refusal);
  const agent = await program.run(['--one-shot', '--auto-approve', 'spawn one'], { env });
  assert.match(agent.out, refusal, agent.err);
  await finish({ prompt: 'SAY:hi', answer: 'hi', models: [address] }, '/api/verify');
  assert.deepEqual(hub.requests, []);
  assert.ok(!existsSync(program.data('models')));

  const own = await program.run(['--model', address, 'SAY:mine'], { env });
  assert.equal(own.out, 'mine\n', own.err);
  hub.requests.length = 0;
  assert.match(await finish({ prompt: 'SAY:from disk', model: address }), /"text":"from disk"/);
  assert.deepEqual(hub.requests, []);
});

test('the model of the operator is downloaded for the first run, also if the client repeats its name', async (t) => {
  const { hub, finish } = await startServer(t, ['--model', address]);
  assert.match(await finish({ prompt: 'SAY:hello', model: address }), /"text":"hello"/);
  assert.ok(hub.requests.some(({ host }) => host === 'storage'));
});
