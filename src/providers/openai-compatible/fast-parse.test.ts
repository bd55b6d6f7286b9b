// Tests that the fast path gives the same result as a complete parse, for any events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Chunk } from '../../core/index.ts';
import { createContentFastPath } from './fast-parse.ts';
import { readChatStream } from './response.ts';

const event = (content: string): string =>
  `{"id":"x","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}],"usage":null}`;
const parse = (data: string): Record<string, unknown> => JSON.parse(data) as Record<string, unknown>;

test('[A6] an event that differs from the previous one only in plain content is not parsed; quotes, escapes and other changes are', () => {
  const frame = createContentFastPath();
  assert.equal(frame.extractContent(event('a')), undefined);
  frame.learn(event('a'), parse(event('a')));
  assert.equal(frame.extractContent(event('bé😀')), 'bé😀');
  assert.equal(frame.extractContent(event('')), '');
  for (const content of ['"', '\\', 'a\n', 'a"}}],"x":"'])
    assert.equal(frame.extractContent(event(content)), undefined);
  assert.equal(frame.extractContent(event('a').replace('null}]', '"stop"}]')), undefined);
  assert.equal(frame.extractContent(event('a').slice(0, -3)), undefined);
  assert.equal(frame.extractContent(event('a').replace('"usage":null', '"usage":true')), undefined);
  assert.equal(frame.extractContent(event('a').replace('"id":"x"', '"id":"y"')), undefined);
});

test('[A6] an event with more than content is not used as a template', () => {
  const more = [
    event('a').replace('"usage":null', '"usage":{"prompt_tokens":1}'),
    event('a').replace('"finish_reason":null', '"finish_reason":"stop"'),
    event('a').replace('"content":"a"', '"content":"a","reasoning":"x"'),
    event('a').replace('"content":"a"', '"content":"a","tool_calls":[{}]'),
    event('a').replace('"content":"a"', '"content":["a"]'),
    event('a').replace('{"id":"x"', '{"content":"x"'),
    event('a').replace('{"id":"x"', '{"error":"x"'),
  ];
  for (const data of more) {
    const frame = createContentFastPath();
    frame.learn(data, parse(data));
    assert.equal(frame.extractContent(data), undefined, data);
  }
});

const contentText = fc.oneof(
  fc.constantFrom('a', 'tok ', '"', '\\', '\n', 'é', '😀', '","content":"', '\u2028'),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const plainDelta = contentText.map((content) => ({ delta: { content } }));
const otherDelta = fc.oneof(
  contentText.map((content) => ({ delta: { role: 'assistant', content }, extra: { created: content.length } })),
  contentText.map((content) => ({ delta: { content, refusal: null }, extra: { content: 'elsewhere' } })),
  contentText.map((reasoning) => ({ delta: { reasoning, content: null } })),
  contentText.map((content) => ({ delta: { content: [{ type: 'text', text: content }] } })),
);
type DeltaCase = { readonly delta: Readonly<Record<string, unknown>>; readonly extra?: object };

async function readText(said: readonly DeltaCase[]): Promise<string> {
  const datas = said.map(({ delta, extra }) =>
    JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }], ...extra }),
  );
  const last = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  async function* body(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from([...datas, last, '[DONE]'].map((data) => `data: ${data}\n\n`).join('')));
  }
  const chunks: Chunk[] = [];
  for await (const chunk of readChatStream(body(), {
    providerInfo: { name: 'test' },
    family: 'test',
    model: 'm',
    keepReasoning: 'none',
  }))
    chunks.push(chunk);
  const end = chunks.at(-1);
  assert.ok(end?.type === 'end');
  return end.message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

const contentOfCase = ({ delta: { content } }: DeltaCase): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? (content as { text: string }[]).map((each) => each.text).join('')
      : '';

test('[A6] any sequence of events gives their text', async () => {
  const stream = fc.array(fc.oneof({ weight: 5, arbitrary: plainDelta }, { weight: 1, arbitrary: otherDelta }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(stream, async (said: readonly DeltaCase[]) => {
      assert.equal(await readText(said), said.map(contentOfCase).join('').toWellFormed());
    }),
    { numRuns: 500 },
  );
});
