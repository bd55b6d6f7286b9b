// Data loss prevention in the proxy: the model server sees tokens, the caller gets the values, in documents, streams and embeddings.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { openProxy } from '../src/bridges/index.ts';
import { createDlpPolicy, type DlpPolicyOptions } from '../src/guards/dlp/index.ts';

const iban = 'DE89370400440532013000';

type Seen = { readonly bodies: string[]; readonly url: string };

/** A model server that repeats the tokens that it sees, as a stream in pieces of three characters if it is asked for one. */
async function startEcho(t: TestContext): Promise<Seen> {
  const bodies: string[] = [];
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let body = '';
    for await (const part of incoming) body += String(part);
    bodies.push(body);
    const text = `Paid to ${/PRIVATE_\w+/.exec(body)?.[0] ?? 'unknown'}.`;
    if (!body.includes('"stream":true')) {
      const message = { role: 'assistant', content: text };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      return;
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of text.match(/[^]{1,3}/g) ?? [])
      outgoing.write(`data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content } }] })}\n\n`);
    outgoing.write(
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
    );
    outgoing.end('data: [DONE]\n\n');
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function send(
  t: TestContext,
  target: string,
  options: DlpPolicyOptions | undefined,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const proxy = await openProxy({ target, port: 0, ...(options ? { dlp: createDlpPolicy(options) } : {}) });
  t.after(() => proxy.close());
  const reply = await fetch(`${proxy.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer a-key' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text() };
}

const messages = [{ role: 'user', content: `Pay ${iban} for anna@firma-mail.de` }];

test('[A115] the model server behind the proxy sees a token, and the caller gets the value', async (t) => {
  const echo = await startEcho(t);
  const { status, text } = await send(t, echo.url, {}, '/v1/chat/completions', { model: 'm', messages });
  assert.equal(status, 200);
  assert.match(echo.bodies[0] ?? '', /Pay PRIVATE_IBAN_1_\w+ for anna@firma-mail\.de/);
  assert.doesNotMatch(echo.bodies.join(' '), new RegExp(iban));
  assert.match(text, new RegExp(`Paid to ${iban}\\.`));
});

test('[A115] a token that a stream divides is restored', async (t) => {
  const echo = await startEcho(t);
  const { text } = await send(t, echo.url, {}, '/v1/chat/completions', { model: 'm', messages, stream: true });
  assert.doesNotMatch(echo.bodies.join(' '), new RegExp(iban));
  const pieces = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { choices: { delta?: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta?.content ?? '');
  assert.equal(pieces.join(''), `Paid to ${iban}.`);
  assert.ok(pieces.length > 5, 'it is still a stream');
  assert.match(text, /\[DONE\]/);
});

test('[A115] texts for an embedding model are guarded too, and a policy that blocks sends nothing', async (t) => {
  const echo = await startEcho(t);
  await send(t, echo.url, {}, '/v1/embeddings', { model: 'm', input: [`Account ${iban}`] });
  assert.match(echo.bodies[0] ?? '', /Account PRIVATE_IBAN/);
  for (const path of ['/v1/chat/completions', '/v1/embeddings']) {
    const blocked = await send(t, echo.url, { action: 'block' }, path, { model: 'm', messages, input: iban });
    assert.equal(blocked.status, 400);
    assert.match(blocked.text, /DLP policy blocks/);
    assert.doesNotMatch(blocked.text, new RegExp(iban));
  }
  assert.equal(echo.bodies.length, 1);
});

test('[A115] bytes to a model server on this machine are not changed', async (t) => {
  const echo = await startEcho(t);
  await send(t, echo.url, undefined, '/v1/chat/completions', { model: 'm', messages });
  assert.match(echo.bodies[0] ?? '', new RegExp(iban));
});

async function upload(
  t: TestContext,
  options: DlpPolicyOptions,
  body: FormData | Buffer,
): Promise<{ readonly status: number; readonly text: string; readonly seen: string; readonly notices: string }> {
  const echo = await startEcho(t);
  const notices: string[] = [];
  const proxy = await openProxy({
    target: echo.url,
    port: 0,
    dlp: createDlpPolicy(options),
    notify: (text) => notices.push(text),
  });
  t.after(() => proxy.close());
  const reply = await fetch(`${proxy.url}/v1/files`, {
    method: 'POST',
    ...(body instanceof FormData ? {} : { headers: { 'content-type': 'multipart/form-data; boundary=x' } }),
    body: body instanceof FormData ? body : new Uint8Array(body),
  });
  return { status: reply.status, text: await reply.text(), seen: echo.bodies.join(' '), notices: notices.join('\n') };
}

test('[A115] text parts of an upload are searched, and binary ones are counted and sent as they are', async (t) => {
  const form = new FormData();
  form.set('purpose', `batch for ${iban}`);
  form.set('file', new File([`{"pay":"${iban}"}\n`], 'bills.jsonl', { type: 'application/octet-stream' }));
  form.set('image', new File([new Uint8Array([0xff, 0xd8, 0, 1])], 'a.jpg', { type: 'image/jpeg' }));
  const { status, text, seen, notices } = await upload(t, {}, form);
  assert.equal(status, 200);
  assert.doesNotMatch(seen, new RegExp(iban));
  assert.match(seen, /batch for PRIVATE_IBAN_1_\w+[^]*\{"pay":"PRIVATE_IBAN_1_\w+"\}\n\r\n--[^]*name="image"/);
  assert.match(text, new RegExp(`Paid to ${iban}`));
  assert.match(notices, /Replaced in a request to \/v1\/files: .*iban/i);
  assert.match(notices, /Not searched in a request to \/v1\/files: 1 parts/);
  const blocked = await upload(t, { action: 'block' }, form);
  assert.equal(blocked.status, 400);
  assert.equal(blocked.seen, '');
});

test('[A115] an upload that cannot be divided into its parts is not sent', async (t) => {
  const part = `\r\ncontent-disposition: form-data; name="a"\r\n\r\n${iban}`;
  const bodies = [
    `--x${part}`,
    `--y${part}\r\n--y--\r\n`,
    `--x${part}\r\n--x--\r\n${iban}`,
    `${iban}\r\n--x${part}\r\n--x--\r\n`,
    `--x${part.replaceAll('\r', '')}\n--x--\n`,
    '--x\r\n'.repeat(20_000),
    `--x${'\r\n\r\n\r\n--x'.repeat(2000)}--`,
  ];
  for (const body of bodies) {
    const { status, seen, text } = await upload(t, {}, Buffer.from(body));
    assert.deepEqual([status, seen], [400, ''], body.slice(0, 40));
    assert.match(text, /multipart body of the request cannot be searched/);
  }
  const good = await upload(t, {}, Buffer.from(`--x${part}\r\n--x--\r\n`));
  assert.match(good.seen, /\r\n\r\nPRIVATE_IBAN_1_\w+\r\n--x--/);
});
