// Each wire format: additions can be removed again and leave the caller's request unchanged; answers are parsed alike, whole and streamed.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { messageToolCalls, isObject, messageText, type Json, type JsonObject } from '../core/index.ts';
import { calls, says, scriptedServer, type ScriptedResponse } from '../testing/index.ts';
import { splitSseFrames } from '../bridges/http-intercept/sse.ts';
import { detectWireFormat, wireFormats } from './formats/index.ts';
import type { InterceptFormatName, MessageAddition, WireStreamEvent } from './index.ts';

const names = Object.keys(wireFormats) as readonly InterceptFormatName[];

/** Any JSON that a caller may send, except our own marker. */
const anything: fc.Arbitrary<Json> = fc.constantFrom<Json>(null, 7, 'x', false, [], {}, [null, ['y']], {
  z: { a: 1e300 },
});
const textArbitrary = fc.constantFrom('Go.', 'one\n\ntwo', '{"tool_calls"}', ' ');
const withUnknownFields = (known: JsonObject): fc.Arbitrary<JsonObject> =>
  fc.option(anything, { nil: undefined }).map((more) => (more === undefined ? known : { x_more: more, ...known }));

const parts: Readonly<Record<InterceptFormatName, (text: string) => JsonObject>> = {
  chat: (text) => ({ type: 'text', text }),
  anthropic: (text) => ({ type: 'text', text }),
  responses: (text) => ({ type: 'input_text', text }),
  google: (text) => ({ text }),
};

/** A caller's message, with a text or with parts, and with unknown fields. */
function messageFor(name: InterceptFormatName): fc.Arbitrary<Json> {
  const answering = name === 'google' ? 'model' : 'assistant';
  const role = fc.constantFrom('user', answering, ...(name === 'chat' ? ['tool'] : []));
  const pieces = fc.array(
    textArbitrary.chain((text) => withUnknownFields(parts[name](text))),
    { minLength: 1, maxLength: 3 },
  );
  const content = name === 'google' ? pieces : fc.oneof(textArbitrary, pieces);
  return fc
    .tuple(role, content)
    .chain(([each, said]) => withUnknownFields({ role: each, [name === 'google' ? 'parts' : 'content']: said }));
}

const lists: Readonly<Record<InterceptFormatName, string>> = {
  chat: 'messages',
  anthropic: 'messages',
  responses: 'input',
  google: 'contents',
};

const requestFor = (name: InterceptFormatName): fc.Arbitrary<JsonObject> =>
  fc
    .array(fc.oneof({ weight: 9, arbitrary: messageFor(name) }, { weight: 1, arbitrary: anything }), {
      minLength: 1,
      maxLength: 5,
    })
    .chain((messages) => withUnknownFields({ [lists[name]]: messages, model: 'm' }));

const additionMarker = '\u0007ours';

const additionFor = (after: number): fc.Arbitrary<MessageAddition> =>
  fc.oneof(
    fc.constant<MessageAddition>({ type: 'notes', after, text: `${additionMarker} note` }),
    fc.constant<MessageAddition>({
      type: 'exchange',
      after,
      answer: {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: `${additionMarker}c`, tool: additionMarker, input: {} }],
      },
      results: [{ id: `${additionMarker}c`, tool: additionMarker, text: `${additionMarker} no` }],
    }),
    fc.constant<MessageAddition>({ type: 'system', after: -1, text: `${additionMarker} system` }),
  );

/** Removes everything that has our marker from a request. */
function stripAdditions(value: Json): Json | undefined {
  if (typeof value === 'string') {
    const at = value.indexOf(additionMarker);
    if (at < 0) return value;
    return at === 0 ? undefined : value.slice(0, at).replace(/\n\n$/, '');
  }
  if (Array.isArray(value)) return value.map((each: Json) => stripAdditions(each)).filter((each) => each !== undefined);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, stripAdditions(each)] as const);
  const gone = entries.filter(([, each]) => each === undefined).map(([key]) => key);
  const left = Object.fromEntries(entries.filter(([, each]) => each !== undefined)) as JsonObject;
  // Containers that were added only for our text are removed with it.
  const carriers = ['text', 'content', 'tool_call_id', 'tool_use_id', 'call_id', 'name', 'id'];
  if (gone.some((key) => carriers.includes(key))) return undefined;
  const emptied = ['content', 'parts', 'tool_calls'].some((key) => isEmpty(left[key]) && !isEmpty(value[key]));
  return emptied ||
    ('functionCall' in value && !('functionCall' in left)) ||
    ('functionResponse' in value && !('functionResponse' in left))
    ? undefined
    : left;
}

const isEmpty = (value: Json | undefined): boolean => Array.isArray(value) && value.length === 0;

/** The same text may be written as a string or as a single part. */
function normalizeRequest(name: InterceptFormatName, request: JsonObject): Json {
  const messages = (request[lists[name]] as readonly Json[]).map((message) =>
    isObject(message) && typeof message['content'] === 'string'
      ? { ...message, content: [parts[name](message['content'])] }
      : message,
  );
  return { ...request, [lists[name]]: messages };
}

for (const name of names) {
  test(`[M41, D16] ${name}: removing the additions gives the caller’s request back`, () => {
    const sample = requestFor(name).chain((request) => {
      const places = (request[lists[name]] as readonly Json[]).length;
      const some = fc.array(fc.nat(places - 1).chain(additionFor), { minLength: 1, maxLength: 4 });
      return fc.tuple(fc.constant(request), some);
    });
    fc.assert(
      fc.property(sample, ([request, additions]) => {
        const before = JSON.stringify(request);
        const sent = wireFormats[name].insertAdditions(request, additions);
        assert.equal(JSON.stringify(request), before, 'the object of the caller is unchanged');
        assert.ok(JSON.stringify(sent).includes('ours'), 'something was added');
        assert.deepEqual(normalizeRequest(name, stripAdditions(sent) as JsonObject), normalizeRequest(name, request));
      }),
      { numRuns: 200 },
    );
  });

  test(`${name}: without additions the request is the same object`, () => {
    const request = { [lists[name]]: [{ role: 'user' }], model: 'm' };
    assert.equal(wireFormats[name].insertAdditions(request, []), request);
  });
}

const paths: Readonly<Record<InterceptFormatName, (streamed: boolean) => string>> = {
  chat: () => '/v1/chat/completions',
  anthropic: () => '/v1/messages',
  responses: () => '/v1/responses',
  google: (streamed) => `/v1beta/models/m:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};

const bodies: Readonly<Record<InterceptFormatName, JsonObject>> = {
  chat: {
    model: 'm',
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [{ type: 'function', function: { name: 'run', parameters: { type: 'object' } } }],
  },
  anthropic: {
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [{ name: 'run', input_schema: { type: 'object' } }],
  },
  responses: { model: 'm', input: 'Go.', tools: [{ type: 'function', name: 'run', parameters: { type: 'object' } }] },
  google: {
    contents: [{ role: 'user', parts: [{ text: 'Go.' }] }],
    tools: [{ functionDeclarations: [{ name: 'run' }] }],
  },
};

const answers: Readonly<Record<string, readonly ScriptedResponse[]>> = {
  words: [says('Good day to you.')],
  'text and calls': [says('Let me see.'), calls('run', { command: 'ls' }), calls('run', { command: 'pwd' })],
};

for (const name of names)
  for (const [title, answer] of Object.entries(answers))
    test(`[M40] ${name}: ${title} are read alike, whole and streamed`, async () => {
      await using server = await scriptedServer(() => answer);
      const dialect = wireFormats[name];
      const ask = async (streamed: boolean): Promise<Response> => {
        const body = name === 'google' ? bodies[name] : { ...bodies[name], stream: streamed };
        return fetch(server.url + paths[name](streamed), { method: 'POST', body: JSON.stringify(body) });
      };
      const whole = dialect.parseResponse((await (await ask(false)).json()) as JsonObject);
      const reader = dialect.createAssembler();
      let holds = false;
      for (const { bytes, event } of splitSseFrames(Buffer.from(await (await ask(true)).arrayBuffer()))) {
        const held = event !== undefined && reader.push(event).mustHold;
        if (held)
          assert.ok(
            dialect.toolCallMarkers.some((marker) => bytes.includes(marker)),
            'a call has a marker',
          );
        holds ||= held;
      }
      const told = reader.response();
      assert.equal(holds, title !== 'words');
      assert.equal(messageText(told.message), messageText(whole.message));
      const made = (each: typeof told) => messageToolCalls(each.message).map(({ tool, input }) => ({ tool, input }));
      assert.deepEqual(made(told), made(whole));
      assert.equal(made(told).length, title === 'words' ? 0 : 2);
      assert.deepEqual(
        [told.finish, whole.finish],
        title === 'words' ? ['stop', 'stop'] : ['tool-calls', 'tool-calls'],
      );
      assert.equal(told.usage?.output, name === 'chat' ? undefined : whole.usage?.output);
      const again = dialect.insertAdditions(bodies[name], [
        { type: 'exchange', after: 0, answer: told.message, results: results(told), raw: told.raw ?? null },
        ...(title === 'words' ? [{ type: 'notes', after: 0, text: 'Again.' } as const] : []),
      ]);
      const legal = await fetch(server.url + paths[name](false), { method: 'POST', body: JSON.stringify(again) });
      assert.equal(legal.status, 200, `a denied answer can be sent again: ${await legal.text()}`);
    });

const results = (told: { readonly message: Parameters<typeof messageToolCalls>[0] }) =>
  messageToolCalls(told.message).map(({ id, tool }) => ({ id, tool, text: 'No.' }));

for (const name of names)
  test(`[M31] ${name}: a second answer continues the open stream, and both are read as one`, async () => {
    await using server = await scriptedServer(({ index }) => [says(`Answer ${index}.`)]);
    const dialect = wireFormats[name];
    const events = async (): Promise<readonly WireStreamEvent[]> => {
      const body = name === 'google' ? bodies[name] : { ...bodies[name], stream: true };
      const response = await fetch(server.url + paths[name](true), { method: 'POST', body: JSON.stringify(body) });
      return [...splitSseFrames(Buffer.from(await response.arrayBuffer()))].flatMap(({ event }) => event ?? []);
    };
    // What is sent before a call begins: neither the end of the answer nor of the stream.
    const ending = /message_(?:delta|stop)|response\.completed|\[DONE\]|"finish_?[rR]eason":"/;
    const sent = (await events()).filter((each) => !ending.test(JSON.stringify(each)));
    const join = dialect.continueStream(sent);
    const all = [...sent, ...(await events()).flatMap((event) => join(event) ?? [])];
    const reader = dialect.createAssembler();
    for (const event of all) reader.push(event);
    assert.equal(messageText(reader.response().message).replaceAll('\n', ''), 'Answer 0.Answer 1.');
    const data = all.flatMap((event) => (event.data === '[DONE]' ? [] : [event.data]));
    const openings = data.filter(({ type }) => type === 'message_start' || type === 'response.created');
    assert.ok(openings.length <= 1, 'it starts once');
    const numbers = data.flatMap(({ sequence_number }) =>
      typeof sequence_number === 'number' ? [sequence_number] : [],
    );
    assert.deepEqual(numbers, [...numbers.keys()]);
  });

test('an endpoint is recognized in any spelling, and other addresses are not', () => {
  for (const path of [
    '/v1/chat/completions',
    '//v1//chat/completions/',
    '/v1/Chat/Completions',
    '/v1/%63hat/completions',
  ])
    assert.equal(detectWireFormat(path)?.name, 'chat', path);
  assert.equal(detectWireFormat('/v1beta/models/gemini-x:streamGenerateContent')?.name, 'google');
  for (const path of ['/v1/models', '/v1/messages/batches', '/v1/threads/t1/messages', '/v1/responses/resp_1', '/%'])
    assert.equal(detectWireFormat(path), undefined, path);
});

test('a request that could bypass the interceptor is refused before it is sent', () => {
  const tools = [{ type: 'function' }];
  assert.match(wireFormats.chat.unsupportedReason({ n: 2, tools }) ?? '', /request one/);
  assert.match(wireFormats.chat.unsupportedReason({ functions: [] }) ?? '', /tools/);
  assert.match(wireFormats.responses.unsupportedReason({ background: true }) ?? '', /background/);
  assert.match(
    wireFormats.google.unsupportedReason({ generationConfig: { candidateCount: 2 }, tools }) ?? '',
    /request one/,
  );
  for (const name of names) assert.equal(wireFormats[name].unsupportedReason(bodies[name]), undefined);
});
