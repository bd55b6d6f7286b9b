// Malformed input of one connection ends that connection only: every server answers the next request, and the process continues.
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { McpServer } from '@modelcontextprotocol/server';
import { openProxy } from '../src/bridges/proxy/proxy.ts';
import { startEgressProxy } from '../src/guards/sandbox/egress.ts';
import { createApiKeys } from '../src/server/http/keys.ts';
import { defineRoute, type RouteResponse } from '../src/server/http/route.ts';
import { serveRoutes } from '../src/server/http/serve-routes.ts';
import { startApiServer } from '../src/server/http/server.ts';
import { listenMcpHttp } from '../src/server/mcp/http.ts';
import { openSqlite } from '../src/stores/sqlite/store.ts';
import { scriptedServer } from '../src/testing/index.ts';
import { listenForCallback, findFreePort } from '../src/tools/oauth/callback.ts';
import { malformedRequests, resetRequests, sendBytes } from './support/malformed-requests.ts';

/** The servers that listen, by port or socket file; also those that do not keep the process running. */
const servers = new Map<number | string, Server>();
subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const { server } = message as { readonly server: Server };
  const address = server.address() as AddressInfo | string;
  servers.set(typeof address === 'string' ? address : address.port, server);
});

/** Emits the error of a connection that cannot be accepted, twice. */
function emitAcceptErrors(to: number | string): void {
  const server = servers.get(to);
  assert.ok(server);
  for (let i = 0; i < 2; i++) server.emit('error', new Error('accept EMFILE'));
}

/** Sends all malformed requests, and asserts that a valid request is answered with this status afterwards. */
async function assertSurvives(t: TestContext, port: number, target: string, valid: string, header = ''): Promise<void> {
  const requests = malformedRequests(target, header);
  await Promise.all(resetRequests(target, header).map((request) => sendBytes(port, request, true)));
  const replies = await Promise.all(requests.map((request) => sendBytes(port, request)));
  t.diagnostic(replies.map((reply) => reply.slice(9, 12) || '-').join(' '));
  assert.ok(replies.filter((reply) => reply.startsWith('HTTP/1.1 4')).length > 3);
  assert.match(await sendBytes(port, valid), /^HTTP\/1\.1 (2|404)/);
}

const get = (target: string, header = ''): string => `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}\r\n`;

test('malformed requests end their own connection to the HTTP API only', { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-'));
  const store = await openSqlite(path.join(folder, 'fleet.db'));
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const keys = createApiKeys([{ role: 'operator', key: 'a-key-of-sixteen' }]);
  const server = await startApiServer({ store, keys, version: '0', folder: process.cwd(), port: 0 });
  t.after(() => server.close(0));
  const header = 'Authorization: Bearer a-key-of-sixteen\r\n';
  emitAcceptErrors(server.port);
  for (const target of ['/api/runs', '/v1/chat/completions'])
    await assertSurvives(t, server.port, target, get('/health'), header);
});

test('malformed requests end their own connection to the proxy only', { timeout: 120_000 }, async (t) => {
  await using target = await scriptedServer(['hi']);
  await using proxy = await openProxy({ target: target.url, port: 0 });
  emitAcceptErrors(proxy.port);
  await assertSurvives(t, proxy.port, '/v1/chat/completions', get('/v1/models'));
});

test('malformed requests end their own connection to the MCP server only', { timeout: 120_000 }, async (t) => {
  const notes: string[] = [];
  const server = await listenMcpHttp(
    () => new McpServer({ name: 'x', version: '0' }),
    0,
    (text) => void notes.push(text),
    'token',
  );
  t.after(() => server.close());
  const header = 'Authorization: Bearer token\r\nAccept: application/json, text/event-stream\r\n';
  emitAcceptErrors(Number(new URL(server.url).port));
  await assertSurvives(t, Number(new URL(server.url).port), '/mcp', get('/x', header), header);
});

test('malformed requests end their own connection to the OAuth listener only', { timeout: 120_000 }, async (t) => {
  const port = await findFreePort();
  const callback = await listenForCallback(port, 'state');
  t.after(() => callback.close());
  await assertSurvives(t, port, '/callback', get('/callback?state=state&code=1'));
  assert.equal((await callback.params).get('code'), '1');
});

test('malformed requests end their own connection to the scripted server only', { timeout: 120_000 }, async (t) => {
  await using server = await scriptedServer(['hi']);
  emitAcceptErrors(server.port);
  await assertSurvives(t, server.port, '/v1/chat/completions', get('/v1/models'));
});

test('malformed requests end their own connection to the egress proxy only', { timeout: 120_000 }, async (t) => {
  const proxy = await startEgressProxy({ hosts: ['example.com', 'localhost:1'], isPublic: () => false });
  t.after(() => proxy.close());
  emitAcceptErrors(proxy.socket);
  for (const bytes of resetRequests('http://example.com/', '')) await sendBytes(proxy.socket, bytes, true);
  await Promise.all(malformedRequests('http://example.com/', '').map((bytes) => sendBytes(proxy.socket, bytes)));
  assert.match(await sendBytes(proxy.socket, get('http://example.com/')), /^HTTP\/1\.1 403 /);
});

test('an error of a handler after its response has begun cuts off that response only', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-'));
  const store = await openSqlite(path.join(folder, 'fleet.db'));
  const notes: string[] = [];
  const route = (name: string, response: RouteResponse): ReturnType<typeof defineRoute> =>
    defineRoute({
      method: 'get',
      path: name,
      role: 'public',
      summary: 'A test.',
      responses: { 200: '*/*' },
      handle: () => response,
    });
  const server = await serveRoutes(
    {
      store,
      keys: createApiKeys([]),
      version: '0',
      folder,
      port: 0,
      notify: (text) => void notes.push(text),
    },
    [
      route('/begun', {
        async stream(outgoing) {
          outgoing.writeHead(200);
          await new Promise<void>((resolve) => void outgoing.write('data: 1\n\n', () => resolve()));
          throw new Error('the reason');
        },
      }),
      route('/ended', {
        async stream(outgoing) {
          outgoing.writeHead(200).end('x');
          outgoing.write('more');
          throw new Error('the reason');
        },
      }),
      route('/fine', { json: {} }),
    ],
  );
  t.after(async () => {
    await server.close(0);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const begun = await fetch(`${server.url}/begun`);
  await assert.rejects(begun.text(), 'a client can tell that the response is not complete');
  await fetch(`${server.url}/ended`).catch(() => undefined);
  assert.equal((await fetch(`${server.url}/fine`)).status, 200);
  assert.deepEqual(notes, Array(2).fill('A response was cut off: the reason'));
});
