// Guarantees of the proxy: forwarded bytes are unchanged, denied calls are not forwarded, and other clients have no access.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openProxy, type ProxyServer, type ProxyOptions } from '../src/bridges/index.ts';
import type { Extension } from '../src/agent/index.ts';
import type { Gate, NamedView, Rule } from '../src/core/index.ts';
import {
  calls,
  closedUrl,
  fails,
  says,
  scriptedServer,
  type ScriptedServer,
  type ScriptStep,
} from '../src/testing/index.ts';
import { chatLoop, createClient, responsesLoop } from './support/client-loops.ts';

const denyDelete: Gate = ({ input }) =>
  JSON.stringify(input).includes('rm') ? { type: 'deny', reason: 'Nothing is deleted here.' } : { type: 'allow' };

async function startProxy(t: TestContext, target: string, more: Partial<ProxyOptions> = {}): Promise<ProxyServer> {
  const proxy = await openProxy({ target, port: 0, extensions: [{ gates: [denyDelete] }], ...more });
  t.after(() => proxy.close());
  return proxy;
}

async function startModel(t: TestContext, script: readonly ScriptStep[]): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  t.after(() => server.close());
  return server;
}

/** A server with a handler of the test. */
type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void | Promise<void>;

async function startServer(t: TestContext, listener: Listener): Promise<string> {
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type HttpResult = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: string };

/** Sends a request with any headers, including Host. */
async function sendHttp(
  url: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<HttpResult> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asking = request(url, { method: body === undefined ? 'GET' : 'POST', headers }, resolve).on('error', reject);
  asking.end(body);
  const answer = await promise;
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString() };
}

const formatChatRequest = (more: object = {}): string =>
  JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [{ type: 'function', function: { name: 'run', parameters: { type: 'object' } } }],
    ...more,
  });
const chatPath = '/v1/chat/completions';

test('[M42, M46] requests that are not model requests pass byte for byte, in both directions', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256));
  const seen: { url: string | undefined; headers: IncomingMessage['headers']; body: Buffer }[] = [];
  const target = await startServer(t, async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    seen.push({ url: incoming.url, headers: incoming.headers, body: Buffer.concat(parts) });
    outgoing.writeHead(
      207,
      'Several',
      [
        ['X-Own', 'a'],
        ['X-Own', 'b'],
        ['content-encoding', 'gzip'],
      ].flat(),
    );
    outgoing.end(gzipSync(bytes));
  });
  const proxy = await startProxy(t, target);
  const headers = { authorization: 'Bearer secret', 'x-fairlead-session': 's', 'x-custom': 'yes' };
  const response = await fetch(`${proxy.url}/v1/files/%7Ex?a=b%20c&d`, { method: 'PUT', body: bytes, headers });
  assert.deepEqual([response.status, response.statusText, response.headers.get('x-own')], [207, 'Several', 'a, b']);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
  assert.equal(seen[0]?.url, '/v1/files/%7Ex?a=b%20c&d');
  assert.deepEqual(seen[0]?.body, bytes);
  assert.equal(seen[0]?.headers.authorization, 'Bearer secret');
  assert.equal(seen[0]?.headers['x-custom'], 'yes');
  assert.equal(seen[0]?.headers['x-fairlead-session'], undefined);
});

test('[M41] a model request without additions arrives unchanged, and so does its answer', async (t) => {
  const model = await startModel(t, ['Good day.', 'Good day.', [says('So.'), calls('run', { command: 'ls' })]]);
  const proxy = await startProxy(t, model.url);
  const body = `{ "model" :"m",\n "messages":[{"role":"user","content":"Gr\\u00fc\\u00dfe"}] , "stream":false}`;
  const direct = await sendHttp(model.url + chatPath, body);
  const through = await sendHttp(proxy.url + chatPath, body);
  const timeless = (text: string): string => text.replaceAll(/"(created|id)":("[^"]*"|\d+)/g, '');
  assert.equal(timeless(through.body), timeless(direct.body));
  assert.equal(model.requests[1]?.raw.toString(), body);
  const streamed = await sendHttp(proxy.url + chatPath, formatChatRequest({ stream: true }));
  assert.match(String(streamed.headers['content-type']), /event-stream/);
  assert.match(streamed.body, /"arguments":/);
  assert.match(streamed.body, /data: \[DONE\]\n\n$/);
});

test('[M46] an error of the model server is forwarded unchanged', async (t) => {
  const model = await startModel(t, [fails(429, { message: 'Slow down.' })]);
  const proxy = await startProxy(t, model.url);
  const got = await sendHttp(proxy.url + chatPath, formatChatRequest());
  assert.equal(got.status, 429);
  assert.match(got.body, /Slow down\./);
});

test('an unreachable model server gives one sentence', async (t) => {
  const told: string[] = [];
  const proxy = await startProxy(t, await closedUrl(), { notify: (sentence) => told.push(sentence) });
  const got = await sendHttp(proxy.url + chatPath, formatChatRequest(), { authorization: 'Bearer secret' });
  assert.equal(got.status, 502);
  assert.match(got.body, /could not be asked/);
  assert.ok(told.length > 0 && !told.join().includes('secret'), 'the key is in no message');
});

test('requests from other origins and with other host names are refused', async (t) => {
  const model = await startModel(t, []);
  const proxy = await startProxy(t, model.url);
  const rebound = await sendHttp(`${proxy.url}/v1/models`, undefined, { host: 'evil.example:4774' });
  const foreign = await sendHttp(`${proxy.url}/v1/models`, undefined, { origin: 'https://evil.example' });
  const own = await sendHttp(`${proxy.url}/v1/models`, undefined, {
    host: 'localhost:1',
    origin: 'http://localhost:3000',
  });
  // A browser requests images and scripts without an Origin header.
  const picture = await sendHttp(`${proxy.url}/v1/models`, undefined, { 'sec-fetch-site': 'cross-site' });
  assert.deepEqual([rebound.status, foreign.status, own.status, picture.status], [403, 403, 200, 403]);
  assert.equal(model.requests.length, 1);
});

test('on a public address it requires a token, and serves only requests with it', async (t) => {
  const model = await startModel(t, []);
  await assert.rejects(openProxy({ target: model.url, port: 0, host: '0.0.0.0' }), /needs a token/);
  const proxy = await startProxy(t, model.url, { host: '0.0.0.0', token: 'open-sesame' });
  const at = `http://127.0.0.1:${proxy.port}`;
  const without = await sendHttp(`${at}/v1/models`);
  const wrong = await sendHttp(`${at}/t/open/v1/models`);
  const inPath = await sendHttp(`${at}/t/open-sesame/v1/models`, undefined, { host: 'box.example' });
  const inHeader = await sendHttp(`${at}/v1/models`, undefined, { 'x-fairlead-token': 'open-sesame' });
  assert.deepEqual(
    [without, wrong, inPath, inHeader].map(({ status }) => status),
    [401, 401, 200, 200],
  );
  assert.deepEqual(
    model.requests.map(({ path: each }) => each),
    ['/v1/models', '/v1/models'],
  );
});

test('a request that is too long, compressed, not JSON or not supported is refused with the reason', async (t) => {
  const model = await startModel(t, []);
  const proxy = await startProxy(t, model.url, { maxBodyBytes: 2000 });
  const long = await sendHttp(proxy.url + chatPath, formatChatRequest({ user: 'x'.repeat(3000) }));
  const pieces = await sendHttp(proxy.url + chatPath, 'x'.repeat(100_000), { 'transfer-encoding': 'chunked' });
  const pressed = await sendHttp(proxy.url + chatPath, gzipSync(formatChatRequest()), { 'content-encoding': 'gzip' });
  const nonsense = await sendHttp(proxy.url + chatPath, '{"n": NaN}');
  const several = await sendHttp(proxy.url + chatPath, formatChatRequest({ n: 2 }));
  const named = await sendHttp(proxy.url + chatPath, formatChatRequest(), { 'x-fairlead-session': '../x' });
  const statuses = [long, pieces, pressed, nonsense, several, named].map(({ status }) => status);
  assert.deepEqual(statuses, [413, 413, 415, 400, 400, 400]);
  assert.equal(model.requests.length, 0);
});

test('requests above the limit of parallel requests wait', async (t) => {
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const target = await startServer(t, async (_incoming, outgoing) => {
    arrived.resolve();
    await held.promise;
    outgoing.end('{}');
  });
  const proxy = await startProxy(t, target, { maxRequests: 1 });
  const first = sendHttp(`${proxy.url}/v1/models`);
  await arrived.promise;
  const second = await sendHttp(`${proxy.url}/v1/files`, 'x');
  assert.equal(second.status, 503);
  assert.equal(second.headers['retry-after'], '1');
  held.resolve();
  assert.equal((await first).status, 200);
});

const formatChunkFrame = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const formatCallFrame = (command: string): string =>
  formatChunkFrame({
    tool_calls: [
      { index: 0, id: 'a', type: 'function', function: { name: 'run', arguments: JSON.stringify({ command }) } },
    ],
  });

test('[M31] text is forwarded before the answer is complete; a call is not forwarded before it is checked, however it is split', async (t) => {
  const heard = Promise.withResolvers<void>();
  const judged: string[] = [];
  const target = await startServer(t, async (incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write(formatChunkFrame({ role: 'assistant', content: 'At once.' }));
    await heard.promise;
    const call = formatCallFrame('ls');
    for (const piece of [call.slice(0, 60), call.slice(60, 75), call.slice(75)]) {
      outgoing.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    judged.push('sent');
    outgoing.end(`${formatChunkFrame({}, 'tool_calls')}data: [DONE]\n\n`);
  });
  const gate: Gate = async () => {
    judged.push('judged');
    return { type: 'allow' };
  };
  const proxy = await startProxy(t, target, { extensions: [{ gates: [gate] }] });
  const response = await fetch(proxy.url + chatPath, { method: 'POST', body: formatChatRequest({ stream: true }) });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('At once.')) heard.resolve();
    if (text.includes('tool_calls')) judged.push('seen');
  }
  assert.deepEqual(judged.slice(0, 3), ['sent', 'judged', 'seen']);
  assert.equal(
    text,
    `${formatChunkFrame({ role: 'assistant', content: 'At once.' })}${formatCallFrame('ls')}${formatChunkFrame({}, 'tool_calls')}data: [DONE]\n\n`,
  );
});

test('a stream without the event-stream content type is checked too', async (t) => {
  const target = await startServer(t, (incoming, outgoing) => {
    incoming.resume();
    const again = incoming.headers['content-length'] !== String(formatChatRequest({ stream: true }).length);
    outgoing.writeHead(200, { 'content-type': again ? 'text/event-stream' : 'text/plain' });
    outgoing.end(
      again
        ? formatChunkFrame({ content: 'Fine.' }, 'stop')
        : formatCallFrame('rm -r') + formatChunkFrame({}, 'tool_calls'),
    );
  });
  const proxy = await startProxy(t, target);
  const got = await sendHttp(proxy.url + chatPath, formatChatRequest({ stream: true }));
  assert.ok(!got.body.includes('rm -r') && got.body.includes('Fine.'), got.body);
});

test('a compressed answer is not forwarded unchecked', async (t) => {
  const target = await startServer(t, (incoming, outgoing) => {
    incoming.resume();
    assert.equal(incoming.headers['accept-encoding'], 'identity');
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    outgoing.end(gzipSync('{}'));
  });
  const proxy = await startProxy(t, target);
  const got = await sendHttp(proxy.url + chatPath, formatChatRequest(), { 'accept-encoding': 'gzip' });
  assert.equal(got.status, 502);
});

test('a disconnected caller aborts its request to the model', async (t) => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const target = await startServer(t, (incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    outgoing.write(formatChunkFrame({ content: 'So' }));
    outgoing.on('close', () => gone.resolve());
    asked.resolve();
  });
  const proxy = await startProxy(t, target);
  const leaving = new AbortController();
  const response = await fetch(proxy.url + chatPath, {
    method: 'POST',
    body: formatChatRequest({ stream: true }),
    signal: leaving.signal,
  });
  await asked.promise;
  leaving.abort();
  await gone.promise;
  await assert.rejects(response.text());
});

/** Views of which one throws, from an answer on until the next request. */
function createBreakingExtension(): Pick<Extension, 'rules' | 'views'> {
  let isBroken = false;
  const view: NamedView<number> = {
    get name() {
      if (isBroken) throw new Error('The view is broken.');
      return 'broken';
    },
    initial: 0,
    on: (state) => state,
  };
  const rule: Rule = ({ type }) => {
    if (type === 'turn-ended') isBroken = true;
    if (type === 'turn-started') isBroken = false;
    return [];
  };
  return { views: [view], rules: [rule] };
}

test('if the interceptor fails, text is forwarded and no call is', async (t) => {
  const model = await startModel(t, [
    'Only words.',
    calls('run', { command: 'ls' }),
    calls('run', { command: 'ls' }),
    'Words again.',
  ]);
  const told: string[] = [];
  const tell = (sentence: string): void => void told.push(sentence);
  const proxy = await startProxy(t, model.url, { extensions: [createBreakingExtension()], notify: tell });
  assert.match((await sendHttp(proxy.url + chatPath, formatChatRequest())).body, /Only words\./);
  const whole = await sendHttp(proxy.url + chatPath, formatChatRequest());
  assert.equal(whole.status, 503);
  assert.match(whole.body, /held back because the guide failed/);
  const streamed = await sendHttp(proxy.url + chatPath, formatChatRequest({ stream: true }));
  assert.ok(!streamed.body.includes('tool_calls'), streamed.body);
  assert.match(streamed.body, /"error":/);
  assert.match((await sendHttp(proxy.url + chatPath, formatChatRequest())).body, /Words again\./);
  assert.equal(told.length, 3, told.join('\n'));
});

test('[D16, M40] a proxy that is restarted in mid-conversation adds the same notes at the same positions', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-proxy-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const model = await startModel(t, [
    calls('run', { command: 'rm' }),
    calls('run', { command: 'bad' }),
    'Done.',
    'Still done.',
  ]);
  const first = await openProxy({
    target: model.url,
    port: 0,
    folder,
    extensions: [{ gates: [denyDelete], rules: [noteFailure] }],
  });
  const client = createClient.openai(first.url);
  const loop = chatLoop(client, { streamed: true, run: () => 'Error: no' });
  assert.equal(await loop.run('Go.'), 'Done.');
  await first.close();
  const again = await startProxy(t, model.url, {
    folder,
    extensions: [{ gates: [denyDelete], rules: [noteFailure] }],
  });
  client.baseURL = `${again.url}/v1`;
  assert.equal(await loop.run('And now?'), 'Still done.');
  const [before, after] = model.requests.slice(-2).map(({ body }) => (body as { messages: unknown[] }).messages);
  assert.ok(
    JSON.stringify(before).includes('Try another way.') && JSON.stringify(before).includes('Nothing is deleted'),
  );
  assert.deepEqual(after?.slice(0, before?.length), before);
});

const noteFailure = (event: { readonly type: string; readonly outcome?: string }) =>
  event.type === 'tool-ended' && event.outcome === 'failed' ? [{ key: 'failed', text: 'Try another way.' }] : [];

test('a conversation stored by the service continues by the id of its last response', async (t) => {
  const model = await startModel(t, [calls('run', { command: 'bad' }), 'Done.', 'Nothing.']);
  const proxy = await startProxy(t, model.url, { extensions: [{ rules: [noteFailure] }] });
  const loop = responsesLoop(true)(createClient.openai(proxy.url), { streamed: false, run: () => 'Error: no' });
  await loop.run('Go.');
  await loop.run('And now?');
  const notes = model.requests.map(({ raw }) => raw.toString().split('Try another way.').length - 1);
  assert.deepEqual(notes, [0, 1, 0], 'it is sent once, and the service stores it');
});

test('a request for a WebSocket gets 426, so that the client uses HTTP at once', async (t) => {
  const reached: string[] = [];
  const target = await startServer(t, (incoming, outgoing) => {
    reached.push(incoming.url ?? '');
    outgoing.end('{}');
  });
  const proxy = await startProxy(t, target);
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const { status, body } = await sendHttp(`${proxy.url}/v1/responses`, undefined, headers);
  assert.equal(status, 426);
  assert.match(body, /without a WebSocket/);
  assert.deepEqual(reached, []);
  assert.equal((await sendHttp(`${proxy.url}/v1/models`, undefined, { upgrade: 'h2c' })).status, 200);
});

test('a path without rules is reported once, and refused in strict mode; embeddings and reads are neither', async (t) => {
  const reached: string[] = [];
  const target = await startServer(t, (incoming, outgoing) => {
    reached.push(incoming.url ?? '');
    outgoing.end('{}');
  });
  const notices: string[] = [];
  const send = async (proxy: ProxyServer, file: string): Promise<number> =>
    (await sendHttp(`${proxy.url}${file}`, '{}', { 'content-type': 'application/json' })).status;
  const open = await startProxy(t, target, { notify: (text) => notices.push(text) });
  const paths = ['/api/chat', '/api/chat', '/model/m-1/invoke', '/model/m-2/invoke', '/v1/embeddings'];
  for (const file of paths) assert.equal(await send(open, file), 200, file);
  assert.equal((await sendHttp(`${open.url}/v1/files/f-1`)).status, 200);
  assert.deepEqual(
    notices.map((text) => text.split(' is ')[0]),
    ['POST /api/chat', 'POST /model/…/invoke'],
  );
  reached.length = 0;
  const strict = await startProxy(t, target, { strict: true });
  assert.deepEqual(
    await Promise.all(['/api/chat', '/v1beta/models/g:rawPredict', '/v1/embeddings'].map((file) => send(strict, file))),
    [403, 403, 200],
  );
  assert.equal((await sendHttp(`${strict.url}/v1/models`)).status, 200);
  assert.deepEqual(reached.toSorted(), ['/v1/embeddings', '/v1/models']);
  const withBody = (method: string, body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-length': body.length };
      request(`${strict.url}/v1/chat/completions`, { method, headers }, ({ statusCode = 0 }) => resolve(statusCode))
        .on('error', reject)
        .end(body);
    });
  for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT']) assert.equal(await withBody(method, '{}'), 403, method);
  assert.equal(await withBody('DELETE', ''), 200);
});
