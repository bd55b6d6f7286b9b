// Tests of createServer: the HTTP API and a worker for one agent in one call.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { Agent, resolveAgent } from '../../agent/index.ts';
import type { FleetRun } from '../../core/index.ts';
import { scriptedProvider } from '../../testing/index.ts';
import { openTempFleetStore } from '../../../test/support/fleet-store.ts';
import { createServer, loadApiKeys, type CreateServerOptions } from '../index.ts';

const key = 'a-key-of-24-characters-1';

const provider = scriptedProvider(({ prompt }) => `You said: ${prompt}`);
const agent = new Agent({ model: provider });

async function startRun(url: string, body: object, bearer = key): Promise<{ status: number; run: FleetRun }> {
  const response = await fetch(`${url}/api/runs?wait=30`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, run: ((await response.json()) as { readonly run: FleetRun }).run };
}

test('a server with an Agent handles runs and OpenAI requests until it is closed', async (t) => {
  const store = await openTempFleetStore(t);
  const server = await createServer({ store, agent, keys: key, port: 0 });
  const { status, run } = await startRun(server.url, { prompt: 'hello' });
  assert.deepEqual([status, run.status, run.outcome?.text], [200, 'ended', 'You said: hello']);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const models = (await (await fetch(`${server.url}/v1/models`, { headers })).json()) as { data: { id: string }[] };
  assert.deepEqual(
    models.data.map(({ id }) => id),
    ['fairlead', provider.model],
  );
  await server.close();
  await assert.rejects(fetch(server.url));
  assert.deepEqual(await store.workers.list(), [], 'the worker is removed');
  await store.ping();
});

test('a run lowers the limits of an Agent and never raises them', async (t) => {
  const store = await openTempFleetStore(t);
  const limited = new Agent({ model: provider, maxTurns: 3 });
  await using server = await createServer({ store, agent: limited, keys: key, port: 0 });
  for (const [turns, expected] of [
    [2, 2],
    [50, 3],
  ] as const) {
    const { run } = await startRun(server.url, { prompt: 'hello', limits: { turns } });
    const log = await store.sessions.reader(run.session);
    const limits: unknown[] = [];
    for await (const events of log.read())
      for (const event of events) if (event.type === 'run-started') limits.push(event.limits.turns);
    await log.close();
    assert.deepEqual(limits, [expected]);
  }
});

test('an agent may be a function of the run; keys may be a list with roles, or loaded ones', async (t) => {
  const store = await openTempFleetStore(t);
  const dir = mkdtempSync(path.join(tmpdir(), 'fairlead-create-server-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const byRun: CreateServerOptions['agent'] = async (run) => ({
    parts: resolveAgent({ provider: scriptedProvider(() => `For ${run.tenant}.`), system: 'Help.' }),
    close: async () => {},
  });
  const listed = [
    { role: 'reader', key: 'a-key-of-a-reader' },
    { role: 'runner', key: 'a-key-of-a-runner', tenant: 'acme' },
  ] as const;
  {
    await using server = await createServer({ store, agent: byRun, keys: listed, port: 0 });
    assert.equal((await startRun(server.url, { prompt: 'x' }, 'a-key-of-a-reader')).status, 403);
    const { run } = await startRun(server.url, { prompt: 'x' }, 'a-key-of-a-runner');
    assert.equal(run.outcome?.text, 'For acme.');
  }
  const keys = loadApiKeys({ env: { HARNESS_API_KEY: key }, folder: dir });
  await using server = await createServer({ store, keys, port: 0 });
  const response = await fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(response.status, 200);
});
