// Every transport to a server, and the outcome of a call when the connection fails.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { McpServer, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { createInProcessServer, openMcpServers, createUserServer } from '../../../test/support/mcp-fixture.ts';
import { createListedTool, createTextResult, type McpBehaviour } from '../../../test/support/mcp-server.ts';
import { startMcpHttpServer, type RequestInterceptor } from '../../../test/support/mcp-http-server.ts';
import type { McpInProcessConfig, McpRemoteConfig } from './index.ts';

const echo: McpBehaviour = {
  tools: [createListedTool('echo')],
  call: (_tool, { a = '' }) => createTextResult(`you said ${String(a)}`),
};

const remote = (type: McpRemoteConfig['type'], url: string, headers: Record<string, string> = {}): McpRemoteConfig => ({
  type,
  url,
  headers,
});

test('[P63] the same server answers in-process, over HTTP, over SSE and over a WebSocket', async (t) => {
  const { url, requests } = await startMcpHttpServer(t, echo);
  const { mcp, call } = await openMcpServers(t, [
    createUserServer('inside', createInProcessServer(echo)),
    createUserServer('http', remote('http', `${url}/mcp`, { 'x-key': 'k' })),
    createUserServer('sse', remote('sse', `${url}/sse`)),
    createUserServer('ws', remote('ws', `${url.replace('http', 'ws')}/ws`)),
  ]);
  for (const { server, state, why } of mcp.status()) assert.equal(state, 'ready', `${server}: ${why}`);
  for (const name of ['inside', 'http', 'sse', 'ws'])
    assert.equal((await call(`mcp__${name}__echo`, { a: name })).text, `you said ${name}`);
  const posts = requests.filter(({ message, headers }) => message.method === 'tools/call' && 'x-key' in headers);
  assert.deepEqual(
    posts.map(({ headers }) => [headers['x-key'], headers['mcp-session-id']]),
    [['k', 's1']],
  );
});

test('a call that the server refuses does not end another call that is running on the same connection', async (t) => {
  const started = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  let calls = 0;
  const behaviour: McpBehaviour = {
    tools: [createListedTool('pay'), createListedTool('look')],
    async call() {
      calls++;
      started.resolve();
      await refused.promise;
      return createTextResult('paid');
    },
  };
  const refuseLook: RequestInterceptor = ({ message }, response) => {
    if (message.method !== 'tools/call' || message.params?.['name'] !== 'look') return false;
    response.writeHead(403).end();
    return true;
  };
  const { url } = await startMcpHttpServer(t, behaviour, refuseLook);
  const { call } = await openMcpServers(t, [createUserServer('http', remote('http', `${url}/mcp`))]);
  const payment = call('mcp__http__pay');
  await started.promise;
  assert.match((await call('mcp__http__look')).text, /look was not run/);
  refused.resolve();
  assert.deepEqual([(await payment).text, calls], ['paid', 1]);
});

test('[P63] a server of the newest protocol version is used with it, including its input requests', async (t) => {
  const factory = (): McpServer => {
    const server = new McpServer({ name: 'modern', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    server.registerTool('ask', { inputSchema: z.object({}) }, (_input, { mcpReq: { inputResponses } }) => {
      if (inputResponses) return { content: [{ type: 'text', text: JSON.stringify(inputResponses) }] };
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
      return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema }) } });
    });
    return server;
  };
  const serve: McpInProcessConfig['serve'] = (transport) => {
    serveStdio(factory, { transport });
    return Promise.resolve();
  };
  const server = createUserServer('modern', { type: 'in-process', serve });
  const { mcp, call } = await openMcpServers(t, [server], {
    elicit: ({ message }) => Promise.resolve({ type: 'accept', content: { name: `${message} Ada` } }),
  });
  assert.equal(mcp.status()[0]?.protocol, '2026-07-28');
  assert.match((await call('mcp__modern__ask')).text, /"name":"Who\? Ada"/);
  const silent = await openMcpServers(t, [server]);
  const refused = await silent.call('mcp__modern__ask');
  assert.equal(refused.outcome, 'failed', refused.text);
});

/** Makes the first calls of tools fail in this way. */
function failing(...statuses: readonly (number | 'cut')[]): RequestInterceptor {
  const left = [...statuses];
  return ({ message }, response) => {
    const next = message.method === 'tools/call' ? left.shift() : undefined;
    if (next === undefined) return false;
    if (next === 'cut') response.destroy();
    else response.writeHead(next).end();
    return true;
  };
}

test('a call that was refused because its session was lost is sent again in a new one; an interrupted call is not', async (t) => {
  const calls = (asked: readonly { readonly message: { readonly method?: string } }[]): number =>
    asked.filter(({ message }) => message.method === 'tools/call').length;
  const lost = await startMcpHttpServer(t, echo, failing(404));
  const one = await openMcpServers(t, [createUserServer('s', remote('http', `${lost.url}/mcp`))]);
  assert.equal((await one.call('mcp__s__echo', { a: '1' })).text, 'you said 1');
  assert.equal(calls(lost.requests), 2);
  assert.equal(lost.requests.filter(({ message }) => message.method === 'initialize').length, 2);

  for (const how of [500, 'cut'] as const) {
    const broken = await startMcpHttpServer(t, echo, failing(how));
    const two = await openMcpServers(t, [createUserServer('s', remote('http', `${broken.url}/mcp`))]);
    const result = await two.call('mcp__s__echo', { a: '1' });
    assert.equal(result.outcome, 'unknown', String(how));
    assert.match(result.text, /was not sent again/);
    assert.equal(calls(broken.requests), 1);
    assert.equal((await two.call('mcp__s__echo', { a: '2' })).text, 'you said 2');
  }

  const refused = await startMcpHttpServer(t, echo, failing(403, 403));
  const three = await openMcpServers(t, [createUserServer('s', remote('http', `${refused.url}/mcp`))]);
  assert.deepEqual((await three.call('mcp__s__echo', { a: '1' })).outcome, 'failed');
});

test('an interrupted read of a trusted server fails instead of leaving an unknown outcome', async (t) => {
  const reader = { ...echo, tools: [createListedTool('echo', { annotations: { readOnlyHint: true } })] };
  const { url } = await startMcpHttpServer(t, reader, failing(500, 500));
  const server = createUserServer('s', remote('http', `${url}/mcp`));
  const { mcp } = await openMcpServers(t, [server]);
  assert.equal(mcp.tools[0]?.effect, 'external');
  const believed = await openMcpServers(t, [{ ...server, trustReadOnly: true }]);
  assert.equal(believed.mcp.tools[0]?.effect, 'read');
  assert.equal((await believed.call('mcp__s__echo', { a: '1' })).outcome, 'failed');
});

test('an unreachable server is reported in one sentence, and the call counts as not sent', async (t) => {
  const { url, stop } = await startMcpHttpServer(t, echo);
  const { call } = await openMcpServers(t, [createUserServer('s', remote('http', `${url}/mcp`))]);
  stop();
  // The first request may be sent on a connection that is being closed: then the outcome is unknown.
  await call('mcp__s__echo', { a: '1' });
  const result = await call('mcp__s__echo', { a: '1' });
  assert.equal(result.outcome, 'failed');
  assert.match(result.text, /^echo was not run: /);
});

test('an event stream that ends before the answer is an unknown outcome, long before the timeout of the call', async (t) => {
  const { url } = await startMcpHttpServer(t, echo, ({ message }, response) => {
    if (message.method !== 'tools/call') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n');
    setTimeout(() => response.destroy(), 50);
    return true;
  });
  const { call } = await openMcpServers(t, [
    createUserServer('s', remote('http', `${url}/mcp`), { timeoutMs: 2 ** 30 }),
  ]);
  assert.equal((await call('mcp__s__echo', { a: '1' })).outcome, 'unknown');
});

test('attack 45: an HTTP answer of 50 MB is aborted', async (t) => {
  const { url } = await startMcpHttpServer(t, { ...echo, call: () => createTextResult('x'.repeat(50_000_000)) });
  const { call } = await openMcpServers(t, [createUserServer('s', remote('http', `${url}/mcp`))]);
  const result = await call('mcp__s__echo', { a: '1' });
  assert.equal(result.outcome, 'unknown');
  assert.ok(result.text.length < 1000);
});

test('without a configured server, no protocol code is loaded', async () => {
  const script = `
    const loaded = [];
    require('node:module').registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    import(${JSON.stringify(import.meta.resolve('./index.ts'))}).then(async ({ openMcp, readMcpConfig }) => {
      const { servers } = readMcpConfig({ project: '/nowhere', user: '/nowhere/mcp.json' });
      const mcp = await openMcp(servers, { trust: undefined });
      await mcp.close();
      console.log(JSON.stringify(loaded));
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  for await (const piece of child.stdout) said += String(piece);
  const loaded = JSON.parse(said) as readonly string[];
  assert.deepEqual(
    loaded.filter((url) => url.includes('node_modules') || url.endsWith('/open.ts')),
    [],
  );
  assert.ok(loaded.some((url) => url.endsWith('/config.ts')));
});
