// Requests to a receiver: one connection for several signals, and what becomes of a request that is not answered.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { OtlpTarget } from '../options.ts';
import { createSender, type Connections, type OtlpMessage } from './send.ts';

const message: OtlpMessage = { json: () => '{}', protobuf: () => Buffer.from('spans') };

async function startReceiver(t: TestContext, onRequest: http.RequestListener): Promise<http.Server> {
  const server = http.createServer(onRequest).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return server;
}

const createTarget = (server: http.Server, path: string, timeoutMs = 10_000): OtlpTarget => ({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
  headers: { 'x-key': 'k' },
  protocol: 'http/protobuf',
  compression: 'none',
  timeoutMs,
});

test('[A50] traces and metrics for one receiver are sent over one connection', async (t) => {
  const received: unknown[] = [];
  let connectionCount = 0;
  const server = await startReceiver(t, (request, response) => {
    received.push([request.method, request.url, request.headers['x-key'], request.headers['content-length']]);
    request.resume().on('end', () => response.end());
  });
  server.on('connection', () => connectionCount++);
  const connections: Connections = new Map();
  const { signal } = new AbortController();
  for (const path of ['/v1/traces', '/v1/metrics?key=1'])
    assert.deepEqual(await createSender(createTarget(server, path), connections)(message, signal), {
      type: 'accepted',
    });
  assert.deepEqual(received, [
    ['POST', '/v1/traces', 'k', '5'],
    ['POST', '/v1/metrics?key=1', 'k', '5'],
  ]);
  assert.equal(connectionCount, 1);
  // What a receiver with other certificates gets is not sent over the connection of the first.
  const other: OtlpTarget = { ...createTarget(server, '/v1/metrics'), certificateFile: '/nowhere/ca.pem' };
  await createSender(other, connections)(message, signal);
  assert.equal(connections.size, 2);
});

test(
  '[A50] a request that is not answered in time, or is aborted, may be sent again',
  { timeout: 30_000 },
  async (t) => {
    const stop = new AbortController();
    const server = await startReceiver(t, (request) => {
      if (request.url === '/aborted') stop.abort();
    });
    const late = { type: 'unavailable', why: 'it did not answer in time' };
    const send = (path: string, signal: AbortSignal, timeoutMs = 2 ** 31 - 1): Promise<unknown> =>
      createSender(createTarget(server, path, timeoutMs))(message, signal);
    assert.deepEqual(await send('/late', stop.signal, 1), late);
    assert.deepEqual(await send('/aborted', stop.signal), late);
    assert.deepEqual(await send('/aborted-before', stop.signal), late);
  },
);
