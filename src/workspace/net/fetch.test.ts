// The network access of a workspace against real servers on this machine: what it refuses, which address it uses, which headers it sends, and its limits.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http, { type IncomingMessage, type RequestListener, type Server } from 'node:http';
import https from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { FairleadError, type FetchResult, type FetchRequest } from '../../core/index.ts';
import { localWorkspace, withNetwork, type NetworkOptions } from '../index.ts';
import { isPublicAddress } from './addresses.ts';
import { matchesHostList } from './hosts.ts';

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const serve = (t: TestContext, answer: RequestListener): Promise<number> => listen(t, http.createServer(answer));

type GuardedFetch = (
  request: string | FetchRequest,
  how?: { signal?: AbortSignal; timeoutMs?: number },
) => Promise<FetchResult>;

function createFetch(options: NetworkOptions): GuardedFetch {
  const workspace = withNetwork(localWorkspace({ roots: ['.'] }), options);
  return async (request, how) => {
    const fetched = await workspace.fetch?.(typeof request === 'string' ? { url: request } : request, how);
    assert.ok(fetched);
    return fetched;
  };
}

const privateNetwork: NetworkOptions = {
  privateHosts: ['127.0.0.1', 'one.test', 'two.test'],
  resolve: async () => ['127.0.0.1'],
};
const bodyText = ({ body }: FetchResult): string => Buffer.from(body).toString();
const hasCode = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof FairleadError, String(error));
  assert.equal(error.code, `network/${expected}`, error.message);
  return true;
};

test('a workspace has no network unless it is configured', () => {
  assert.ok(!('fetch' in localWorkspace({ roots: ['.'] })));
});

test('attacks 20, 58: only public internet addresses count as public, in any notation', () => {
  const closed =
    '127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.100.100.200 0.0.0.0 224.0.0.1 255.255.255.255 198.18.0.1 168.63.129.16 :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::7f00:1 64:ff9b::7f00:1 2002:7f00:1:: 2001::1 2001:db8::1 fec0::1 nonsense';
  for (const each of closed.split(' ')) assert.equal(isPublicAddress(each), false, each);
  for (const each of ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])
    assert.equal(isPublicAddress(each), true, each);
});

test('attacks 20, 58: private, loopback and metadata addresses are refused before anything is sent', async (t) => {
  let asked = 0;
  const port = await serve(t, (_, response) => response.end(String(asked++)));
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '[::ffff:7f00:1]',
    '[::1]',
    '0',
  ])
    await assert.rejects(createFetch({})(`http://${host}:${port}/`), hasCode('private'), host);
  await assert.rejects(createFetch({})('http://169.254.169.254/latest/meta-data'), hasCode('private'));
  await assert.rejects(createFetch({})(`http://localhost:${port}/`), hasCode('private'));
  const mixed = createFetch({ resolve: async () => ['1.1.1.1', '127.0.0.1'] });
  await assert.rejects(mixed(`http://rebind.test:${port}/`), hasCode('private'), 'one bad address is enough');
  assert.equal(asked, 0);
});

test('attack 58: a name is resolved once, and the checked address is the one that is used', async (t) => {
  const port = await serve(t, (_, response) => response.end('judged'));
  let questions = 0;
  const resolve = async (): Promise<readonly string[]> => [questions++ === 0 ? '127.0.0.1' : '127.0.0.2'];
  const fetched = await createFetch({ privateHosts: ['rebind.test'], resolve })(`http://rebind.test:${port}/`);
  assert.equal(bodyText(fetched), 'judged');
  assert.equal(questions, 1);
});

test('attacks 20, 58: credentials in a URL, other schemes and invalid URLs are refused', async () => {
  const ask = createFetch(privateNetwork);
  await assert.rejects(ask('https://allowed.com@evil.test/'), hasCode('credentials'));
  await assert.rejects(ask('https://allowed.com:pw@evil.test/'), hasCode('credentials'));
  for (const each of [
    'file:///etc/passwd',
    'ftp://a.test/',
    'javascript:1',
    'data:,x',
    'nothing',
    '',
    'http://a\0b.test/',
  ])
    await assert.rejects(ask(each), hasCode('bad-url'), each);
});

test('attacks 58, 59: an allow-list matches exact hosts, also for lookalikes', async () => {
  const listed = (url: string, ...list: readonly string[]): boolean => matchesHostList(new URL(url), list);
  for (const url of ['https://Allowed.com', 'https://allowed.com./x', 'https://allowed.com:8443'])
    assert.ok(listed(url, 'allowed.com'), url);
  for (const url of [
    'https://allowed.com.evil.com',
    'https://evilallowed.com',
    'https://аllowed.com',
    'https://a.allowed.com',
  ])
    assert.ok(!listed(url, 'allowed.com'), url);
  assert.ok(listed('https://a.b.allowed.com', '*.allowed.com'));
  assert.ok(!listed('https://allowed.com', '*.allowed.com'));
  assert.ok(listed('http://localhost:3000', 'localhost:3000') && !listed('http://localhost:3001', 'localhost:3000'));
  assert.ok(listed('https://allowed.com', 'allowed.com:443') && !listed('http://allowed.com', 'allowed.com:443'));
  assert.ok(
    listed('http://[::1]:80', '::1') && listed('http://[::1]:81', '[::1]:81') && !listed('http://[::1]', '[::1]:81'),
  );
  await assert.rejects(
    createFetch({ hosts: ['allowed.com'] })('https://allowed.com.evil.com/'),
    hasCode('not-allowed'),
  );
});

test('attack 58: each hop of a redirect is checked again', async (t) => {
  const port = await serve(t, ({ url = '' }, response) => {
    if (url.startsWith('/to?')) response.writeHead(302, { location: decodeURIComponent(url.slice(4)) });
    response.end(`at ${url}`);
  });
  const base = `http://127.0.0.1:${port}`;
  const ask = createFetch(privateNetwork);
  const to = (place: string): string => `${base}/to?${encodeURIComponent(place)}`;
  const found = await ask(to('/there'));
  assert.deepEqual([bodyText(found), found.url], ['at /there', `${base}/there`]);
  await assert.rejects(ask(to('http://169.254.169.254/')), hasCode('private'));
  await assert.rejects(ask(to(to('http://[::1]/'))), hasCode('private'));
  await assert.rejects(ask(to('http://u:p@one.test/')), hasCode('credentials'));
  await assert.rejects(ask(to('file:///etc/passwd')), hasCode('bad-url'));
  await assert.rejects(
    createFetch({ ...privateNetwork, privateHosts: [`127.0.0.1:${port}`], hosts: [] })(to('http://two.test/')),
    hasCode('not-allowed'),
  );
  const chain = (hops: number): string => (hops === 0 ? '/end' : `/to?${encodeURIComponent(chain(hops - 1))}`);
  assert.equal(bodyText(await ask(base + chain(5))), 'at /end');
  await assert.rejects(ask(base + chain(6)), hasCode('redirects'));
});

test('attack 58: credentials are not sent to another site after a redirect, and a POST is not repeated there', async (t) => {
  const seen: IncomingMessage[] = [];
  const bodies: string[] = [];
  const port = await serve(t, (request, response) => {
    seen.push(request);
    const place = bodies.push('') - 1;
    request.on('data', (piece: Buffer) => (bodies[place] += piece.toString()));
    const [, status, host = ''] = /^\/(\d+)\/(\w+)/.exec(request.url ?? '') ?? [];
    if (status) response.writeHead(Number(status), { location: `http://${host}.test:${port}/` });
    request.on('end', () => response.end());
  });
  const ask = (url: string, rest: Partial<FetchRequest> = {}): Promise<FetchResult> =>
    createFetch(privateNetwork)({
      url: `http://one.test:${port}${url}`,
      headers: { Authorization: 'Bearer k', 'X-Key': 'k', Accept: 'a/b' },
      ...rest,
    });
  await ask('/302/two');
  assert.deepEqual(
    seen.map(({ headers }) => [headers.authorization, headers['x-key'], headers.accept, headers.cookie]),
    [
      ['Bearer k', 'k', 'a/b', undefined],
      [undefined, undefined, 'a/b', undefined],
    ],
  );
  await ask('/302/one');
  assert.equal(seen.at(-1)?.headers.authorization, 'Bearer k', 'the same site may get it');
  await assert.rejects(ask('/307/two', { method: 'POST', body: 'secret' }), hasCode('redirects'));
  await ask('/307/one', { method: 'POST', body: 'twice' });
  assert.deepEqual(bodies.splice(0).slice(-3), ['secret', 'twice', 'twice']);
  await ask('/303/two', { method: 'POST', body: 'once' });
  assert.deepEqual(bodies, ['once', '']);
  assert.equal(seen.at(-1)?.method, 'GET');
});

test('a response is decompressed up to a limit: a small one cannot become a huge one', async (t) => {
  const packed: Record<string, Buffer> = {
    gzip: gzipSync(Buffer.alloc(50_000_000)),
    deflate: deflateSync('deflated'),
    br: brotliCompressSync('crushed'),
  };
  const port = await serve(t, ({ url = '' }, response) => {
    const how = url.slice(1);
    if (how === 'endless') {
      const more = (): void =>
        void (response.write('x'.repeat(65_536)) ? setImmediate(more) : response.once('drain', more));
      return more();
    }
    return response.writeHead(200, { 'content-encoding': how, 'set-cookie': ['a=1', 'b=2'] }).end(packed[how]);
  });
  const ask = (how: string, most?: number): Promise<FetchResult> =>
    createFetch(privateNetwork)({
      url: `http://127.0.0.1:${port}/${how}`,
      ...(most === undefined ? {} : { maxBytes: most }),
    });
  assert.equal(bodyText(await ask('deflate')), 'deflated');
  assert.equal(bodyText(await ask('br')), 'crushed');
  assert.equal((await ask('br')).headers['set-cookie'], 'a=1, b=2');
  const bomb = await ask('gzip', 1000);
  assert.deepEqual([bomb.body.length, bomb.truncated], [1000, true]);
  const endless = await ask('endless');
  assert.deepEqual([endless.body.length, endless.truncated], [5 * 1024 * 1024, true]);
});

test('a request to a server that never answers ends at its timeout, and at once when the run is stopped', async (t) => {
  const port = await serve(t, ({ url }, response) => void (url === '/half' && response.write('half')));
  const ask = createFetch(privateNetwork);
  await assert.rejects(ask(`http://127.0.0.1:${port}/`, { timeoutMs: 50 }), hasCode('timeout'));
  await assert.rejects(ask(`http://127.0.0.1:${port}/half`, { timeoutMs: 50 }), hasCode('timeout'));
  await assert.rejects(
    createFetch({ resolve: () => new Promise(() => {}) })('http://slow.test/', { timeoutMs: 50 }),
    hasCode('timeout'),
  );
  const stop = new AbortController();
  const waiting = ask(`http://127.0.0.1:${port}/`, { signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, hasCode('interrupted'));
});

test('an unreachable host is reported in one sentence without the path', async (t) => {
  const port = await serve(t, (request) => request.socket.destroy());
  await assert.rejects(createFetch(privateNetwork)(`http://127.0.0.1:${port}/?key=k3y`), (error: Error) => {
    assert.match(error.message, /^127\.0\.0\.1:\d+ could not be reached: ECONNRESET\.$/);
    return hasCode('failed')(error);
  });
  const unknown = async (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  await assert.rejects(createFetch({ resolve: unknown })('http://nobody.test/'), hasCode('unknown-host'));
});

test('connection methods and headers are refused', async () => {
  const ask = (rest: Partial<FetchRequest>): Promise<FetchResult> =>
    createFetch(privateNetwork)({ url: 'http://one.test/', ...rest });
  for (const method of ['CONNECT', 'TRACE', 'get', 'GET / HTTP/1.1\r\nx:'])
    await assert.rejects(ask({ method }), hasCode('bad-request'));
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'Proxy-Authorization', 'a b'])
    await assert.rejects(ask({ headers: { [name]: 'x' } }), hasCode('bad-request'), name);
  await assert.rejects(ask({ headers: { a: 'b\r\nc: d' } }), hasCode('bad-request'));
});

const openssl = ((): string | false => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'openssl is not installed';
  }
})();

test('https uses the host name for TLS, and an untrusted certificate is refused', { skip: openssl }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-net-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name)) as [string, string];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      '-subj',
      '/CN=one.test',
      '-addext',
      'subjectAltName=DNS:one.test',
    ],
    { stdio: 'ignore' },
  );
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url }, response) => {
    if (url === '/down') response.writeHead(302, { location: 'http://one.test/' });
    response.end('private talk');
  });
  const port = await listen(t, server);
  const trusting = createFetch({ ...privateNetwork, ca: readFileSync(cert, 'utf8') });
  assert.equal(bodyText(await trusting(`https://one.test:${port}/`)), 'private talk');
  await assert.rejects(trusting(`https://one.test:${port}/down`), hasCode('redirects'));
  await assert.rejects(trusting(`https://two.test:${port}/`), hasCode('failed'));
  await assert.rejects(createFetch(privateNetwork)(`https://one.test:${port}/`), hasCode('failed'));
});

test('a proxy is used only if it is configured, and never because of an environment variable', async (t) => {
  const port = await serve(t, (_, response) => response.end('direct'));
  const through: string[] = [];
  const proxyServer = http.createServer(({ url = '' }, response) => {
    through.push(url);
    response.end('by proxy');
  });
  proxyServer.on('connect', ({ url = '' }, socket: Socket) => {
    through.push(url);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  const proxy = `http://127.0.0.1:${await listen(t, proxyServer)}`;
  const before = { ...process.env };
  Object.assign(process.env, { HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: '1' });
  t.after(() => (process.env = before));
  assert.equal(bodyText(await createFetch(privateNetwork)(`http://one.test:${port}/`)), 'direct');
  assert.deepEqual(through, []);
  assert.ok(bodyText(await createFetch({ ...privateNetwork, proxy })(`http://one.test:${port}/`)));
  assert.equal(through.length, 1);
  await assert.rejects(createFetch({ proxy })(`http://127.0.0.1:${port}/`), hasCode('private'));
});
