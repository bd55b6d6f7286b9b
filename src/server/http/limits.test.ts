// Tests of server limits under load: the operator always reaches the kill switch, and memory use is bounded.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createApiFixture, eventually, roleKeys } from '../../../test/support/api-server.ts';

/** Opens a connection that sends the given text and reads nothing. */
async function connectWithoutReading(t: TestContext, port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write(text);
  return socket;
}

function createLargeStaticDir(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-big-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(path.join(folder, 'assets/app.js'), 'x'.repeat(8_000_000));
  return folder;
}

test('[A95] [A97] the kill switch is reachable while runners use every request slot', async (t) => {
  const { request } = await createApiFixture(t, { worker: false, bounds: { requests: 2 } });
  const gone = new AbortController();
  const wait = { body: { prompt: 'x' }, headers: { prefer: 'wait=60' }, as: 'runner', signal: gone.signal } as const;
  const held = [1, 2].map(() => request('POST /api/runs', wait).catch(() => undefined));
  await eventually('it is busy', async () => (await request('GET /api/queue')).status === 503);
  assert.equal((await request('POST /api/kill-switch', { body: { stopped: true, reason: 'a test' } })).status, 200);
  assert.equal((await request('GET /api/kill-switch')).status, 200);
  assert.equal((await request('POST /api/kill-switch', { as: 'runner', body: { stopped: false } })).status, 403);
  assert.equal((await request('POST /api/kill-switch', { body: { stopped: false } })).status, 200);
  gone.abort();
  await Promise.all(held);
});

test('[A97] clients without a key that request the page and do not read it block no client with a key, and are disconnected', async (t) => {
  const { request: ask, server } = await createApiFixture(t, {
    worker: false,
    page: createLargeStaticDir(t),
    bounds: { requests: 4, stallMs: 500 },
  });
  const request = `GET /assets/app.js HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
  const sockets = await Promise.all(
    Array.from({ length: 6 }, () => connectWithoutReading(t, server.port, request.repeat(4))),
  );
  await eventually(
    'strangers are refused',
    async () => (await ask('GET /assets/app.js', { as: 'nobody' })).status === 503,
  );
  assert.equal((await ask('GET /api/me')).status, 200);
  // Their unread responses are not kept in memory.
  await eventually('they were let go', async () => (await ask('GET /assets/app.js', { as: 'nobody' })).status === 200);
  for (const socket of sockets) socket.destroy();
});

test('[A97] the number of connections never exceeds the limit', async (t) => {
  const { server, request } = await createApiFixture(t, {
    worker: false,
    bounds: { connections: 20, headersMs: 300_000, requestMs: 300_000 },
  });
  let closed = 0;
  const all = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const socket = connect(server.port, '127.0.0.1')
        .on('error', () => {})
        .on('close', () => closed++);
      t.after(() => socket.destroy());
      await once(socket, 'connect');
      return socket.resume();
    }),
  );
  await eventually('those above were closed', async () => closed >= 40);
  for (const socket of all) socket.destroy();
  await eventually(
    'there is room again',
    async () => (await request('GET /healthz').catch(() => ({ status: 0 }))).status === 200,
  );
});

test('[A97] deeply nested JSON and thousands of unknown fields are refused with a short error, and no run is stored', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  for (const deep of [200, 3000, 100_000]) {
    const settings = `{"answer":{"x":${'['.repeat(deep)}${']'.repeat(deep)}}}`;
    const reply = await request('POST /api/runs', { body: `{"runs":[{"prompt":"x","settings":${settings}}]}` });
    assert.equal(reply.status, 400, String(deep));
  }
  const inWords = JSON.stringify({ prompt: `${'['.repeat(500)}"\\\\"${'{'.repeat(500)}` });
  assert.equal((await request('POST /api/runs', { body: inWords })).status, 202);
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${'k'.repeat(400)}${i}`, 1]));
  const echoed = await request('POST /api/runs', { body: { prompt: 'x', ...many } });
  assert.equal(echoed.status, 400);
  assert.ok(JSON.stringify(echoed.body).length < 2000, `${JSON.stringify(echoed.body).length} characters`);
  assert.equal((await store.queue.list()).length, 1);
});

test('[A95] if the store cannot be read, the fleet is not ready and stopped, and the response contains no details of the store', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  await store.close();
  assert.equal((await request('GET /readyz', { as: 'nobody' })).status, 503);
  assert.equal((await request('GET /healthz', { as: 'nobody' })).status, 200);
  for (const address of ['/api/me', '/api/kill-switch']) {
    const { status, body } = await request(`GET ${address}`, { as: 'reader' });
    assert.equal(status, 200, address);
    assert.equal((body as { readonly stopped: boolean }).stopped, true, address);
    assert.doesNotMatch(JSON.stringify(body), /\.ts|\/tmp|node:|database|closed/i, address);
  }
  const chat = { model: 'fairlead', messages: [{ role: 'user', content: 'hi' }] };
  const refused = await request('POST /v1/chat/completions', { body: chat, as: 'runner' });
  assert.equal(refused.status, 503);
  assert.ok(!JSON.stringify(refused.body).includes(roleKeys.runner));
});
