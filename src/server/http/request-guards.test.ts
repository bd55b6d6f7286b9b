// Tests of request guards: host and origin checks, body limits, slow clients, rate limits and path traversal.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createApiFixture, eventually, roleKeys } from '../../../test/support/api-server.ts';
import { startApiServer } from './server.ts';
import {
  assertAllowedHost,
  assertAllowedOrigin,
  createRateLimiter,
  type GuardedRequest,
  parseBearerKey,
} from './request-guards.ts';
import { loadApiKeys } from './keys.ts';

type RawResponse = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string };

/** Sends a request with arbitrary headers, which `fetch` would not send. */
function sendRaw(
  url: string,
  method: string,
  address: string,
  headers: Record<string, string>,
  body = '',
): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, method, path: address, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    asked.on('error', reject).end(body);
  });
}

const authorization = `Bearer ${roleKeys.operator}`;

test('[A97] requests from other origins and with rebound host names are refused, with a key or without', async (t) => {
  const { url } = await createApiFixture(t, { worker: false });
  const host = new URL(url).host;
  const { port } = new URL(url);
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: `http://localhost:${port}`, host },
    { origin: 'file://' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    { host: 'evil.example' },
    { host: `evil.example:${port}` },
    { host: '127.0.0.1.evil.example' },
    { host: 'localhost.evil.example' },
    { host: `evil.example#@127.0.0.1:${port}` },
    { host: '0.0.0.0' },
    { host: '192.168.1.77' },
  ];
  for (const headers of foreign) {
    const { status, headers: got } = await sendRaw(url, 'GET', '/api/me', { authorization, ...headers });
    assert.ok(status === 403 || status === 400, `${JSON.stringify(headers)}: ${status}`);
    assert.equal(got['access-control-allow-origin'], undefined);
  }
  for (const headers of [
    {},
    { origin: `http://${host}` },
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
    { host: `[::1]:${port}` },
  ])
    assert.equal(
      (await sendRaw(url, 'GET', '/api/me', { authorization, ...headers })).status,
      200,
      JSON.stringify(headers),
    );
  const preflight = await sendRaw(url, 'OPTIONS', '/api/runs', {
    origin: 'https://evil.example',
    'access-control-request-method': 'POST',
  });
  assert.equal(preflight.status, 403);
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  assert.equal((await sendRaw(url, 'GET', '/', link)).status, 200, 'a link from another site to the page');
});

test('[A97] the address of the connection is an allowed host of the server, and so are configured ones', () => {
  const arrival = (host: string, localAddress: string): GuardedRequest => ({
    method: 'GET',
    path: '/',
    header: (name) => (name === 'host' ? host : undefined),
    localAddress,
  });
  assertAllowedHost(arrival('10.0.0.5:8080', '::ffff:10.0.0.5'), ['0.0.0.0']);
  assertAllowedHost(arrival('Fleet.Example:8080', '10.0.0.5'), ['fleet.example']);
  assert.throws(() => assertAllowedHost(arrival('10.0.0.6:8080', '10.0.0.5'), ['0.0.0.0']), /Host header not allowed/);
  assert.throws(
    () => assertAllowedHost(arrival('fleet.example.evil', '10.0.0.5'), ['fleet.example']),
    /Host header not allowed/,
  );
  assert.throws(
    () => assertAllowedOrigin({ ...arrival('x', ''), header: (name) => (name === 'origin' ? 'http://y' : 'x') }),
    /Origin not allowed/,
  );
});

test('[A97] a configured key may contain spaces', () => {
  const inHeader = (authorization: string): string => parseBearerKey({ header: () => authorization });
  assert.equal(inHeader('Bearer correct horse battery staple'), 'correct horse battery staple');
  assert.equal(inHeader('Basic correct horse'), '');
});

test('[A97] a body that is too long is refused before it is read, whether or not its length is declared', async (t) => {
  const { url, request } = await createApiFixture(t, { worker: false, bounds: { bodyBytes: 10_000 } });
  const big = JSON.stringify({ prompt: 'x'.repeat(20_000) });
  assert.equal((await request('POST /api/runs', { body: big })).status, 413);
  const headers = { authorization, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  assert.equal((await sendRaw(url, 'POST', '/api/runs', headers, big)).status, 413);
  assert.equal((await request('POST /api/runs', { body: { prompt: 'x'.repeat(5000) } })).status, 202);
});

test('[A97] a body must be plain JSON with that content type', async (t) => {
  const { url } = await createApiFixture(t, { worker: false });
  const good = '{"prompt":"x"}';
  const tried: readonly (readonly [Record<string, string>, string, number])[] = [
    [{ 'content-type': 'text/plain' }, good, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, good, 415],
    [{}, good, 415],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, good, 415],
    [{ 'content-type': 'application/json' }, '{"prompt":', 400],
    [{ 'content-type': 'application/json' }, '', 400],
    [{ 'content-type': 'application/json; charset=utf-8' }, good, 202],
  ];
  for (const [headers, body, status] of tried)
    assert.equal(
      (await sendRaw(url, 'POST', '/api/runs', { authorization, ...headers }, body)).status,
      status,
      JSON.stringify(headers) + body,
    );
});

test('[A97] a client that sends its headers or its body too slowly is disconnected, and others are served meanwhile', async (t) => {
  const { url, request } = await createApiFixture(t, {
    worker: false,
    bounds: { headersMs: 300, requestMs: 600 },
  });
  const { port } = new URL(url);
  const slow = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket: Socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
      let got = '';
      socket.setEncoding('utf8').on('data', (piece) => (got += String(piece)));
      socket.on('error', () => undefined).on('close', () => resolve(got));
    });
  const head = `POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n`;
  const both = Promise.all([
    slow(head),
    slow(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"wor`),
  ]);
  assert.equal((await request('GET /healthz', { as: 'nobody' })).status, 200);
  for (const got of await both) assert.match(got, /^(HTTP\/1\.1 408|$)/);
});

test('[A97] a key that exceeds the rate limit gets Retry-After, and other keys are not affected', async (t) => {
  const { request } = await createApiFixture(t, {
    worker: false,
    bounds: { rate: { burst: 3, perSecond: 0.001 }, anonymousRate: { burst: 2, perSecond: 0.001 } },
  });
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push((await request('GET /api/me', { as: 'reader' })).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  const late = await request('GET /api/me', { as: 'reader' });
  assert.ok(Number(late.headers.get('retry-after')) > 0);
  assert.equal((await request('GET /api/me', { as: 'operator' })).status, 200);
  const strangers = [];
  for (let i = 0; i < 3; i++) strangers.push((await request('GET /api/me', { as: 'wrong' })).status);
  assert.deepEqual(strangers, [401, 401, 429]);
});

test('[A97] the rate limit refills over time', () => {
  let now = 0;
  const often = createRateLimiter({ burst: 2, perSecond: 1 }, () => now);
  often('a');
  often('a');
  assert.throws(() => often('a'), /Rate limit exceeded/);
  often('b');
  now = 1000;
  often('a');
  assert.throws(() => often('a'), /Rate limit exceeded/);
});

test('[A97] requests above the concurrency limit are refused until others have ended', async (t) => {
  const { request } = await createApiFixture(t, { worker: false, bounds: { requests: 1, streams: 1 } });
  const held = request('POST /api/runs', { body: { prompt: 'x' }, headers: { prefer: 'wait=60' } }).catch(
    () => undefined,
  );
  await eventually('it is busy', async () => (await request('GET /api/me')).status === 503);
  const busy = await request('GET /api/me');
  assert.equal(busy.status, 503);
  assert.equal(busy.headers.get('retry-after'), '1');
  void held;
});

test('[A97] paths serve files of the built page and nothing outside it', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-page-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'page/assets/inner'), { recursive: true });
  writeFileSync(path.join(folder, 'secret.js'), 'secret');
  writeFileSync(path.join(folder, 'page/index.html'), '<!doctype html>the page');
  writeFileSync(path.join(folder, 'page/inside.js'), 'inside');
  writeFileSync(path.join(folder, 'page/assets/app-1a2b.js'), 'the app');
  writeFileSync(path.join(folder, 'page/assets/.hidden.js'), 'hidden');
  writeFileSync(path.join(folder, 'page/assets/inner/deep.js'), 'deep');
  symlinkSync(path.join(folder, 'secret.js'), path.join(folder, 'page/assets/link.js'));
  const { url } = await createApiFixture(t, { worker: false, page: path.join(folder, 'page') });
  const page = await sendRaw(url, 'GET', '/', {});
  assert.equal(page.text, '<!doctype html>the page');
  const app = await sendRaw(url, 'GET', '/assets/app-1a2b.js', {});
  assert.equal(app.text, 'the app');
  assert.match(String(app.headers['content-type']), /^text\/javascript/);
  const tricks = [
    '/assets/../inside.js',
    '/assets/..%2finside.js',
    '/assets/%2e%2e/inside.js',
    '/assets/%2e%2e%2finside.js',
    '/assets/..%5cinside.js',
    '/assets/..%252finside.js',
    '/assets//etc/passwd',
    '/assets/%2fetc%2fpasswd',
    '/assets/app-1a2b.js%00.png',
    '/assets/.hidden.js',
    '/assets/inner/deep.js',
    '/assets/inner%2fdeep.js',
    '/assets/link.js',
    '/assets/',
    '/assets/index.html',
    '/index.html',
    '/secret.js',
  ];
  for (const trick of tricks) {
    const { status, text } = await sendRaw(url, 'GET', trick, {});
    assert.ok(status === 404 || status === 400, `${trick}: ${status}`);
    assert.doesNotMatch(text, /^(?:secret|inside|deep|hidden|root:)/);
  }
});

test('[A97] a public address needs a configured key of sufficient length', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-keys-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { store } = await createApiFixture(t, { worker: false });
  const open = (env: Record<string, string>): Promise<unknown> =>
    startApiServer({ store, keys: loadApiKeys({ env, folder }), version: '0', host: '0.0.0.0', port: 0, folder });
  await assert.rejects(open({}), /no key is configured/);
  await assert.rejects(open({ HARNESS_API_KEY: 'short' }), /fewer than 16/);
  const server = (await open({ HARNESS_API_KEY: 'long enough to be a key' })) as Awaited<
    ReturnType<typeof startApiServer>
  >;
  const { status } = await sendRaw(`http://127.0.0.1:${server.port}`, 'GET', '/api/me', { host: 'evil.example' });
  await server.close();
  assert.equal(status, 403);
});

test('[A97] internal errors are reported without a path, a stack trace or details of the store', async (t) => {
  const { request, store } = await createApiFixture(t, { worker: false });
  await store.close();
  for (const path of ['/api/budgets', '/api/runs', '/api/sessions', '/readyz']) {
    const { status, body } = await request(`GET ${path}`);
    assert.ok(status === 500 || status === 503, `${path}: ${status}`);
    assert.doesNotMatch(JSON.stringify(body), /\.ts|\.sqlite|node:|\/tmp|\bat /, path);
  }
});
