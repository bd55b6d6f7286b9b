// Malformed input of one connection ends that connection only: every server answers the next request, and the process continues.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, Server, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { McpServer } from '@modelcontextprotocol/server';
import { openProxy } from '../src/bridges/proxy/proxy.ts';
import { createApiKeys } from '../src/server/http/keys.ts';
import { startApiServer } from '../src/server/http/server.ts';
import { listenMcpHttp } from '../src/server/mcp/http.ts';
import { openSqlite } from '../src/stores/sqlite/store.ts';
import { scriptedServer } from '../src/testing/index.ts';
import { listenForCallback, findFreePort } from '../src/tools/oauth/callback.ts';

const deepJson = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
const post = (target: string, body: string, header = ''): string =>
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`;

/** Requests that are not valid, or valid and unusual. `target` is a path that the server knows. */
const malformedRequests = (target: string, header: string): readonly string[] => [
  '\x00\x01\x02\r\n\r\n',
  'GET // HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET http:// HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET /%ff%zz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: [\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'CONNECT localhost:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: =;;=%;a\r\nOrigin: null\r\nReferer: \xff\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`,
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}Expect: x\r\nTrailer: y\r\nContent-Length: 9\r\n\r\n{`,
  post(target, deepJson, header),
  post(target, `{"model":${deepJson},"messages":${deepJson}}`, header),
  post(target, '{"__proto__":1,"messages":[null,{"role":{}}]}', header),
  post(target, '\x00\xff', header),
];

/** Sends bytes, waits for the first reply or the end, and ends the connection without a farewell. */
const sendBytes = (port: number, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let reply = '';
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on('data', (data) => {
      reply += String(data);
      socket.resetAndDestroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(reply));
  });

/** Emits the error of a connection that cannot be accepted, twice, on the server that listens on a port. */
function emitAcceptErrors(port: number): void {
  const host = process as unknown as { _getActiveHandles(): readonly unknown[] };
  const servers = host._getActiveHandles().filter((each) => each instanceof Server);
  const server = servers.find((each) => (each.address() as AddressInfo | null)?.port === port);
  assert.ok(server);
  for (let i = 0; i < 2; i++) server.emit('error', new Error('accept EMFILE'));
}

/** Sends all malformed requests, and asserts that a valid request is answered with this status afterwards. */
async function assertSurvives(t: TestContext, port: number, target: string, valid: string, header = ''): Promise<void> {
  const requests = malformedRequests(target, header);
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
