// Tests of every route with every role: a role without permission gets an error that names the required key, and changes nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiFixture, type RequestRole } from '../../../test/support/api-server.ts';
import { roles } from './keys.ts';
import { apiRoutes } from './routes/index.ts';

const bodies: Readonly<Record<string, unknown>> = {
  '/api/runs': { prompt: 'hello' },
  '/api/orchestrate': { prompt: 'hello' },
  '/api/verify': { prompt: 'hello', answer: 'yes' },
  '/api/run': { prompt: 'hello' },
  '/api/enqueue': { runs: [{ prompt: 'hello' }] },
  '/api/control/stop': { reason: 'a test' },
  '/api/sessions/{id}/edit': { messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }] },
  '/api/sessions/{id}/steer': { text: 'more' },
  '/api/sessions/{id}/answer': { call: 'c', allowed: true },
  '/api/queue/limits': { concurrency: 3 },
  '/api/schedules/{name}': { cron: '0 9 * * 1', run: { prompt: 'weekly' } },
  '/api/kill-switch': { stopped: true, reason: 'a test' },
  '/api/releases/rollback': { reason: 'a test' },
  '/api/budgets/{tenant}': { period: 'day', usd: 5 },
  '/v1/chat/completions': { model: 'fairlead', messages: [{ role: 'user', content: 'hi' }], stream: true },
  '/v1/responses': { model: 'fairlead', input: 'hi', stream: true },
};

test('[A85] [A97] every route admits only the permitted roles: no key, a wrong key, a reader, a runner, an operator', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  const requestRoles: readonly RequestRole[] = ['nobody', 'wrong', ...roles];
  let tried = 0;
  for (const { method, path, role } of apiRoutes) {
    const address = path.replace('{id}', 'absent').replaceAll(/\{\w+\}/g, 'some');
    // Requests that would wait for a result are not sent here.
    const waits = path.startsWith('/v1/') && method === 'post';
    for (const as of requestRoles) {
      const may = role === 'public' || (as !== 'nobody' && as !== 'wrong' && roles.indexOf(as) >= roles.indexOf(role));
      if (may && waits) continue;
      const before = (await store.queue.list()).length;
      const body = method === 'put' || method === 'post' ? (bodies[path] ?? {}) : undefined;
      const reply = await request(`${method.toUpperCase()} ${address}`, {
        as,
        ...(body === undefined ? {} : { body }),
      });
      const told = `${method} ${address} as ${as}: ${reply.status}`;
      const refused = as === 'nobody' || as === 'wrong' ? 401 : 403;
      if (may) assert.ok(reply.status !== 401 && reply.status !== 403, told);
      else assert.equal(reply.status, refused, told);
      if (!may || method === 'get') assert.equal((await store.queue.list()).length, before, `${told} started a run`);
      tried++;
    }
  }
  t.diagnostic(`${apiRoutes.length} routes, ${tried} requests`);
  assert.ok(tried > 100);
});

test('[A97] an unknown API path is 401 without a key and 404 with one', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  assert.equal((await request('GET /api/nothing', { as: 'nobody' })).status, 401);
  assert.equal((await request('GET /v1/nothing', { as: 'nobody' })).status, 401);
  assert.match(JSON.stringify((await request('GET /api/runs', { as: 'nobody' })).body), /A key is required/);
  assert.match(JSON.stringify((await request('GET /api/runs', { as: 'wrong' })).body), /Invalid key/);
  assert.equal((await request('GET /api/nothing')).status, 404);
  const wrong = await request('DELETE /api/run');
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get('allow'), 'POST');
  assert.equal((await request('GET /nothing', { as: 'nobody' })).status, 404);
});

test('[A85] the page, the health checks and the OpenAPI document need no key, and every response has security headers', async (t) => {
  const { request } = await createApiFixture(t, { worker: false });
  for (const path of ['/', '/healthz', '/readyz', '/openapi.json']) {
    const { status, headers } = await request(`GET ${path}`, { as: 'nobody' });
    assert.equal(status, 200, path);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    for (const [name] of headers) assert.ok(!name.startsWith('access-control-'), `${path} has ${name}`);
  }
  const refused = await request('GET /api/me', { as: 'nobody' });
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
  assert.equal(refused.headers.get('x-content-type-options'), 'nosniff');
});
