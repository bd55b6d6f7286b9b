// The prefix law at the server: raw slices are what JSON says they are, and every planted change is found where it is.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { prefixBreaks, prefixWarnings, scriptedServer, type Dialect, type RecordedRequest } from './index.ts';
import { elementsOf, membersOf } from './scan.ts';

const cut = (bytes: Buffer, { start, end }: { readonly start: number; readonly end: number }): string =>
  bytes.toString('utf8', start, end);

test('the slices of any JSON object and list are the texts of its values, whatever the white space', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t', '\n\r '),
      (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space === '\n\r ' ? 3 : space));
        const members = membersOf(bytes);
        const back = Object.fromEntries(
          [...members].map(([key, slice]): [string, unknown] => [key, JSON.parse(cut(bytes, slice))]),
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
        elementsOf(bytes).map((slice): unknown => JSON.parse(cut(bytes, slice))),
        JSON.parse(bytes.toString()),
      );
    }),
    { numRuns: 300 },
  );
});

test('what is not JSON is passed over without an exception and without an end', () => {
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
    membersOf(Buffer.from(text));
    elementsOf(Buffer.from(text));
  }
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', 'a', '1') }),
      (text) => {
        membersOf(Buffer.from(text));
        elementsOf(Buffer.from(text));
      },
    ),
    { numRuns: 500 },
  );
});

const recorded = (dialect: Dialect | undefined, text: string, path = '/x'): RecordedRequest => ({
  method: 'POST',
  path,
  query: '',
  headers: {},
  raw: Buffer.from(text),
  body: JSON.parse(text),
  dialect,
  at: 0,
  outcome: { whole: true, abandoned: false },
});

const places = (breaks: readonly { readonly index: number; readonly where: string }[]): readonly string[] =>
  breaks.map(({ index, where }) => `${index} ${where}`);

const chat = (...messages: readonly string[]): string =>
  `{"model":"m","messages":[${messages.join(',')}],"tools":[{"a":1}],"stream":true}`;

const hi = '{"role":"user","content":"hi"}';
const yes = '{"role":"assistant","content":"yes"}';

test('law 1 at the server: requests that extend each other, or repeat, have no breaks', () => {
  const requests = [chat(hi), chat(hi), chat(hi, yes), chat(hi, yes, hi)].map((text) => recorded('chat', text));
  assert.deepEqual(prefixBreaks(requests), []);
  assert.deepEqual(prefixWarnings(requests), []);
});

test('law 1 at the server is seen to fail at each place, even where JSON would call it equal', () => {
  const spoiled: readonly (readonly [dialect: Dialect, was: string, is: string, where: string])[] = [
    ['chat', chat(hi, yes), chat(hi, yes.replace('yes', 'no')), 'messages[1]'],
    ['chat', chat(hi), chat('{"content":"hi","role":"user"}'), 'messages[0]'],
    ['chat', chat(hi), chat('{"role":"user","content":"h\\u0069"}'), 'messages[0]'],
    ['chat', chat(hi), chat('{"role": "user","content":"hi"}'), 'messages[0]'],
    ['chat', chat(hi, yes), chat(hi), 'messages[1]'],
    ['chat', chat(hi), chat(hi).replace('{"a":1}', '{"a":1},{"b":2}'), 'tools'],
    ['chat', chat(hi), chat(hi).replace('"m"', '"n"'), 'model'],
    ['responses', '{"instructions":"a","input":[1]}', '{"instructions":"b","input":[1,2]}', 'instructions'],
    ['responses', '{"input":"a"}', '{"input":"b"}', 'input[0]'],
    ['anthropic', '{"system":[{"text":"a"}],"messages":[1]}', '{"system":[{"text":"b"}],"messages":[1]}', 'system'],
    ['anthropic', '{"messages":[1]}', '{"messages":[1],"thinking":{"type":"enabled"}}', 'thinking'],
    ['google', '{"contents":[1],"systemInstruction":{}}', '{"contents":[1]}', 'systemInstruction'],
    ['ollama', '{"messages":[1],"options":{"num_ctx":1}}', '{"messages":[1],"options":{"num_ctx":2}}', 'options'],
  ];
  for (const [dialect, was, is, where] of spoiled) {
    const breaks = prefixBreaks([recorded(dialect, was), recorded(dialect, is)]);
    assert.deepEqual(places(breaks), [`1 ${where}`], `${was} ${is}`);
    assert.notEqual(breaks[0]?.was, breaks[0]?.is);
  }
});

test('a Google model is in the path, and another model is a break', () => {
  const breaks = prefixBreaks([
    recorded('google', '{"contents":[1]}', '/a'),
    recorded('google', '{"contents":[1,2]}', '/b'),
  ]);
  assert.deepEqual(places(breaks), ['1 path']);
});

test('marks that ask for caching may move, in an object and not in a text', () => {
  const mark = ',"cache_control":{"type":"ephemeral","ttl":"5m"}';
  const block = (text: string, more = ''): string =>
    `{"role":"user","content":[{"type":"text","text":${JSON.stringify(text)}${more}}]}`;
  const said = '{"a":1,"cache_control":{"type":"ephemeral"}}';
  const requests = (first: string, second: string): readonly RecordedRequest[] =>
    [first, second].map((messages) => recorded('anthropic', `{"messages":[${messages}]}`));
  const moved = requests(block('a', mark), `${block('a')},${block('b', mark)}`);
  assert.deepEqual(prefixBreaks(moved), []);
  assert.deepEqual(places(prefixBreaks(moved, { marks: true })), ['1 messages[0]']);
  assert.deepEqual(places(prefixBreaks(requests(block(said), block('{"a":1}')))), ['1 messages[0]']);
});

test('another choice of tool is a warning and no break', () => {
  const requests = [
    recorded('chat', '{"messages":[1],"tool_choice":"auto"}'),
    recorded('chat', '{"messages":[1],"tool_choice":"none"}'),
  ];
  assert.deepEqual(prefixBreaks(requests), []);
  assert.deepEqual(places(prefixWarnings(requests)), ['1 tool_choice']);
});

test('each dialect is compared with itself, and listings with nothing', async () => {
  await using server = await scriptedServer(() => 'ok');
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) });
  const messages = [{ role: 'user', content: 'a' }];
  await post('/v1/chat/completions', { model: 'm', messages });
  await post('/v1/messages', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'b' }] });
  await fetch(`${server.url}/v1/models`);
  await post('/v1/chat/completions', { model: 'm', messages: [...messages, { role: 'assistant', content: 'x' }] });
  await post('/v1/messages', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'c' }] });
  assert.deepEqual(places(prefixBreaks(server.requests)), ['4 messages[0]']);
});
