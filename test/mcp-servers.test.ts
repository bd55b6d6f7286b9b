// Tests the published reference MCP servers over stdio, HTTP and SSE.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { McpStdioConfig } from '../src/tools/mcp/index.ts';
import { getMcpPrompt, listMcpPrompts } from '../src/tools/mcp/resources.ts';
import { createTempDir, openMcpServers, createUserServer, type McpFixture } from './support/mcp-fixture.ts';
import { missingServers, getServerProgram } from './support/mcp-reference-servers.ts';

const createLocalServer = (
  name: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): McpStdioConfig => ({
  type: 'stdio',
  command: process.execPath,
  args: [getServerProgram(name), ...args],
  env,
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    return false;
  } finally {
    socket.destroy();
  }
}

/** Starts the everything server on a port, and waits until it can be reached. */
async function startEverythingServer(
  t: TestContext,
  how: 'streamableHttp' | 'sse',
): Promise<{ url: string; kill: () => void }> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [getServerProgram('server-everything'), how], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
  while (!(await isOpen(port))) assert.equal(child.exitCode, null);
  return { url: `http://127.0.0.1:${port}`, kill: () => void child.kill('SIGKILL') };
}

/** Checks what the everything server must return over every transport. */
async function checkEverything({ mcp, call }: McpFixture): Promise<void> {
  const [status] = mcp.status();
  assert.equal(status?.state, 'ready', status?.why);
  assert.equal((await call('mcp__e__echo', { message: 'hi' })).text, 'Echo: hi');
  assert.match((await call('mcp__e__get-sum', { a: 2, b: 40 })).text, /42/);
  assert.match(
    (await call('mcp__e__get-tiny-image')).text,
    /\[image, image\/png, \d+×\d+ pixels, \d+ bytes, (?:not )?shown/,
  );
  const structured = await call('mcp__e__get-structured-content', { location: 'Chicago' });
  assert.equal((structured.data as { temperature?: unknown }).temperature, 36);
  assert.match((await call('mcp__e__get-sum', { a: 'x' })).text, /Expected "number"|required property/);
  assert.match((await call('mcp__e__get-resource-links', { count: 2 })).text, /\[resource .*: demo:/);
}

test(
  '[P63] the everything server over stdio: tools, structure, images, resources and prompts',
  { skip: missingServers },
  async (t) => {
    process.env['FAIRLEAD_TEST_TOKEN'] = 'secret-of-ours';
    t.after(() => delete process.env['FAIRLEAD_TEST_TOKEN']);
    const desk = await openMcpServers(t, [createUserServer('e', createLocalServer('server-everything'))], {
      roots: [import.meta.dirname],
    });
    await checkEverything(desk);
    const { mcp, call } = desk;
    assert.doesNotMatch((await call('mcp__e__get-env')).text, /secret-of-ours/);
    const listed = await call('list_mcp_resources', { server: 'e' });
    const [uri] = /^demo:\/\/\S+(?=:)/m.exec(listed.text) ?? [];
    assert.ok(uri, listed.text);
    assert.equal((await call('read_mcp_resource', { server: 'e', uri })).outcome, 'ok');
    assert.match((await call('read_mcp_resource', { server: 'e', uri: 'demo://nothing' })).text, /./);
    const signal = new AbortController().signal;
    const prompts = await listMcpPrompts(mcp.connections, signal);
    const simple = prompts.find(({ arguments: args }) => args.length === 0);
    assert.ok(simple);
    assert.match(await getMcpPrompt(mcp.connections, simple, {}, signal), /\w+/);
    const said: string[] = [];
    const work = mcp.tools.find(({ name }) => name === 'mcp__e__trigger-long-running-operation');
    await work?.execute({ duration: 1, steps: 2 }, {
      signal,
      progress: (text: string) => void said.push(text),
    } as never);
    assert.equal(said[0], '1 of 2\n');
  },
);

test('[P63] the everything server over HTTP and over SSE', { skip: missingServers }, async (t) => {
  const http = await startEverythingServer(t, 'streamableHttp');
  await checkEverything(
    await openMcpServers(t, [createUserServer('e', { type: 'http', url: `${http.url}/mcp`, headers: {} })]),
  );
  const sse = await startEverythingServer(t, 'sse');
  await checkEverything(
    await openMcpServers(t, [createUserServer('e', { type: 'sse', url: `${sse.url}/sse`, headers: {} })]),
  );
});

test(
  '[A99] kill -9 of an HTTP server during a call: an unknown outcome long before the timeout of the call, then one sentence',
  { skip: missingServers },
  async (t) => {
    const { url, kill } = await startEverythingServer(t, 'streamableHttp');
    const server = createUserServer('e', { type: 'http', url: `${url}/mcp`, headers: {} }, { timeoutMs: 2 ** 30 });
    const { mcp, call } = await openMcpServers(t, [server]);
    const work = mcp.tools.find(({ name }) => name === 'mcp__e__trigger-long-running-operation');
    const begun = Promise.withResolvers<void>();
    const signal = new AbortController().signal;
    const pending = work?.execute({ duration: 60, steps: 600 }, { signal, progress: () => begun.resolve() } as never);
    await begun.promise;
    kill();
    assert.partialDeepStrictEqual(await pending, { failed: true, outcomeUnknown: true });
    assert.match((await call('mcp__e__echo', { message: 'hi' })).text, /^echo was not run: /);
  },
);

test(
  '[P63] the filesystem server writes and reads inside its directory and refuses paths outside it',
  { skip: missingServers },
  async (t) => {
    const folder = createTempDir(t);
    const inside = path.join(folder, 'in');
    mkdirSync(inside);
    writeFileSync(path.join(folder, 'secret.txt'), 'secret');
    symlinkSync(folder, path.join(inside, 'out'));
    const { mcp, call } = await openMcpServers(t, [
      createUserServer('fs', createLocalServer('server-filesystem', [inside])),
    ]);
    const file = path.join(inside, 'a.txt');
    assert.equal((await call('mcp__fs__write_file', { path: file, content: 'hello\n' })).outcome, 'ok');
    assert.equal(readFileSync(file, 'utf8'), 'hello\n');
    assert.match((await call('mcp__fs__read_text_file', { path: file })).text, /hello/);
    const outside = await call('mcp__fs__read_text_file', { path: path.join(inside, 'out/secret.txt') });
    assert.equal(outside.outcome, 'failed');
    assert.match((await call('mcp__fs__read_text_file', { path: file, head: 'x' })).text, /Expected "number"/);
    const effects = new Set(mcp.tools.filter(({ name }) => name.startsWith('mcp__')).map(({ effect }) => effect));
    assert.deepEqual([...effects], ['external']);
    const trusted = await openMcpServers(t, [
      createUserServer('fs', createLocalServer('server-filesystem', [inside]), { trustReadOnly: true }),
    ]);
    const effectOf = (name: string): unknown => trusted.mcp.tools.find((tool) => tool.name === name)?.effect;
    assert.deepEqual([effectOf('mcp__fs__read_text_file'), effectOf('mcp__fs__write_file')], ['read', 'external']);
  },
);

test('[P63] the memory server keeps its entities from one session to the next', { skip: missingServers }, async (t) => {
  const env = { MEMORY_FILE_PATH: path.join(createTempDir(t), 'memory.jsonl') };
  const first = await openMcpServers(t, [createUserServer('m', createLocalServer('server-memory', [], env))]);
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
  assert.equal((await first.call('mcp__m__create_entities', { entities })).outcome, 'ok');
  await first.mcp.close();
  const second = await openMcpServers(t, [createUserServer('m', createLocalServer('server-memory', [], env))]);
  const graph = await second.call('mcp__m__read_graph');
  assert.match(graph.text, /Ada/);
  assert.partialDeepStrictEqual(graph.data, { entities: [{ name: 'Ada' }] });
});
