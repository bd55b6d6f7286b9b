// Transport failures of the scripted server, each as a client sees it.
import assert from 'node:assert/strict';
import http from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  resendsExchange,
  says,
  scriptedServer,
  sends,
  sendsPage,
  type ScriptedResponse,
  type ScriptedServer,
} from './index.ts';

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true });

const ask = (server: ScriptedServer): Promise<Response> =>
  fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body });

async function readWhole(answer: ScriptedResponse): Promise<string> {
  await using server = await scriptedServer([answer]);
  return await (await ask(server)).text();
}

/** Reads until the connection fails; returns the received text. */
async function readBroken(answer: ScriptedResponse): Promise<string> {
  await using server = await scriptedServer([answer]);
  const response = await ask(server);
  assert.equal(response.status, 200);
  const decoder = new TextDecoder();
  let text = '';
  await assert.rejects(async () => {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  });
  return text;
}

/** Returns the bytes of a response in the chunks that the socket delivered. */
function readPieces(server: ScriptedServer): Promise<readonly Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Buffer[]>();
  const request = http.request(`${server.url}/v1/chat/completions`, { method: 'POST' }, (response) => {
    const found: Buffer[] = [];
    response.on('data', (chunk: Buffer) => found.push(chunk));
    response.on('end', () => resolve(found));
  });
  request.on('error', reject);
  request.end(body);
  return promise;
}

const withoutTimestamps = (text: string): string => text.replace(/"created":\d+/g, '"created":0');

test('[fault 46] the socket is closed after an exact number of bytes of the body', async () => {
  const whole = withoutTimestamps(await readWhole(says('one two three')));
  for (const cutAt of [0, 1, 300, 700]) {
    const broken = withoutTimestamps(await readBroken(says('one two three', { wire: { cutAt } })));
    assert.ok(whole.startsWith(broken.slice(0, -12)), `cut at ${cutAt}`);
    if (cutAt < 100) assert.equal(broken.length, cutAt);
  }
});

test('[fault 46] a recorded body is truncated at a byte, also inside a character', async () => {
  const broken = await readBroken(
    sends({ headers: { 'content-type': 'text/event-stream' }, body: 'data: é\n\n', cutAt: 7 }),
  );
  assert.equal(broken, 'data: ');
});

test('an answer ends after a number of chunks', async () => {
  const broken = await readBroken(says('one two three', { cutAfter: 2 }));
  assert.match(broken, /"one"/);
  assert.match(broken, /" two"/);
  assert.doesNotMatch(broken, /three|finish_reason":"/);
});

test('[fault 47] a body written byte by byte is the same body', async () => {
  await using server = await scriptedServer([says('é two'), says('é two', { wire: { splitEvery: 1 } })]);
  const one = await readPieces(server);
  const other = await readPieces(server);
  const text = (pieces: readonly Buffer[]): string =>
    withoutTimestamps(Buffer.concat(pieces).toString()).replace(/chatcmpl-\w+/g, '');
  assert.equal(text(other), text(one));
  assert.ok(other.length > 20 * one.length, `${other.length} pieces instead of ${one.length}`);
});

test('[fault 48] a chunk that is not JSON, a missing end and a repeated end', async () => {
  const malformed = await readWhole(says('one two', { wire: { malformed: 1 } }));
  const lines = malformed.split('\n').filter((line) => line.startsWith('data: {'));
  const bad = lines.filter((line) => {
    try {
      return !JSON.parse(line.slice(6));
    } catch {
      return true;
    }
  });
  assert.equal(bad.length, 1);
  assert.match(bad[0] ?? '', / two/);
  assert.doesNotMatch(await readWhole(says('x', { wire: { done: 'missing' } })), /\[DONE\]/);
  assert.equal((await readWhole(says('x', { wire: { done: 'twice' } }))).split('[DONE]').length, 3);
  assert.match(
    await readWhole(says('x', { wire: { trailing: 'data: {"late":1}\n\n' } })),
    /\[DONE\]\n\ndata: \{"late":1\}\n\n$/,
  );
});

test('[fault 49] an error inside a stream that began well', async () => {
  const text = await readWhole(says('one two', { cutAfter: 1, error: { name: 'overloaded' } }));
  assert.match(text, /"one"/);
  assert.match(text, /data: \{"error":\{"message":"Overloaded"/);
  assert.doesNotMatch(text, / two|\[DONE\]/);
});

test('[fault 45] silence before the headers, before the first byte and inside the stream lasts until the client aborts', async () => {
  const silences: Readonly<Record<string, ScriptedResponse>> = {
    headers: { hang: true },
    'first byte': says('x', { wire: { firstByteMs: 60_000 } }),
    middle: says('one two', { cutAfter: 1, hang: true }),
    stall: says('one two', { wire: { stall: { at: 40, ms: 60_000 } } }),
  };
  for (const [where, answer] of Object.entries(silences)) {
    await using server = await scriptedServer([answer]);
    const stop = new AbortController();
    const asked = fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body, signal: stop.signal });
    if (where === 'headers') {
      while (server.requests.length === 0) await new Promise((wake) => setTimeout(wake, 1));
      stop.abort();
      await assert.rejects(asked, where);
      continue;
    }
    const reader = (await asked).body?.getReader();
    const first = reader?.read();
    let came = false;
    first?.then(
      () => (came = true),
      () => {},
    );
    // After two complete exchanges, data without a delay would have arrived.
    for (let i = 0; i < 2; i++) await (await fetch(`${server.url}/v1/models`)).text();
    assert.equal(came, where !== 'first byte', where);
    if (where === 'stall') assert.equal((await first)?.value?.length, 40);
    stop.abort();
    await assert.rejects(async () => {
      await first;
      while (!(await reader?.read())?.done);
    }, where);
  }
});

test('after a delay the whole answer is sent', async () => {
  const slow = says('one two', { delayMs: 5, wire: { firstByteMs: 5, stall: { at: 20, ms: 5 } } });
  assert.match(await readWhole(slow), /\[DONE\]/);
  assert.match(await readWhole(says('one two', { chunkMs: 2 })), /" two".*\[DONE\]/s);
});

test('[fault 59] complete gzip can be read, and broken or truncated gzip cannot', async () => {
  assert.match(await readWhole(says('hello', { wire: { gzip: 'whole' } })), /hello/);
  for (const gzip of ['broken', 'cut'] as const) {
    await using server = await scriptedServer([says('hello', { wire: { gzip } })]);
    const response = await ask(server);
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    await assert.rejects(response.text(), gzip);
  }
});

test('a gzip response is compressed on the wire', async () => {
  await using server = await scriptedServer([says('hello', { wire: { gzip: 'whole' } })]);
  assert.match(gunzipSync(Buffer.concat(await readPieces(server))).toString(), /hello/);
});

test('[fault 59] a wrong content type, an HTML page with a success status, and any status and header', async () => {
  await using server = await scriptedServer([
    says('x', { wire: { contentType: 'text/plain' } }),
    sendsPage(),
    says('x', { wire: { status: 203, headers: { 'x-request-id': 'r1' } } }),
  ]);
  assert.equal((await ask(server)).headers.get('content-type'), 'text/plain');
  const page = await ask(server);
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.match(await page.text(), /^<!doctype html>/);
  const odd = await ask(server);
  assert.deepEqual([odd.status, odd.headers.get('x-request-id')], [203, 'r1']);
});

test('a recording is sent again byte for byte, text or not', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const exchange = {
    id: '1',
    host: 'h',
    path: '/v1/chat/completions',
    status: 418,
    contentType: 'text/x',
    request: {},
    body: 'a\r\n\u{1F600}',
    format: undefined,
  };
  await using server = await scriptedServer([sends({ body: bytes }), resendsExchange(exchange), sends({ body: '' })]);
  assert.deepEqual(new Uint8Array(await (await ask(server)).arrayBuffer()), bytes);
  const again = await ask(server);
  assert.deepEqual(
    [again.status, again.headers.get('content-type'), await again.text()],
    [418, 'text/x', 'a\r\n\u{1F600}'],
  );
  assert.equal(await (await ask(server)).text(), '');
});

test('[fault 60] 10 MB and 20,000 chunks are transferred completely', async () => {
  const long = 'x'.repeat(10_000_000);
  assert.ok((await readWhole(says(long))).length > long.length);
  const many = await readWhole({ chunks: Array.from({ length: 20_000 }, (_, i) => `t${i} `) });
  assert.equal(many.split('\n\n').filter((line) => line.includes('"content":"t')).length, 20_000);
});

test('a request that is not JSON, or has an unknown path, gets an error response and the server continues', async () => {
  await using server = await scriptedServer(['ok']);
  const garbage = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body: '{"model":' });
  assert.equal(garbage.status, 400);
  assert.equal(server.requests[0]?.body, undefined);
  assert.equal((await fetch(`${server.url}/nowhere`)).status, 404);
  const socket = connect(server.port, '127.0.0.1');
  socket.resume().end('not http\r\n\r\n');
  await new Promise((done) => socket.on('close', done).on('error', () => {}));
  assert.equal((await ask(server)).status, 200);
});
