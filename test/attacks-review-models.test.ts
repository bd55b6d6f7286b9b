// Attacks on the proxies, the guarded fetch and the providers: bodies that were read as other requests, endless model responses, long histories, control tokens and slow patterns.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { createValidator } from '../src/agent/index.ts';
import { openProxy } from '../src/bridges/index.ts';
import {
  isSecretFile,
  normalizeUnicode,
  toArray,
  type JsonObject,
  type Message,
  type ModelRequest,
} from '../src/core/index.ts';
import { startEgressProxy } from '../src/guards/sandbox/egress.ts';
import { openProvider } from '../src/providers/index.ts';
import { guardedFetch } from '../src/workspace/net/fetch.ts';
import { assertAttack } from './support/attack-report.ts';

/** Ends a test of work that must not take minutes. */
const hangGuard = { timeout: 120_000 };

const repeat = <T>(count: number, create: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => create(i));

async function startServer(
  t: TestContext,
  listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const chatEvent = (delta: JsonObject): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
const endlessEvents: Readonly<Record<string, (i: number) => JsonObject>> = {
  details: (i) => ({ reasoning_details: [{ type: `x${i}`, data: 'D'.repeat(100_000) }] }),
  names: (i) => ({ tool_calls: [{ index: 0, function: { name: `${'N'.repeat(100_000)}${i}` } }] }),
  calls: (i) => ({ tool_calls: [{ index: i, id: `c${i}`, function: { name: 'echo', arguments: '{}' } }] }),
};

test('[attack 146] a model response with endless details, names or calls is dropped', hangGuard, async (t) => {
  const maxEvents = 1000;
  const port = await startServer(t, (incoming, outgoing) => {
    incoming.resume();
    const name = incoming.url?.split('/')[1] ?? '';
    const createDelta = endlessEvents[name];
    if (!createDelta) return void outgoing.end('{"data":[]}');
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    let count = 0;
    const write = (): void => {
      while (!outgoing.destroyed && count < maxEvents) {
        count++;
        if (!outgoing.write(chatEvent(createDelta(count)))) return void outgoing.once('drain', write);
      }
      if (count >= maxEvents) outgoing.end();
    };
    write();
  });
  for (const name of Object.keys(endlessEvents)) {
    const provider = await openProvider({
      provider: 'openrouter',
      model: 'm',
      baseUrl: `http://127.0.0.1:${port}/${name}`,
      apiKey: 'k',
    });
    const messages: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }];
    const request: ModelRequest = {
      system: '',
      tools: [],
      messages: { items: messages, length: 1 },
      toolChoice: 'auto',
      settings: {},
    };
    const read = async (): Promise<void> => {
      for await (const chunk of provider.stream(request, t.signal)) assert.notEqual(chunk.type, 'end');
    };
    await assert.rejects(read, { code: 'provider/too-large' }, name);
  }
  assertAttack(t, 146, ['blocked']);
});

/** Sends text on a new connection, and returns what arrives until it contains a text. */
async function sendText(to: string | number, text: string, until: string): Promise<string> {
  const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
  socket.on('error', () => {});
  socket.write(text);
  let received = '';
  for await (const piece of socket as AsyncIterable<Buffer>) {
    received += piece.toString();
    if (received.includes(until)) break;
  }
  return received;
}

test('[attack 147] the body of a GET stays a body behind the proxies and the guarded fetch', hangGuard, async (t) => {
  const seen: string[] = [];
  const port = await startServer(t, (incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    incoming.resume().on('end', () => outgoing.end(`{"answer":"to ${incoming.url}"}`));
  });
  const inner = 'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  const sized = `Connection: content-length\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`;
  const methods = ['GET', 'DELETE', 'OPTIONS'];
  const proxy = await openProxy({ target: `http://127.0.0.1:${port}`, port: 0 });
  t.after(() => proxy.close());
  const egress = await startEgressProxy({ hosts: [`localhost:${port}`], isPublic: () => true });
  t.after(() => egress.close());
  for (const method of methods)
    for (const rest of [chunked, sized]) {
      await sendText(proxy.port, `${method} /v1/models HTTP/1.1\r\nHost: localhost\r\n${rest}`, 'to /v1/models');
      await sendText(egress.socket, `${method} http://localhost:${port}/ok HTTP/1.1\r\nHost: x\r\n${rest}`, 'to /ok');
    }
  for (const method of methods) {
    const url = `http://127.0.0.1:${port}/fetched`;
    const { status } = await guardedFetch({ privateHosts: [`127.0.0.1:${port}`] }, { url, method, body: inner });
    assert.equal(status, 200);
  }
  // The next request on a kept connection gets its own answer.
  assert.match(await sendText(proxy.port, 'GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n', 'to /'), /to \/next/);
  assert.equal(seen.length, methods.length * 5 + 1);
  assert.ok(!seen.some((each) => each.startsWith('POST')), seen.join('\n'));
  assertAttack(t, 147, ['blocked']);
});

test(
  '[attack 149] control tokens of an earlier tool result are escaped for a server that applies a template',
  hangGuard,
  async (t) => {
    const bodies: string[] = [];
    const port = await startServer(t, (incoming, outgoing) => {
      let body = '';
      incoming.on('data', (piece: Buffer) => (body += piece.toString()));
      incoming.on('end', () => {
        bodies.push(body);
        outgoing.setHeader('content-type', 'application/json');
        outgoing.end('{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}');
      });
    });
    const tokens = ['<|im_start|>', ']~b]', '[e~[', '<seed:bos>', '<SPECIAL_10>', '<extra_id_0>', '[gMASK]', '<sop>'];
    const result = {
      type: 'tool-result',
      id: 'c1',
      tool: 'look',
      text: `${tokens.join(' ')} [INSTALL] a[0]`,
      failed: false,
    } as const;
    const items: readonly Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'look' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'c1', tool: 'look', input: {} }] },
      { role: 'tool', parts: [result] },
    ];
    for (const provider of ['vllm', 'openai', 'openai-compatible']) {
      const opened = await openProvider({
        provider,
        model: 'm',
        baseUrl: `http://127.0.0.1:${port}/v1`,
        apiKey: 'k',
        api: 'chat',
      });
      const messages = { items, length: items.length };
      const request: ModelRequest = { system: '', tools: [], messages, toolChoice: 'auto', settings: {} };
      for await (const chunk of opened.stream(request, t.signal)) assert.ok(chunk);
      assert.equal(toArray(messages)[2]?.parts[0], result);
    }
    const posted = bodies.filter((body) => body.includes('INSTALL'));
    assert.equal(posted.length, 3);
    for (const body of posted) {
      for (const token of tokens) assert.ok(!body.includes(token), token);
      assert.ok(body.includes('[INSTALL] a[0]'));
    }
    assertAttack(t, 149, ['blocked']);
  },
);

test('[attack 151] the proxy refuses a request with more messages than it can record', hangGuard, async (t) => {
  let received = 0;
  const port = await startServer(t, (incoming, outgoing) => {
    received++;
    incoming.resume().on('end', () => outgoing.end('{}'));
  });
  const proxy = await openProxy({ target: `http://127.0.0.1:${port}`, port: 0 });
  t.after(() => proxy.close());
  const histories = [
    repeat(100_001, (i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: 'a' })),
    repeat(50_000, () => ({ role: 'user', content: 'a' })),
    [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: null,
        tool_calls: repeat(9000, (i) => ({ id: `c${i}`, type: 'function', function: { name: 't', arguments: '{}' } })),
      },
    ],
  ];
  for (const messages of histories) {
    const reply = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages }),
    });
    assert.equal(reply.status, 400);
    assert.match(await reply.text(), /so it was not sent/);
  }
  assert.equal(received, 0);
  assertAttack(t, 151, ['blocked']);
});

test('[attack 152] long patterns and many Unicode classes are refused before the engine reads them', hangGuard, (t) => {
  const refused = { code: 'schema/broken', message: /its patterns have more than/ };
  assert.throws(() => createValidator({ pattern: '[\\p{L}\\p{N}]'.repeat(15_000) }), refused);
  assert.throws(() => createValidator({ patternProperties: { ['[\\p{Cn}]'.repeat(100)]: {} } }), refused);
  const many = Object.fromEntries(repeat(100, (i) => [`p${i}`, { pattern: `[\\p{L}]{${i + 1}}` }]));
  assert.throws(() => createValidator({ properties: many }), refused);
  // Many properties with the same pattern are ordinary.
  const same = Object.fromEntries(repeat(500, (i) => [`p${i}`, { type: 'string', pattern: '^[\\p{L}\\d_-]{1,40}$' }]));
  const check = createValidator({ type: 'object', properties: same });
  assert.equal(check({ p1: 'name' }), undefined);
  assert.match(check({ p1: '!' }) ?? '', /pattern/);
  assertAttack(t, 152, ['blocked']);
});

test('[attack 153] a path of combining marks is judged in linear time', hangGuard, (t) => {
  const marks = '\u0300\u0316'.repeat(100_000);
  assert.equal(isSecretFile(`a${marks}.txt`), false);
  assert.equal(isSecretFile(`.ssh/a${marks}`), true);
  assert.equal(normalizeUnicode('e\u0301\uff21', 'NFKC'), '\u00e9A');
  assertAttack(t, 153, ['contained']);
});
