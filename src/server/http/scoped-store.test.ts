// Tests of the view of a store that a client gets: names of tenants, sessions that belong to a tenant, and settings of the whole fleet.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetRun, FleetStore } from '../../core/index.ts';
import { createApiFixture, type ApiFixture } from '../../../test/support/api-server.ts';
import type { ScopedStore } from './scoped-store.ts';

const keys = { acme: 'a-key-of-the-tenant-acme', bolt: 'a-key-of-the-tenant-bolt' } as const;
const extraKeys = `operator@acme:${keys.acme},operator@bolt:${keys.bolt}`;

type Reply = {
  readonly status: number;
  readonly body: { readonly run?: FleetRun; readonly error?: { readonly message: string } };
};

async function sendAs(
  { url }: ApiFixture,
  tenant: keyof typeof keys,
  request: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const [method = 'GET', address = '/'] = request.split(' ');
  const answer = await fetch(url + address, {
    method,
    headers: { authorization: `Bearer ${keys[tenant]}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Reply['body'] };
}

test('two tenants can choose the same names, and each finds its own things by them', async (t) => {
  const api = await createApiFixture(t, { extraKeys, worker: false });
  for (const tenant of ['acme', 'bolt'] as const) {
    const headers = { 'idempotency-key': 'nightly' };
    const body = { prompt: `of ${tenant}`, session: 'daily' };
    const { run } = (await sendAs(api, tenant, 'POST /api/runs', body, headers)).body;
    assert.deepEqual([run?.id, run?.session, run?.tenant], [`${tenant}:nightly`, `${tenant}:daily`, tenant]);
    const again = (await sendAs(api, tenant, 'POST /api/runs', body, headers)).body;
    assert.equal(again.run?.id, run?.id, 'the same key returns the same run');
    for (const id of ['nightly', `${tenant}:nightly`])
      assert.equal((await sendAs(api, tenant, `GET /api/runs/${id}`)).body.run?.prompt, `of ${tenant}`);
    const schedule = { cron: '0 3 * * *', run: { prompt: `of ${tenant}` } };
    assert.equal((await sendAs(api, tenant, 'PUT /api/schedules/s', schedule)).status, 200);
  }
  assert.equal((await api.store.queue.list()).length, 2);
  assert.equal((await sendAs(api, 'acme', 'DELETE /api/schedules/s')).status, 200);
  assert.equal((await sendAs(api, 'acme', 'DELETE /api/schedules/s')).status, 404);
  assert.deepEqual(
    (await api.store.queue.schedules()).map(({ name }) => name),
    ['bolt:s'],
  );
  const long = await sendAs(api, 'acme', 'POST /api/runs', { prompt: 'x', session: 'x'.repeat(200) });
  assert.equal(long.status, 400);
  assert.match(long.body.error?.message ?? '', /too long/);
});

test('a run in a session has the tenant of the session, for every key and every way to queue it', async (t) => {
  const api = await createApiFixture(t, { extraKeys });
  const first = (await sendAs(api, 'acme', 'POST /api/runs', { prompt: 'one' })).body.run as FleetRun;
  await api.waitForStatus(first.id, 'ended');
  assert.equal((await api.store.sessions.find(first.session))?.tenant, 'acme');
  const continued = await api.request('POST /api/runs', { body: { prompt: 'two', session: first.session } });
  const second = (continued.body as { readonly run: FleetRun }).run;
  assert.equal(second.tenant, 'acme', 'a key without a tenant continues it for its tenant');
  await api.waitForStatus(second.id, 'ended');
  const other = { prompt: 'three', session: first.session, tenant: 'bolt' };
  assert.equal((await api.request('POST /api/runs', { body: other })).status, 409);
  const before = (await api.store.sessions.find(first.session))?.events;
  await api.store.queue.enqueue([{ id: 'stray', prompt: 'four', session: first.session, tenant: 'bolt' }]);
  const { outcome } = await api.waitForStatus('stray', 'ended');
  assert.equal(outcome?.error?.code, 'store/other-tenant');
  assert.equal((await api.store.sessions.find(first.session))?.events, before, 'nothing was written');
  const fork = await api.request(`POST /api/sessions/${first.session}/fork`, { body: {} });
  const { session } = fork.body as { readonly session: string };
  assert.equal(
    (await api.store.sessions.find(session))?.tenant,
    'acme',
    'a fork belongs to the tenant of its original',
  );
  assert.equal((await sendAs(api, 'acme', `GET /api/sessions/${session}`)).status, 200);
  assert.equal((await sendAs(api, 'bolt', `GET /api/sessions/${session}`)).status, 404);
});

test('an operator of a tenant may start runs with auto, and cannot change what concerns all tenants', async (t) => {
  const api = await createApiFixture(t, { extraKeys, worker: false });
  assert.equal((await sendAs(api, 'acme', 'POST /api/runs', { prompt: 'x', auto: true })).status, 202);
  assert.equal((await sendAs(api, 'acme', 'POST /api/runs', { prompt: 'x', tenant: 'bolt' })).status, 403);
  for (const [request, body] of [
    ['POST /api/kill-switch', { stopped: true, reason: 'x' }],
    ['PUT /api/queue/limits', { concurrency: 1 }],
    ['PUT /api/budgets/acme', { period: 'day', usd: 1_000_000 }],
  ] as const) {
    const { status, body: answer } = await sendAs(api, 'acme', request, body);
    assert.equal(status, 403, request);
    assert.match(answer.error?.message ?? '', /needs a key without a tenant/);
  }
});

test('a store of all tenants is not a view', () => {
  const take = (_: ScopedStore): boolean => true;
  // @ts-expect-error a handler must not be able to pass the whole store
  assert.ok(take({} as FleetStore));
});
