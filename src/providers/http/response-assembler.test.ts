// Tests the response assembler: pieces become one message; arguments are parsed once, at the end, and not repaired.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chunk, Message } from '../../core/index.ts';
import {
  createResponseAssembler,
  parseToolInput,
  type ResponseAssembler,
  type PartOrder,
} from './response-assembler.ts';

const providerInfo = { name: 'test' };
const responseEnd = { finishReason: 'stop', usage: {}, model: 'm' } as const;

function assembled(
  speak: (parts: ResponseAssembler) => void,
  weave?: PartOrder,
): { readonly chunks: readonly Chunk[]; readonly message: Message } {
  const parts = createResponseAssembler(providerInfo, weave);
  speak(parts);
  parts.end(responseEnd);
  const chunks = parts.takeChunks();
  const end = chunks.at(-1);
  assert.ok(end?.type === 'end');
  return { chunks, message: end.message };
}

test('[A6] adjacent pieces of one kind are one part, and their deltas are joined until they are taken', () => {
  const parts = createResponseAssembler(providerInfo);
  parts.reasoning('hm');
  parts.text('Hel');
  parts.text('lo');
  assert.deepEqual(parts.takeChunks(), [
    { type: 'part-started', index: 0, part: 'reasoning' },
    { type: 'part-delta', index: 0, text: 'hm' },
    { type: 'part-ended', index: 0 },
    { type: 'part-started', index: 1, part: 'text' },
    { type: 'part-delta', index: 1, text: 'Hello' },
  ]);
  parts.text('!');
  parts.end({ ...responseEnd, rawFinishReason: 'stop' });
  assert.deepEqual(parts.takeChunks(), [
    { type: 'part-delta', index: 1, text: '!' },
    { type: 'part-ended', index: 1 },
    {
      type: 'end',
      message: {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'Hello!' },
        ],
      },
      ...responseEnd,
      rawFinishReason: 'stop',
    },
  ]);
});

test('alternating text and reasoning keep their order, or form one part each (`apart`)', () => {
  const speak = (parts: ResponseAssembler): void => {
    parts.text('a');
    parts.reasoning('x');
    parts.text('b');
    parts.reasoning('y');
  };
  const texts = (weave: PartOrder): readonly string[] =>
    assembled(speak, weave).message.parts.map((part) =>
      part.type === 'text' || part.type === 'reasoning' ? part.text : '',
    );
  assert.deepEqual(texts('in-turn'), ['a', 'x', 'b', 'y']);
  assert.deepEqual(texts('apart'), ['ab', 'xy']);
  const { chunks } = assembled(speak, 'apart');
  assert.equal(chunks.filter((chunk) => chunk.type === 'part-started').length, 2);
  assert.equal(chunks.filter((chunk) => chunk.type === 'part-ended').length, 2);
});

test('pieces are added to their own call; a name can arrive in pieces or be repeated', () => {
  const { message, chunks } = assembled((parts) => {
    parts.call(0, { id: 'a', tool: 'read_' });
    parts.call(0, { tool: 'file', input: '{"p":' });
    parts.call(1, { id: 'b', tool: 'list', input: '{' });
    parts.call(0, { id: 'again', tool: 'read_file', input: '1}' });
    parts.call(1, { input: '}' });
  });
  assert.deepEqual(message.parts, [
    { type: 'tool-call', id: 'a', tool: 'read_file', input: { p: 1 } },
    { type: 'tool-call', id: 'b', tool: 'list', input: {} },
  ]);
  const started = chunks.find((chunk) => chunk.type === 'part-started');
  assert.deepEqual(started, { type: 'part-started', index: 0, part: 'tool-call', id: 'a', tool: 'read_file' });
});

test('[A54] arguments are an object or invalid; they are not repaired (fault 50)', () => {
  assert.deepEqual(parseToolInput('{"a": [1, "x"]}'), { input: { a: [1, 'x'] } });
  for (const empty of ['', '  \n']) assert.deepEqual(parseToolInput(empty), { input: {} });
  const broken = [
    '{"a":1',
    '{"a":1,}',
    "{'a':1}",
    '{"a":1}{"a":1}',
    '{"a":1} {"b":2}',
    '[1]',
    '"text"',
    '"{\\"a\\":1}"',
    '1',
    'null',
    'true',
    '{"a":1}x',
    'NaN',
    '```json\n{}\n```',
  ];
  for (const raw of broken) assert.deepEqual(parseToolInput(raw), { input: {}, invalid: raw }, raw);
  assert.equal(Object.getPrototypeOf(parseToolInput('{"__proto__":{"x":1}}').input), Object.prototype);
});

test('arguments sent as an object are used as is; two objects are invalid', () => {
  const one = assembled((parts) => parts.call(0, { tool: 't', input: { a: 1 } })).message.parts[0];
  assert.deepEqual(one, { type: 'tool-call', id: 'call_0', tool: 't', input: { a: 1 } });
  const two = assembled((parts) => {
    parts.call(0, { tool: 't', input: { a: 1 } });
    parts.call(0, { input: { a: 1 } });
  }).message.parts[0];
  assert.deepEqual(two, { type: 'tool-call', id: 'call_0', tool: 't', input: {}, invalid: '{"a":1}{"a":1}' });
});

test('metadata stays with its part, and a part with metadata only is kept', () => {
  const meta = { family: 'f', data: { s: 1 } };
  const { message } = assembled((parts) => {
    parts.reasoning('', meta);
    parts.text('');
    parts.call(0, { tool: 't', meta });
  });
  assert.deepEqual(message.parts, [
    { type: 'reasoning', text: '', meta },
    { type: 'tool-call', id: 'call_1', tool: 't', input: {}, meta },
  ]);
});

test('[A54] a response of more than 32 million characters is an error (fault 60)', () => {
  const parts = createResponseAssembler(providerInfo);
  const piece = 'x'.repeat(2 ** 20);
  assert.throws(
    () => {
      for (let i = 0; i < 40; i++) parts.text(piece);
    },
    { code: 'provider/too-large' },
  );
});
