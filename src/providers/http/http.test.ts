// Tests requests to real servers on loopback: reuse and release of connections, typed errors, no secrets in messages.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import zlib from 'node:zlib';
import { FairleadError } from '../../core/index.ts';
import type { ProviderInfo } from './errors.ts';
import { getJson, redactUrl, post, postJson, readReplyText, type PostOptions } from './http.ts';

const providerInfo: ProviderInfo = { name: 'acme', secrets: ['sk-secret'] };
const neverAborted = new AbortController().signal;

async function listen(t: TestContext, server: http.Server | net.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    if (server instanceof http.Server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type ServerHandler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** Starts a server; returns its address and the number of its connections. */
async function serve(
  t: TestContext,
  answer: ServerHandler,
): Promise<{ readonly url: string; readonly connections: () => number }> {
  let connections = 0;
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => answer(request, response, Buffer.concat(pieces)));
  });
  server.on('connection', () => connections++);
  return { url: await listen(t, server), connections: () => connections };
}

const send = (url: string, more: Partial<PostOptions> = {}): ReturnType<typeof post> =>
  post({ url, body: ['{}'], signal: neverAborted, providerInfo, ...more });

const textOf = async (url: string, more: Partial<PostOptions> = {}): Promise<string> =>
  readReplyText(await send(url, more), providerInfo);

const expectError = async (work: Promise<unknown>): Promise<FairleadError> => {
  const error: unknown = await work.then(
    () => assert.fail('it worked'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof FairleadError, String(error));
  assert.ok(!inspect(error, { depth: 10 }).includes('sk-secret'), 'the secret is in the error');
  return error;
};

test('[A3] the pieces of a body arrive as one body, with its length and headers', async (t) => {
  const { url } = await serve(t, (request, response, body) => {
    response.end(
      JSON.stringify([request.method, request.headers['content-length'], request.headers['x-a'], body.toString()]),
    );
  });
  const body = [Buffer.from('{"a":'), '"é"', Buffer.from('}')];
  assert.deepEqual(JSON.parse(await textOf(url, { body, headers: { 'x-a': 'b' } })), ['POST', '10', 'b', '{"a":"é"}']);
  assert.deepEqual(await getJson({ url, signal: neverAborted, providerInfo }), ['GET', null, null, '']);
  assert.deepEqual(await postJson({ url, signal: neverAborted, providerInfo }, { b: 1 }), [
    'POST',
    '7',
    null,
    '{"b":1}',
  ]);
});

test('[A3] one connection serves many requests, one after the other', async (t) => {
  const { url, connections } = await serve(t, (_, response) => response.end('ok'));
  for (let i = 0; i < 5; i++) assert.equal(await textOf(url), 'ok');
  assert.equal(connections(), 1);
});

test('[A54] a reused connection that the server has closed is replaced once', async (t) => {
  let served = 0;
  const sockets = new Set<net.Socket>();
  const server = http.createServer((request, response) => {
    request.resume();
    served++;
    if (served === 2) return void request.socket.resetAndDestroy();
    response.end(`answer ${served}`);
  });
  server.on('connection', (socket) => sockets.add(socket));
  const url = await listen(t, server);
  assert.equal(await textOf(url), 'answer 1');
  assert.equal(await textOf(url), 'answer 3');
  assert.equal(sockets.size, 2);
  served = 1;
  assert.equal((await expectError(textOf(url))).code, 'provider/cut', 'a fresh connection is not tried again');
});

test('[A54] a refused connection and an unknown host are unreachable and retryable (fault 44)', async (t) => {
  const server = net.createServer();
  const url = await listen(t, server);
  await new Promise((resolve) => server.close(resolve));
  const refused = await expectError(send(url));
  assert.deepEqual([refused.code, refused.retry], ['provider/unreachable', true]);
  assert.equal((await expectError(send('http://no-such-host.invalid/'))).code, 'provider/unreachable');
});

test('[A54] https to a server without TLS is a TLS error (fault 44)', async (t) => {
  const { url } = await serve(t, (_, response) => response.end());
  const error = await expectError(send(url.replace('http:', 'https:')));
  assert.deepEqual([error.code, error.retry], ['provider/tls', false]);
});

test('[A54] a reply that is not HTTP is malformed', async (t) => {
  const url = await listen(
    t,
    net.createServer((socket) => socket.end('SSH-2.0-nope\r\n').on('error', () => {})),
  );
  assert.equal((await expectError(send(url))).code, 'provider/malformed');
});

test('an invalid address and a key with an invalid character have clear errors', async () => {
  for (const url of ['not a url', 'ftp://x/', 'localhost:11434'])
    assert.equal((await expectError(send(url))).code, 'provider/bad-address');
  const error = await expectError(send('http://127.0.0.1:1/', { headers: { authorization: 'Bearer sk-secret\n' } }));
  assert.equal(error.code, 'provider/bad-request');
  assert.equal(redactUrl('http://user:pass@host/path?key=abc'), 'http://host/path');
});

test('[A54] a reply that ends early is truncated, with a content length and without (fault 46)', async (t) => {
  const { url } = await serve(t, (request, response) => {
    response.writeHead(200, request.url === '/length' ? { 'content-length': '100' } : {});
    response.write('half', () => response.destroy());
  });
  for (const kind of ['/length', '/chunked']) {
    const reply = await send(url + kind);
    const seen: string[] = [];
    const error = await expectError(
      (async () => {
        for await (const piece of reply.body) seen.push(piece.toString());
      })(),
    );
    assert.deepEqual([error.code, error.retry, seen.join('')], ['provider/cut', true, 'half']);
  }
});

test('[A54] compressed replies are decompressed; damaged ones are malformed (fault 59)', async (t) => {
  const text = 'héllo '.repeat(5000);
  const codings: Readonly<Record<string, (data: Buffer) => Buffer>> = {
    gzip: zlib.gzipSync,
    br: zlib.brotliCompressSync,
    deflate: zlib.deflateSync,
    zstd: zlib.zstdCompressSync,
  };
  const { url } = await serve(t, (request, response) => {
    const [, coding = '', how] = (request.url ?? '').split('/');
    const whole = codings[coding]?.(Buffer.from(text)) ?? Buffer.alloc(0);
    const sent = how === 'broken' ? Buffer.concat([Buffer.from('no such thing'), whole]) : whole;
    response.writeHead(200, { 'content-encoding': coding });
    response.end(how === 'short' ? sent.subarray(0, sent.length - 12) : sent);
  });
  for (const coding of Object.keys(codings)) {
    assert.equal(await textOf(`${url}/${coding}/whole`), text, coding);
    for (const how of ['broken', 'short'])
      assert.equal(
        (await expectError(textOf(`${url}/${coding}/${how}`))).code,
        'provider/malformed',
        `${coding} ${how}`,
      );
  }
});

test('[A54] an aborted request ends at once with the abort reason', async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === '/body') response.write('begun');
  });
  const mine = new FairleadError('provider/stalled', 'It stalled.', { blame: 'provider', retry: true });
  const early = AbortSignal.abort();
  assert.equal((await expectError(send(url, { signal: early }))).code, 'run/cancelled');
  const waiting = new AbortController();
  const asked = send(url, { signal: waiting.signal });
  setImmediate(() => waiting.abort(mine));
  assert.equal(await expectError(asked), mine);
  const reading = new AbortController();
  const reply = await send(`${url}/body`, { signal: reading.signal });
  const read = readReplyText(reply, providerInfo);
  setImmediate(() => reading.abort(mine));
  assert.equal(await expectError(read), mine);
});

test('a redirect is not followed, so no other server gets the key', async (t) => {
  const other = await serve(t, (_, response) => response.end());
  const { url } = await serve(t, (_, response) => response.writeHead(307, { location: other.url }).end());
  const error = await expectError(
    getJson({ url, signal: neverAborted, providerInfo, headers: { authorization: 'Bearer sk-secret' } }),
  );
  assert.equal(error.code, 'provider/redirected');
  assert.equal(other.connections(), 0);
});

test('[A5] JSON of any size is parsed; any other body is malformed, or an error by its status', async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === '/page') return void response.end('<html>Sign in</html>');
    response.writeHead(404).end('{"error":"no such model"}');
  });
  const page = await expectError(getJson({ url: `${url}/page`, signal: neverAborted, providerInfo }));
  assert.equal(page.code, 'provider/malformed');
  assert.match(page.message, /Sign in/);
  const missing = await expectError(getJson({ url, signal: neverAborted, providerInfo }));
  assert.equal(missing.code, 'provider/not-found');
  assert.match(missing.message, /no such model/);
});

test('[A54] a status counts even if its body ends early', async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.writeHead(401, { 'content-length': '100' });
    response.write('{"error":', () => response.destroy());
  });
  assert.equal((await expectError(getJson({ url, signal: neverAborted, providerInfo }))).code, 'provider/unauthorized');
});

test('a signal used for many requests does not accumulate listeners', async (t) => {
  const { url } = await serve(t, (_, response) => response.end('ok'));
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) await textOf(url, { signal });
  await new Promise(setImmediate);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a reader that stops early keeps the connection if little is left; otherwise it is closed', async (t) => {
  const closed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let written = 0;
  const { url, connections } = await serve(t, (request, response) => {
    response.write('first');
    if (request.url === '/endless') {
      const timer = setInterval(() => {
        written += 65_536;
        response.write(Buffer.alloc(65_536));
      }, 1);
      response.on('close', () => {
        clearInterval(timer);
        closed.resolve();
      });
    } else setTimeout(() => response.end('last', () => ended.resolve()), 30);
  });
  const leave = async (place: string): Promise<void> => {
    for await (const piece of (await send(url + place)).body) {
      assert.ok(piece.length > 0);
      return;
    }
  };
  await leave('/');
  await ended.promise;
  await new Promise((resolve) => setTimeout(resolve, 50));
  await leave('/');
  assert.equal(connections(), 1);
  await leave('/endless');
  await closed.promise;
  assert.ok(written < 10 * 2 ** 20, 'it was listened to for too long');
});

test('a slow reader causes back-pressure on the server', async (t) => {
  const whole = Buffer.alloc(20 * 2 ** 20, 'x');
  let written = 0;
  const { url } = await serve(t, (_, response) => {
    response.on('error', () => {});
    for (let from = 0; from < whole.length; from += 65_536)
      response.write(whole.subarray(from, from + 65_536), () => (written += 65_536));
    response.end();
  });
  const reply = await send(url);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(written < whole.length, 'everything was taken in at once');
  assert.equal((await readReplyText(reply, providerInfo)).length, whole.length);
});

test('[A54] a proxy from the environment is used, and one that requires credentials is an error that says so (fault 44)', async (t) => {
  const seen: string[] = [];
  const proxy = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.writeHead(407).end();
  });
  proxy.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  const url = (await listen(t, proxy)).replace('http://', 'http://user:sk-secret@');
  const script = `
    import { getJson } from ${JSON.stringify(new URL('http.ts', import.meta.url).href)};
    const who = { name: 'acme' };
    for (const url of ['https://acme.test/a', 'http://acme.test/b'])
      await getJson({ url, signal: new AbortController().signal, providerInfo: who }).catch((error) => console.log(error.code, error.message));
  `;
  const run = (): Promise<string> => {
    return new Promise((resolve, reject) => {
      execFile(
        process.execPath,
        ['--input-type=module', '-e', script],
        { env: { HTTP_PROXY: url, HTTPS_PROXY: url } },
        (error, stdout) => (error ? reject(error) : resolve(stdout)),
      );
    });
  };
  const output = await run();
  assert.deepEqual(seen, ['CONNECT acme.test:443', 'GET http://acme.test/b']);
  assert.equal(output.match(/provider\/proxy/g)?.length, 2);
  assert.ok(!output.includes('sk-secret'));
});
