// The prefix law at the server: raw slices equal the parsed JSON, and every inserted change is found at its position.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { prefixBreaks, prefixWarnings, scriptedServer, type WireFormatName, type RecordedRequest } from './index.ts';
import { arrayElements, objectMembers } from './json-slices.ts';

const sliceText = (bytes: Buffer, { start, end }: { readonly start: number; readonly end: number }): string =>
  bytes.toString('utf8', start, end);

test('the slices of any JSON object and list are the texts of its values, with any white space', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t', '\n\r '),
      (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space === '\n\r ' ? 3 : space));
        const members = objectMembers(bytes);
        const back = Object.fromEntries(
          [...members].map(([key, slice]): [string, unknown] => [key, JSON.parse(sliceText(bytes, slice))]),
        );
        assert.deepEqual(back, JSON.parse(bytes.toString()));
      },
    ),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (value, space) => {
      const bytes = Buffer.from(JSON.stringify(value, null, space));
      assert.deepEqual(
        arrayElements(bytes).map((slice): unknown => JSON.parse(sliceText(bytes, slice))),
        JSON.parse(bytes.toString()),
      );
    }),
    { numRuns: 300 },
  );
});

test('text that is not JSON is skipped without an exception and without an endless loop', () => {
  const texts = [
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":"\\"',
    '[',
    '[1',
    '[1,,2]',
    '[1 2]',
    'x',
    '{"a":1,}',
    '[}',
    '{"a":[1,{"b":"c',
    ']',
    '{,}',
  ];
  for (const text of texts) {
    objectMembers(Buffer.from(text));
    arrayElements(Buffer.from(text));
  }
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', 'a', '1') }),
      (text) => {
        objectMembers(Buffer.from(text));
        arrayElements(Buffer.from(text));
      },
    ),
    { numRuns: 500 },
  );
});

const createRecordedRequest = (dialect: WireFormatName | undefined, text: string, path = '/x'): RecordedRequest => ({
  method: 'POST',
  path,
  query: '',
  headers: {},
  raw: Buffer.from(text),
  body: JSON.parse(text),
  format: dialect,
  at: 0,
  outcome: { complete: true, abandoned: false },
});

const breakLocations = (breaks: readonly { readonly index: number; readonly where: string }[]): readonly string[] =>
  breaks.map(({ index, where }) => `${index} ${where}`);

const chatBody = (...messages: readonly string[]): string =>
  `{"model":"m","messages":[${messages.join(',')}],"tools":[{"a":1}],"stream":true}`;

const userJson = '{"role":"user","content":"hi"}';
const assistantJson = '{"role":"assistant","content":"yes"}';

test('law 1 at the server: requests that extend each other, or repeat, have no breaks', () => {
  const requests = [
    chatBody(userJson),
    chatBody(userJson),
    chatBody(userJson, assistantJson),
    chatBody(userJson, assistantJson, userJson),
  ].map((text) => createRecordedRequest('chat', text));
  assert.deepEqual(prefixBreaks(requests), []);
  assert.deepEqual(prefixWarnings(requests), []);
});

test('law 1 at the server is violated by any change, even if the JSON values are equal', () => {
  const spoiled: readonly (readonly [dialect: WireFormatName, was: string, is: string, where: string])[] = [
    ['chat', chatBody(userJson, assistantJson), chatBody(userJson, assistantJson.replace('yes', 'no')), 'messages[1]'],
    ['chat', chatBody(userJson), chatBody('{"content":"hi","role":"user"}'), 'messages[0]'],
    ['chat', chatBody(userJson), chatBody('{"role":"user","content":"h\\u0069"}'), 'messages[0]'],
    ['chat', chatBody(userJson), chatBody('{"role": "user","content":"hi"}'), 'messages[0]'],
    ['chat', chatBody(userJson, assistantJson), chatBody(userJson), 'messages[1]'],
    ['chat', chatBody(userJson), chatBody(userJson).replace('{"a":1}', '{"a":1},{"b":2}'), 'tools'],
    ['chat', chatBody(userJson), chatBody(userJson).replace('"m"', '"n"'), 'model'],
    ['responses', '{"instructions":"a","input":[1]}', '{"instructions":"b","input":[1,2]}', 'instructions'],
    ['responses', '{"input":"a"}', '{"input":"b"}', 'input[0]'],
    ['anthropic', '{"system":[{"text":"a"}],"messages":[1]}', '{"system":[{"text":"b"}],"messages":[1]}', 'system'],
    ['anthropic', '{"messages":[1]}', '{"messages":[1],"thinking":{"type":"enabled"}}', 'thinking'],
    ['google', '{"contents":[1],"systemInstruction":{}}', '{"contents":[1]}', 'systemInstruction'],
    ['ollama', '{"messages":[1],"options":{"num_ctx":1}}', '{"messages":[1],"options":{"num_ctx":2}}', 'options'],
  ];
  for (const [dialect, was, is, where] of spoiled) {
    const breaks = prefixBreaks([createRecordedRequest(dialect, was), createRecordedRequest(dialect, is)]);
    assert.deepEqual(breakLocations(breaks), [`1 ${where}`], `${was} ${is}`);
    assert.notEqual(breaks[0]?.was, breaks[0]?.is);
  }
});

test('the model of a Google request is in the path, and another model is a break', () => {
  const breaks = prefixBreaks([
    createRecordedRequest('google', '{"contents":[1]}', '/a'),
    createRecordedRequest('google', '{"contents":[1,2]}', '/b'),
  ]);
  assert.deepEqual(breakLocations(breaks), ['1 path']);
});

test('cache markers may move in an object, but not in a text', () => {
  const mark = ',"cache_control":{"type":"ephemeral","ttl":"5m"}';
  const block = (text: string, more = ''): string =>
    `{"role":"user","content":[{"type":"text","text":${JSON.stringify(text)}${more}}]}`;
  const said = '{"a":1,"cache_control":{"type":"ephemeral"}}';
  const requests = (first: string, second: string): readonly RecordedRequest[] =>
    [first, second].map((messages) => createRecordedRequest('anthropic', `{"messages":[${messages}]}`));
  const moved = requests(block('a', mark), `${block('a')},${block('b', mark)}`);
  assert.deepEqual(prefixBreaks(moved), []);
  assert.deepEqual(breakLocations(prefixBreaks(moved, { cacheMarkers: true })), ['1 messages[0]']);
  assert.deepEqual(breakLocations(prefixBreaks(requests(block(said), block('{"a":1}')))), ['1 messages[0]']);
});

test('another tool choice is a warning and no break', () => {
  const requests = [
    createRecordedRequest('chat', '{"messages":[1],"tool_choice":"auto"}'),
    createRecordedRequest('chat', '{"messages":[1],"tool_choice":"none"}'),
  ];
  assert.deepEqual(prefixBreaks(requests), []);
  assert.deepEqual(breakLocations(prefixWarnings(requests)), ['1 tool_choice']);
});

test('each wire format is compared with itself only, and model listings with nothing', async () => {
  await using server = await scriptedServer(() => 'ok');
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) });
  const messages = [{ role: 'user', content: 'a' }];
  await post('/v1/chat/completions', { model: 'm', messages });
  await post('/v1/messages', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'b' }] });
  await fetch(`${server.url}/v1/models`);
  await post('/v1/chat/completions', { model: 'm', messages: [...messages, { role: 'assistant', content: 'x' }] });
  await post('/v1/messages', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'c' }] });
  assert.deepEqual(breakLocations(prefixBreaks(server.requests)), ['4 messages[0]']);
});
