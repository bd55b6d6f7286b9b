// Tests that apply to every provider family of the AI SDK, against a loopback server.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import {
  FairleadError,
  appendItem,
  createPersistentList,
  type Chunk,
  type Message,
  type MessagePart,
  type Provider,
  type ModelRequest,
  type PersistentList,
} from '../../core/index.ts';
import {
  calls,
  closedUrl,
  fails,
  says,
  scriptedServer,
  sends,
  sendsPage,
  thinks,
  type FailureName,
  type ScriptedServer,
} from '../../testing/index.ts';
import { anthropicProvider } from './anthropic.ts';
import { googleProvider } from './google.ts';
import { responsesProvider } from './responses.ts';
import type { AiSdkOptions } from './provider.ts';

type Family = {
  readonly name: string;
  readonly root: string;
  readonly model: string;
  readonly open: (options: AiSdkOptions) => Provider;
  /** Returns the list in a request body that grows with each turn. */
  readonly grows: string;
};

const families: readonly Family[] = [
  { name: 'anthropic', root: '/v1', model: 'claude-sonnet-4-5', open: anthropicProvider, grows: 'messages' },
  { name: 'responses', root: '/v1', model: 'gpt-5.5', open: responsesProvider, grows: 'input' },
  { name: 'google', root: '/v1beta', model: 'gemini-3-pro', open: googleProvider, grows: 'contents' },
];

const key = 'sk-very-secret-0123456789';
const textPart = (text: string): MessagePart => ({ type: 'text', text });
const user = (text: string): Message => ({ role: 'user', parts: [textPart(text)] });
const tools = [
  { name: 'look', description: 'Looks.', input: { type: 'object', properties: { at: { type: 'string' } } } },
  { name: 'leap', description: 'Leaps.', input: { type: 'object', properties: {} } },
];

const createRequest = (messages: PersistentList<Message>, more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'Be brief.',
  tools,
  messages,
  toolChoice: 'auto',
  settings: {},
  session: 'session-1',
  ...more,
});

const openFamily = (family: Family, server: ScriptedServer, more: Partial<AiSdkOptions> = {}): Provider =>
  family.open({ model: family.model, apiKey: key, baseUrl: `${server.url}${family.root}`, ...more });

async function ask(
  provider: Provider,
  request: ModelRequest = createRequest(createPersistentList([user('Go.')])),
  signal: AbortSignal = new AbortController().signal,
): Promise<Chunk & { type: 'end' }> {
  let end: Chunk | undefined;
  for await (const chunk of provider.stream(request, signal)) if (chunk.type === 'end') end = chunk;
  assert.equal(end?.type, 'end');
  return end;
}

/** Returns the answer as the core records it: calls get new ids. */
const storedMessage = (message: Message, turn: number): Message => ({
  ...message,
  parts: message.parts.map((part, i) =>
    part.type === 'tool-call'
      ? { ...part, id: `c${String(turn).padStart(5, '0')}${String(i).padStart(3, '0')}` }
      : part,
  ),
});

const results = (message: Message): Message => ({
  role: 'tool',
  parts: message.parts.flatMap((part, i): MessagePart[] =>
    part.type === 'tool-call'
      ? [{ type: 'tool-result', id: part.id, tool: part.tool, text: `seen ${i}`, failed: i % 3 === 0 }]
      : [],
  ),
});

for (const family of families) {
  const { name } = family;

  test(`[A1, A21, P50] 50 turns with reasoning, parallel calls and notes: each request to ${name} extends the previous one, byte for byte`, async () => {
    const step = thinks('Hm.').and(says('Looking.'), calls('look', { at: 'here' }), calls('leap'));
    await using server = await scriptedServer(() => step);
    const provider = openFamily(family, server);
    let messages = createPersistentList<Message>([user('Go.')]);
    for (let turn = 0; turn < 50; turn++) {
      const message = storedMessage((await ask(provider, createRequest(messages))).message, turn);
      messages = appendItem(appendItem(messages, message), results(message));
      if (turn % 4 === 0) messages = appendItem(messages, user(`Note ${turn}.`));
    }
    const bodies = server.requests.map(({ raw }) => raw.toString());
    assert.equal(bodies.length, 50);
    for (const [i, body] of bodies.entries()) {
      const next = bodies[i + 1];
      if (next === undefined) continue;
      const { [family.grows]: list, ...rest } = JSON.parse(body) as { [key: string]: unknown };
      const grown = JSON.stringify(list).slice(0, -1);
      const at = body.indexOf(grown);
      assert.ok(
        at > 0 && next.startsWith(body.slice(0, at + grown.length)),
        `request ${i + 2} changes the previous request`,
      );
      const { [family.grows]: _, ...others } = JSON.parse(next) as { [key: string]: unknown };
      assert.deepEqual(others, rest);
    }
  });

  test(`[A1] the answer of another family is sent to ${name} in a legal form without its reasoning (fault 56)`, async () => {
    await using server = await scriptedServer(['ok']);
    const foreign: Message = {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'SECRET-THOUGHT', meta: { family: 'another', data: { signature: 'SEAL' } } },
        { type: 'reasoning', text: 'UNSIGNED-THOUGHT' },
        { type: 'text', text: 'I will look.', meta: { family: 'another', data: { thoughtSignature: 'SEAL' } } },
        {
          type: 'tool-call',
          id: 'c00001000',
          tool: 'look',
          input: { at: 'x' },
          meta: { family: 'another', data: { thoughtSignature: 'SEAL' } },
        },
        { type: 'tool-call', id: 'c00001001', tool: 'look', input: {}, invalid: '{"at": ' },
      ],
    };
    const onlyThoughts: Message = { role: 'assistant', parts: foreign.parts.slice(0, 2) };
    const history = createPersistentList([user('Go.'), foreign, results(foreign), onlyThoughts, user('And?')]);
    await ask(openFamily(family, server), createRequest(history, { settings: { reasoning: 'high' } }));
    const body = String(server.requests[0]?.raw);
    assert.doesNotMatch(body, /SECRET-THOUGHT|UNSIGNED-THOUGHT|SEAL/);
    assert.match(body, /I will look\./);
  });

  test(`${name} converts each message once`, async () => {
    await using server = await scriptedServer(() => says('ok'));
    let reads = 0;
    const watched = {
      role: 'user',
      get parts() {
        reads++;
        return [textPart('Go.')];
      },
    } as const;
    const provider = openFamily(family, server);
    const first = createPersistentList<Message>([watched]);
    await ask(provider, createRequest(first));
    const once = reads;
    const second = appendItem(appendItem(first, { role: 'assistant', parts: [textPart('ok')] }), user('More.'));
    await ask(provider, createRequest(second));
    await ask(provider, createRequest(second));
    await ask(provider, createRequest(first));
    assert.equal(reads, once);
    assert.equal(String(server.requests[3]?.raw), String(server.requests[0]?.raw));
  });

  test(`[A6] chunks of ${name} arrive in order and add up to the final message`, async () => {
    await using server = await scriptedServer([
      thinks('Hm.').and(says('One two three.'), calls('look', { at: 'é😀' })),
    ]);
    const seen: Chunk[] = [];
    for await (const chunk of openFamily(family, server).stream(
      createRequest(createPersistentList([user('Go.')])),
      AbortSignal.timeout(9000),
    ))
      seen.push(chunk);
    const end = seen.at(-1);
    assert.ok(end?.type === 'end');
    const started = seen.flatMap((chunk) => (chunk.type === 'part-started' ? [chunk.part] : []));
    assert.deepEqual(
      started,
      end.message.parts.map((part) => part.type),
    );
    const deltas = (index: number): string =>
      seen.map((chunk) => (chunk.type === 'part-delta' && chunk.index === index ? chunk.text : '')).join('');
    for (const [index, part] of end.message.parts.entries())
      assert.equal(
        deltas(index),
        part.type === 'tool-call' ? JSON.stringify(part.input) : 'text' in part ? part.text : '',
      );
    assert.equal(end.finishReason, 'tool-calls');
  });

  const never = name === 'google' ? 'arguments are JSON by the form of this wire' : false;
  test(`[A1] arguments from ${name} that are not JSON are kept raw and marked`, { skip: never }, async () => {
    await using server = await scriptedServer([calls('look', {}, { raw: "{'at': 1,}" })]);
    const { message } = await ask(openFamily(family, server));
    assert.deepEqual(
      message.parts.map((part) => part.type === 'tool-call' && [part.input, part.invalid]),
      [[{}, "{'at': 1,}"]],
    );
  });

  test(`a cancelled request to ${name} ends at once and closes the connection`, async () => {
    await using server = await scriptedServer([says('One two three four.', { cutAfter: 2, hang: true })]);
    const stop = new AbortController();
    const stream = openFamily(family, server).stream(createRequest(createPersistentList([user('Go.')])), stop.signal);
    await assert.rejects(
      async () => {
        for await (const chunk of stream) if (chunk.type === 'part-delta') stop.abort();
      },
      { code: 'run/cancelled' },
    );
    while (!server.requests[0]?.outcome.abandoned) await new Promise((wake) => setTimeout(wake, 5));
  });

  test(`a consumer that stops reading from ${name} early closes the connection`, async () => {
    await using server = await scriptedServer([says('One two three four.', { cutAfter: 2, hang: true })]);
    for await (const chunk of openFamily(family, server).stream(
      createRequest(createPersistentList([user('Go.')])),
      AbortSignal.timeout(9000),
    ))
      if (chunk.type === 'part-delta') break;
    while (!server.requests[0]?.outcome.abandoned) await new Promise((wake) => setTimeout(wake, 5));
  });

  test(`[A3] error statuses of ${name} are mapped to error codes, once, without the key (faults 40 to 43)`, async () => {
    const codes: Partial<Record<FailureName, string>> = {
      'rate-limited': 'provider/rate-limited',
      overloaded: 'provider/overloaded',
      'server-error': 'provider/server-error',
      unauthorized: 'provider/unauthorized',
      'not-found': 'provider/not-found',
      'bad-request': 'provider/bad-request',
      'context-too-long': 'provider/context-too-long',
    };
    await using server = await scriptedServer([]);
    for (const [failure, code] of Object.entries(codes)) {
      const error = { message: `No, not with ${key}.`, ...(failure === 'rate-limited' ? { afterMs: 7000 } : {}) };
      const text = failure === 'context-too-long' ? {} : error;
      server.setScript([fails(failure as FailureName, text)]);
      server.clearRequests();
      const thrown = await ask(openFamily(family, server)).catch((reason: unknown) => reason);
      assert.ok(thrown instanceof FairleadError, failure);
      assert.equal(thrown.code, code);
      assert.equal(server.requests.length, 1, 'the provider does not retry');
      if (failure === 'rate-limited') assert.equal(thrown.afterMs, 7000);
      assert.doesNotMatch(`${thrown.message} ${thrown.hint} ${JSON.stringify(thrown.cause)}`, /very-secret/);
    }
  });

  test(`[A6] an error inside the stream of ${name} is handled like the same status (fault 49)`, async () => {
    await using server = await scriptedServer([says('One two three.', { cutAfter: 1, error: { name: 'overloaded' } })]);
    await assert.rejects(ask(openFamily(family, server)), { code: 'provider/overloaded', retry: true });
  });

  test(`[A3] invalid responses of ${name} have their own error codes (faults 44, 46, 48, 59)`, async () => {
    await using server = await scriptedServer([]);
    const limited = JSON.stringify({ error: { code: 429, message: 'Slow down.' } });
    const cases: readonly (readonly [string, Parameters<ScriptedServer['setScript']>[0]])[] = [
      ['provider/malformed', [sendsPage()]],
      ['provider/malformed', [says('One two.', { wire: { malformed: 1 } })]],
      ['provider/malformed', [says('One two.', { wire: { gzip: 'broken' } })]],
      ['provider/cut', [says('One two.', { wire: { cutAt: 60 } })]],
      ['provider/cut', [sends({ headers: { 'content-type': 'text/event-stream' }, body: '' })]],
      ['provider/cut', [sends({ headers: { 'content-type': 'application/json' }, body: '' })]],
      ['provider/rate-limited', [sends({ headers: { 'content-type': 'application/json' }, body: limited })]],
    ];
    for (const [code, script] of cases) {
      server.setScript(script);
      await assert.rejects(ask(openFamily(family, server)), { code }, JSON.stringify(script));
    }
    const nowhere = family.open({ model: family.model, apiKey: key, baseUrl: await closedUrl() });
    await assert.rejects(ask(nowhere), { code: 'provider/unreachable', retry: false });
  });

  test(`${name} does not follow a redirect, which would send the key to another host`, async (t) => {
    let visits = 0;
    const trap = createServer((_request, response) => {
      visits++;
      response.end();
    });
    await new Promise<void>((ready) => trap.listen(0, '127.0.0.1', ready));
    t.after(() => trap.close());
    const { port } = trap.address() as AddressInfo;
    await using server = await scriptedServer(() =>
      sends({ status: 307, headers: { location: `http://127.0.0.1:${port}/` }, body: '' }),
    );
    for (const fetch of [undefined, globalThis.fetch])
      await assert.rejects(ask(openFamily(family, server, fetch ? { fetch } : {})), { code: 'provider/redirected' });
    assert.equal(visits, 0);
  });

  test(`an invalid key for ${name} is refused without being shown`, async () => {
    await using server = await scriptedServer(['ok']);
    const thrown = await ask(openFamily(family, server, { apiKey: `${key}\n` })).catch((reason: unknown) => reason);
    assert.ok(thrown instanceof FairleadError && thrown.blame === 'user');
    assert.doesNotMatch(thrown.message, /very-secret/);
    assert.equal(server.requests.length, 0);
  });

  test(`${name} without a key sends no key header`, async () => {
    await using server = await scriptedServer(['ok']);
    const { root, model, open } = family;
    await ask(open({ model, baseUrl: `${server.url}${root}` }));
    const { authorization, 'x-api-key': own, 'x-goog-api-key': google } = server.requests[0]?.headers ?? {};
    assert.deepEqual([authorization, own, google], [undefined, undefined, undefined]);
  });
}
