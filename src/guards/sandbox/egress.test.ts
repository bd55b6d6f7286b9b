// The egress proxy of a sandbox: listed hosts and nothing else, tested with real servers from inside and outside.
import { noNodeInside } from '../../../test/support/sandbox.ts';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { localWorkspace } from '../../workspace/index.ts';
import { chooseSandbox } from './choose.ts';
import { startEgressProxy, type EgressProxy } from './egress.ts';
import { withSandbox } from './sandbox.ts';

async function server(t: TestContext, says: string): Promise<number> {
  const made: Server = createServer((_, answer) => answer.end(says));
  await new Promise<void>((resolve) => void made.listen(0, '127.0.0.1', resolve));
  t.after(() => made.close());
  return (made.address() as AddressInfo).port;
}

/** Returns the response of the proxy to one raw request. */
const sendRaw = (proxy: EgressProxy, words: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(proxy.socket, () => socket.write(words));
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes)));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });

const httpGet = (proxy: EgressProxy, url: string): Promise<string> =>
  sendRaw(proxy, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
const httpConnect = (proxy: EgressProxy, to: string): Promise<string> =>
  sendRaw(proxy, `CONNECT ${to} HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

test('only listed hosts and ports are reachable, with plain requests and through CONNECT', async (t) => {
  const port = await server(t, 'reached');
  const other = await server(t, 'not this one');
  const proxy = await startEgressProxy({ hosts: [`localhost:${port}`, '*.example.invalid'], isPublic: () => true });
  t.after(() => proxy.close());
  assert.match(await httpGet(proxy, `http://localhost:${port}/`), /^HTTP\/1\.1 200[^]*reached/);
  assert.match(await httpGet(proxy, `http://LOCALHOST.:${port}/`), /^HTTP\/1\.1 200/);
  assert.match(await httpConnect(proxy, `localhost:${port}`), /^HTTP\/1\.1 200 Connection Established[^]*reached/);
  const refused = [
    `localhost:${other}`,
    'localhost:80',
    `127.0.0.1:${port}`,
    `localhost.evil:${port}`,
    `evil-localhost:${port}`,
    `a@localhost:${port}`,
    'example.invalid:443',
  ];
  for (const each of refused) {
    assert.match(await httpGet(proxy, `http://${each}/`), /^HTTP\/1\.1 (403|400)/, each);
    assert.match(await httpConnect(proxy, each), /^HTTP\/1\.1 (403|400)/, each);
  }
  assert.match(
    await httpGet(proxy, `file:///etc/passwd`),
    /^HTTP\/1\.1 403[^]*The user can allow a host: fairlead config set/,
  );
});

test('[attack 59] a host name with a NUL character is refused', async (t) => {
  const proxy = await startEgressProxy({ hosts: ['*.localhost'], isPublic: () => true });
  t.after(() => proxy.close());
  for (const name of ['evil\0.localhost', 'evil%00.localhost', 'evil .localhost'])
    assert.doesNotMatch(await httpConnect(proxy, `${name}:80`), /Established/);
});

test('a listed name that resolves to a private address is refused', async (t) => {
  const port = await server(t, 'inside');
  const proxy = await startEgressProxy({
    hosts: [`localhost:${port}`],
    isPublic: (address) => !/^(127\.|::1)/.test(address),
  });
  t.after(() => proxy.close());
  assert.match(await httpGet(proxy, `http://localhost:${port}/`), /^HTTP\/1\.1 403/);
  assert.match(await httpConnect(proxy, `localhost:${port}`), /^HTTP\/1\.1 403/);
});

test('closing the proxy removes its directory', async () => {
  const proxy = await startEgressProxy({ hosts: [], isPublic: () => true });
  proxy.close();
  assert.ok(!existsSync(proxy.folder));
});

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-out-')));
const work = path.join(root, 'work');
mkdirSync(work);
const search = process.env['PATH'] ?? '';
const sandboxPaths = { roots: [work], home: homedir(), path: `${path.dirname(process.execPath)}:${search}` };
const found = await chooseSandbox({ ...sandboxPaths, egress: { hosts: ['x'], isPublic: () => true } });
const skip = found.name === 'refused' ? found.description : false;

test(
  '[attack 76] from inside the sandbox a listed host is reachable through the proxy, and nothing else is',
  { skip: skip || noNodeInside },
  async (t) => {
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const port = await server(t, 'reached');
    const sandbox = await chooseSandbox({
      ...sandboxPaths,
      egress: { hosts: [`localhost:${port}`], isPublic: () => true },
    });
    const inside = withSandbox(localWorkspace({ roots: [work] }), sandbox);
    const client = (host: string): string =>
      `'${process.execPath}' -e "require('node:http').get({host:'127.0.0.1',port:3128,path:'http://${host}/'},(r)=>r.pipe(process.stdout))"`;
    const { text } = await inside.exec(
      `${client(`localhost:${port}`)}; echo; ${client('other.example')}; (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo leaked; echo $HTTPS_PROXY`,
    );
    assert.match(
      text,
      /^reached\nother\.example:80 is not allowed for commands\.[^\n]*\nhttp:\/\/127\.0\.0\.1:3128\n$/,
    );
    assert.match(sandbox.description, new RegExp(`localhost:${port}`));
  },
);
