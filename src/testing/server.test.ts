// The scripted server tested with plain fetch: every wire format, whole and streamed, its records, its errors and its shutdown.
import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import {
  callsThenAnswer,
  calls,
  closedUrl,
  fails,
  says,
  scriptedServer,
  thinks,
  type WireFormatName,
  type ScriptedServer,
} from './index.ts';

type Json = { readonly [key: string]: unknown };

const hi = [{ role: 'user', content: 'hi' }];
const paths: Readonly<Record<WireFormatName, (stream: boolean) => readonly [path: string, body: Json]>> = {
  chat: (stream) => ['/v1/chat/completions', { model: 'm', messages: hi, stream }],
  responses: (stream) => ['/v1/responses', { model: 'm', input: 'hi', stream }],
  anthropic: (stream) => ['/v1/messages', { model: 'm', max_tokens: 9, messages: hi, stream }],
  google: (stream) => [
    `/v1beta/models/gemini-2.5-pro:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  ],
  ollama: (stream) => ['/api/chat', { model: 'm', messages: hi, stream }],
};

const post = (
  server: ScriptedServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(server.url + path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });

const ask = (server: ScriptedServer, dialect: WireFormatName, stream = false): Promise<Response> =>
  post(server, ...paths[dialect](stream));

/** The values of a stream, in any framing. */
const valuesOf = (text: string): readonly Json[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.replace(/^data: /, ''))
    .filter((line) => line.startsWith('{'))
    .map((line): Json => JSON.parse(line));

const valueAtPath = (value: unknown, path: string): unknown =>
  path.split('.').reduce((here, key) => (here as Json | undefined)?.[key], value);

const richResponse = thinks('so').and(
  says('Yes it is'),
  calls('look', { q: 1 }, { id: 'call_a' }),
  calls('look', { q: 2 }, { id: 'call_b' }),
);

const expectedWhole: Readonly<Record<WireFormatName, Readonly<Record<string, unknown>>>> = {
  chat: {
    'choices.0.message.content': 'Yes it is',
    'choices.0.message.reasoning_content': 'so',
    'choices.0.message.tool_calls.1.id': 'call_b',
    'choices.0.message.tool_calls.1.function.arguments': '{"q":2}',
    'choices.0.finish_reason': 'tool_calls',
    'usage.total_tokens': 15,
  },
  responses: {
    'output.0.summary.0.text': 'so',
    'output.1.content.0.text': 'Yes it is',
    'output.3.call_id': 'call_b',
    'output.3.arguments': '{"q":2}',
    status: 'completed',
    'usage.input_tokens': 10,
  },
  anthropic: {
    'content.0.thinking': 'so',
    'content.1.text': 'Yes it is',
    'content.3.id': 'call_b',
    'content.3.input.q': 2,
    stop_reason: 'tool_use',
    'usage.output_tokens': 5,
  },
  google: {
    'candidates.0.content.parts.0.thought': true,
    'candidates.0.content.parts.1.text': 'Yes it is',
    'candidates.0.content.parts.3.functionCall.args.q': 2,
    'candidates.0.finishReason': 'STOP',
    'usageMetadata.totalTokenCount': 15,
    modelVersion: 'gemini-2.5-pro',
  },
  ollama: {
    'message.thinking': 'so',
    'message.content': 'Yes it is',
    'message.tool_calls.1.function.arguments.q': 2,
    done: true,
    done_reason: 'stop',
    eval_count: 5,
  },
};

for (const dialect of Object.keys(paths) as WireFormatName[]) {
  test(`${dialect}: a whole answer has text, reasoning, both calls, the finish reason and the usage`, async () => {
    await using server = await scriptedServer([richResponse]);
    const body: unknown = await (await ask(server, dialect)).json();
    for (const [place, value] of Object.entries(expectedWhole[dialect]))
      assert.deepEqual(valueAtPath(body, place), value, place);
  });

  test(`${dialect}: the stream has the text in chunks of the requested size`, async () => {
    await using server = await scriptedServer([{ chunks: ['Yes', ' it', ' is'] }]);
    const text = await (await ask(server, dialect, true)).text();
    const found = valuesOf(text).flatMap((value) => {
      const piece =
        valueAtPath(value, 'choices.0.delta.content') ??
        (value['type'] === 'response.output_text.delta' ? value['delta'] : undefined) ??
        (value['type'] === 'content_block_delta' ? valueAtPath(value, 'delta.text') : undefined) ??
        valueAtPath(value, 'candidates.0.content.parts.0.text') ??
        valueAtPath(value, 'message.content');
      return typeof piece === 'string' && piece !== '' ? [piece] : [];
    });
    assert.deepEqual(found, ['Yes', ' it', ' is']);
  });

  test(`${dialect}: an invalid request is refused with 400 in the format of the API and uses no answer of the script`, async () => {
    await using server = await scriptedServer(['fine']);
    const [path, body] = paths[dialect](false);
    const bad =
      dialect === 'google'
        ? { contents: [] }
        : dialect === 'responses'
          ? { ...body, input: [] }
          : { ...body, messages: dialect === 'ollama' ? [{}] : [] };
    const refused = await post(server, path, bad);
    assert.equal(refused.status, 400);
    const error = valueAtPath(await refused.json(), 'error');
    assert.match(String(dialect === 'ollama' ? error : valueAtPath(error, 'message')), /contents|input|messages/);
    assert.equal((await ask(server, dialect)).status, 200);
  });

  test(`${dialect}: a failure has the status, the message and the Retry-After of the script`, async () => {
    await using server = await scriptedServer([
      fails(429, { message: 'Wait.', afterMs: 1500 }),
      fails('context-too-long'),
    ]);
    const limited = await ask(server, dialect, true);
    assert.deepEqual(
      [limited.status, limited.headers.get('retry-after'), limited.headers.get('retry-after-ms')],
      [429, '2', '1500'],
    );
    assert.match(await limited.text(), /Wait\./);
    const long = await ask(server, dialect);
    assert.equal(long.status, 400);
    assert.match(await long.text(), /maximum|exceeds the context/);
  });
}

test('the events of a response are numbered in order', async () => {
  await using server = await scriptedServer([richResponse]);
  const numbers = valuesOf(await (await ask(server, 'responses', true)).text()).map(
    (value) => value['sequence_number'],
  );
  assert.ok(numbers.length > 20);
  assert.deepEqual(
    numbers,
    Array.from(numbers, (_, i) => i),
  );
});

test('Anthropic reasoning has a signature, whole and streamed', async () => {
  await using server = await scriptedServer([richResponse, richResponse]);
  assert.ok(valueAtPath(await (await ask(server, 'anthropic')).json(), 'content.0.signature'));
  assert.match(await (await ask(server, 'anthropic', true)).text(), /"signature_delta","signature":"\w/);
});

test('Ollama reports a length limit with its own finish reason', async () => {
  await using server = await scriptedServer([says('x', { finish: 'length' })]);
  assert.equal(valueAtPath(await (await ask(server, 'ollama')).json(), 'done_reason'), 'length');
});

test('a script without answers left is an error with the index', async () => {
  await using server = await scriptedServer(['one']);
  await ask(server, 'chat');
  const response = await ask(server, 'chat');
  assert.equal(response.status, 400);
  assert.match(await response.text(), /has 1 answer and request 1 /);
});

test('a script can be a function of the request: n calls, then the answer, for any number of conversations', async () => {
  await using server = await scriptedServer(callsThenAnswer(2, 'look', (i) => ({ i }), 'done'));
  const conversation = (id: string, results: number): readonly Json[] => [
    ...hi,
    ...Array.from({ length: results }, (_, i) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: `${id}${i}`, type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: `${id}${i}`, content: 'x' },
    ]).flat(),
  ];
  const said = async (id: string, results: number): Promise<unknown> => {
    const body: unknown = await (
      await post(server, '/v1/chat/completions', { model: 'm', messages: conversation(id, results) })
    ).json();
    return (
      valueAtPath(body, 'choices.0.message.tool_calls.0.function.arguments') ??
      valueAtPath(body, 'choices.0.message.content')
    );
  };
  assert.deepEqual(await Promise.all([said('a', 0), said('b', 1), said('c', 2), said('d', 0)]), [
    '{"i":0}',
    '{"i":1}',
    'done',
    '{"i":0}',
  ]);
});

test('call ids are unique in a script, and given ids are kept', async () => {
  await using server = await scriptedServer(() => calls('a').and(calls('b'), calls('c', {}, { id: 'mine' })));
  const ids: unknown[] = [];
  for (let i = 0; i < 2; i++) {
    const body: unknown = await (await ask(server, 'chat')).json();
    ids.push(...[0, 1, 2].map((n) => valueAtPath(body, `choices.0.message.tool_calls.${n}.id`)));
  }
  assert.equal(new Set(ids).size, 5);
  assert.deepEqual([ids[2], ids[5]], ['mine', 'mine']);
});

test('usage is omitted if the script says so, and a stream has it only on request', async () => {
  await using server = await scriptedServer(({ index }) => says('x', index === 0 ? { usage: {} } : {}));
  assert.equal(valueAtPath(await (await ask(server, 'chat')).json(), 'usage'), undefined);
  assert.doesNotMatch(await (await ask(server, 'chat', true)).text(), /prompt_tokens/);
  const [path, body] = paths.chat(true);
  assert.match(
    await (await post(server, path, { ...body, stream_options: { include_usage: true } })).text(),
    /"prompt_tokens":10/,
  );
});

test('every request is recorded byte for byte, and its secrets are not printed', async () => {
  await using server = await scriptedServer(['ok', 'ok']);
  const raw = '{ "model" : "m",\n "messages":[{"role":"user","content":"\\u00e9 é"}] }';
  await post(server, '/v1/chat/completions', raw, { authorization: 'Bearer sk-secret', 'x-api-key': 'sk-other' });
  await post(server, '/v1beta/models/g:generateContent?key=sk-third&alt=json', {
    contents: [{ parts: [{ text: 'hi' }] }],
  });
  const [first, second] = server.requests;
  assert.equal(first?.raw.toString(), raw);
  assert.equal(valueAtPath(first?.body, 'messages.0.content'), 'é é');
  assert.deepEqual(
    [first?.format, first?.method, first?.path, second?.format],
    ['chat', 'POST', '/v1/chat/completions', 'google'],
  );
  assert.equal(first?.headers.authorization, 'Bearer sk-secret');
  assert.ok((second?.at ?? 0) >= (first?.at ?? 1));
  assert.deepEqual(first?.outcome, { complete: true, abandoned: false, status: 200 });
  assert.doesNotMatch(inspect(server.requests, { depth: 9 }) + JSON.stringify(server.requests), /sk-/);
});

test('a missing key is a 401 in the format of the API', async () => {
  await using server = await scriptedServer(() => 'ok', { key: 'right' });
  const [path, body] = paths.anthropic(false);
  const refused = await post(server, path, body, { 'x-api-key': 'wrong' });
  assert.equal(refused.status, 401);
  assert.equal(valueAtPath(await refused.json(), 'error.type'), 'authentication_error');
  assert.equal((await post(server, path, body, { 'x-api-key': 'right' })).status, 200);
  assert.equal((await ask(server, 'chat')).status, 401);
  assert.equal((await fetch(`${server.url}/v1/models`)).status, 401);
  assert.equal((await fetch(`${server.url}/v1/models`, { headers: { authorization: 'Bearer right' } })).status, 200);
});

test('the script can be replaced and the records cleared while the server runs', async () => {
  await using server = await scriptedServer(['one']);
  await ask(server, 'chat');
  server.setScript(['two']);
  server.clearRequests();
  assert.equal(valueAtPath(await (await ask(server, 'chat')).json(), 'choices.0.message.content'), 'two');
  assert.equal(server.requests.length, 1);
});

test('Google streams a JSON array to a client that does not request events', async () => {
  await using server = await scriptedServer(['one two']);
  const response = await post(server, '/v1beta/models/g:streamGenerateContent', paths.google(true)[1]);
  const values: unknown = await response.json();
  assert.deepEqual(
    [valueAtPath(values, '0.candidates.0.content.parts.0.text'), valueAtPath(values, '2.candidates.0.finishReason')],
    ['one', 'STOP'],
  );
});

test('closing ends the open connections, and new ones are refused', async () => {
  const server = await scriptedServer([{ text: 'a b c', cutAfter: 1, hang: true }]);
  const response = await ask(server, 'chat', true);
  const reading = response.text();
  await server.close();
  await assert.rejects(reading);
  await assert.rejects(fetch(server.url), (error: Error) => /ECONNREFUSED/.test((error.cause as Error).message));
});

test('a disconnected client is detected', async () => {
  await using server = await scriptedServer([{ hang: true }]);
  const stop = new AbortController();
  const asked = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(paths.chat(true)[1]),
    signal: stop.signal,
  });
  while (server.requests.length === 0) await new Promise((wake) => setTimeout(wake, 1));
  stop.abort();
  await assert.rejects(asked);
  while (!server.requests[0]?.outcome.abandoned) await new Promise((wake) => setTimeout(wake, 1));
  assert.equal(server.requests[0]?.outcome.complete, false);
});

test('an address without a listener is available', async () => {
  await assert.rejects(
    fetch(await closedUrl()),
    (error: Error) => (error.cause as { code?: string }).code === 'ECONNREFUSED',
  );
});

test('a port that is in use is a clear error', async () => {
  await using server = await scriptedServer([]);
  await assert.rejects(scriptedServer([], { port: server.port }), { code: 'testing/no-port', blame: 'user' });
});
