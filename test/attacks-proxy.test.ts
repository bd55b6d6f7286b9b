// Attacks on the proxy: paths that the model server reads differently, and conversations of another key.
import assert from 'node:assert/strict';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { openProxy } from '../src/bridges/index.ts';
import type { Gate } from '../src/core/index.ts';
import { assertAttack } from './support/attack-report.ts';

async function startServer(
  t: TestContext,
  listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Promise<string> {
  const server = createServer(listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends a request with a path exactly as it is written, which `fetch` would resolve. */
async function sendRaw(
  url: string,
  target: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    hostname,
    port,
    path: target,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  sent.once('response', resolve).once('error', reject).end(JSON.stringify(body));
  const answer = await promise;
  let text = '';
  for await (const part of answer) text += String(part);
  return { status: answer.statusCode ?? 0, text };
}

const toolCall = { id: 'c1', type: 'function', function: { name: 'delete_file', arguments: '{"path":"secret"}' } };
const withMessage = (message: object): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message }],
  });
const chatRequest = (text: string): object => ({ model: 'm', messages: [{ role: 'user', content: text }] });
const chatPath = '/v1/chat/completions';

/** A lenient server: it decodes twice, ignores parameters and case, and resolves dot segments before it compares the path. */
function readLeniently(target: string): string {
  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const decoded = decode(decode(target.split(/[?#]/)[0] ?? '')).replaceAll('\\', '/');
  const plain = decoded.replaceAll(/;[^/]*/g, '').split(/[?#\0]/)[0] ?? '';
  return path.posix.normalize(plain.trim()).toLowerCase().replace(/\/$/, '');
}

test('[attack 108] a path with dot segments, encodings or parameters does not lead a denied call past the gates', async (t) => {
  const served: string[] = [];
  const target = await startServer(t, (incoming, outgoing) => {
    served.push(incoming.url ?? '');
    const isChat = readLeniently(incoming.url ?? '') === chatPath;
    const body = isChat ? withMessage({ role: 'assistant', content: null, tool_calls: [toolCall] }) : '{}';
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const deny: Gate = () => ({ type: 'deny', reason: 'Nothing is deleted here.' });
  const proxy = await openProxy({ target, port: 0, extensions: [{ gates: [deny] }] });
  t.after(() => proxy.close());
  const spellings = [
    chatPath,
    '/v1/chat/./completions',
    '/v1/chat/x/../completions',
    '/v1/chat/%2e/completions',
    '/v1/chat/x/%2E%2e/completions',
    '/v1/chat/x/.%2e/completions',
    '/v1/chat/%252e/completions',
    '/v1/chat/x/%252e%252e/completions',
    '/v1/chat%2fcompletions',
    '/v1/chat%252fcompletions',
    '/v1/chat\\completions',
    '/v1/chat%5ccompletions',
    '/v1/%2563hat/completions',
    '/v1/chat;a=b/completions',
    '/v1/chat/completions;a=b',
    '/v1/chat/completions%3bx',
    '/v1/chat/completions/.',
    '/v1/chat/completions/x/..',
    '/v1/chat/completions#x',
    '/v1/chat/completions%23x',
    '/v1/chat/completions%3fx',
    '/v1/chat/completions%00',
    '/v1/chat/completions%20',
    '/../v1/chat/completions',
    'http://model/v1/chat/completions',
  ];
  const reached: string[] = [];
  for (const spelling of spellings) {
    const { text } = await sendRaw(proxy.url, spelling, chatRequest('delete it'));
    if (text.includes('delete_file')) reached.push(spelling);
  }
  t.diagnostic(`passed: ${reached.join(' ') || 'none'}`);
  assertAttack(t, 108, [reached.length === 0 ? 'blocked' : 'done']);
  assert.ok(
    served.every((each) => each.replace(/\/$/, '') === chatPath),
    `sent as judged: ${served.join(' ')}`,
  );
});

test('a path that needs no change is forwarded as it is, and a resolved one in its resolved form', async (t) => {
  const served: string[] = [];
  const target = await startServer(t, (incoming, outgoing) => {
    served.push(`${incoming.method} ${incoming.url}`);
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const proxy = await openProxy({ target, port: 0 });
  t.after(() => proxy.close());
  for (const each of ['/v1/models/meta%2Fllama?x=%2F..', '/v1/files/caf%C3%A9', '/v1//models'])
    await fetch(proxy.url + each);
  await sendRaw(proxy.url, '/v1/embeddings/../files', {}, { 'x-http-method-override': 'DELETE' });
  assert.deepEqual(served, [
    'GET /v1/models/meta%2Fllama?x=%2F..',
    'GET /v1/files/caf%C3%A9',
    'GET /v1//models',
    'POST /v1/files',
  ]);
});

test('[attack 118] two keys that name the same session, or send the same history, do not share a conversation', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-proxy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const target = await startServer(t, (_, outgoing) => {
    outgoing
      .writeHead(200, { 'content-type': 'application/json' })
      .end(withMessage({ role: 'assistant', content: 'Hello.' }));
  });
  const countLogs = (): number => readdirSync(folder).filter((file) => /^(?!marks).*\.jsonl$/.test(file)).length;
  const proxy = await openProxy({ target, port: 0, folder });
  const send = async (key: string | undefined, session?: string): Promise<void> => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const named = session === undefined ? {} : { 'x-fairlead-session': session };
    const body = chatRequest(session ?? 'hello');
    const { status, text } = await sendRaw(proxy.url, chatPath, body, { ...headers, ...named });
    assert.equal(status, 200, text);
  };
  await send('first', 'same');
  await send('first', 'same');
  const afterFirst = countLogs();
  await send('second', 'same');
  await send(undefined, 'same');
  const named = countLogs() - afterFirst;
  await send('first');
  const before = countLogs();
  await send('second');
  const unnamed = countLogs() - before;
  await proxy.close();
  assert.equal(afterFirst, 1, 'one key continues its own session');
  assert.ok(!readdirSync(folder).some((file) => file.includes('first') || file.includes('second')), 'no key in a name');
  t.diagnostic(`${named} new logs for two other callers of a name, ${unnamed} for another key with the same history`);
  assertAttack(t, 118, [named === 2 && unnamed === 1 ? 'blocked' : 'done']);
  const again = await openProxy({ target, port: 0, folder });
  const total = countLogs();
  const headers = { authorization: 'Bearer second', 'x-fairlead-session': 'same' };
  await sendRaw(again.url, chatPath, chatRequest('same'), headers);
  await again.close();
  assert.equal(countLogs(), total, 'a session is found again after a restart');
});
