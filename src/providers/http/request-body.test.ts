// Tests that each message of a history is encoded once, with the same bytes as a complete encoding, after growth and branches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  appendItem,
  replaceLastItem,
  toArray,
  createPersistentList,
  type Message,
  type PersistentList,
} from '../../core/index.ts';
import { createPrefixEncoder } from './request-body.ts';

const userMessage = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const encodePlain = (message: Message): readonly object[] => [message];

function createCountingEncoder(): {
  readonly encode: (trail: PersistentList<Message>) => string;
  readonly count: () => number;
} {
  let count = 0;
  const encoder = createPrefixEncoder((message) => {
    count++;
    return encodePlain(message);
  });
  const encode = (trail: PersistentList<Message>): string => Buffer.concat(encoder(trail).bytes).toString('utf8');
  return { encode, count: () => count };
}

const encodeFromScratch = (trail: PersistentList<Message>): string => JSON.stringify(toArray(trail)).slice(1, -1);

test('[A10] a turn encodes only its new messages', () => {
  const { encode, count } = createCountingEncoder();
  let trail = createPersistentList([userMessage('a'), userMessage('b')]);
  encode(trail);
  for (let turn = 0; turn < 300; turn++) {
    const before = encode(trail);
    trail = appendItem(appendItem(trail, userMessage(`é😀${'x'.repeat(turn)}`)), userMessage('ok'));
    const now = encode(trail);
    assert.ok(now.startsWith(`${before},`));
    assert.equal(now, encodeFromScratch(trail));
  }
  assert.equal(count(), 2 + 600);
});

test('[A10] returned bytes do not change when the history grows', () => {
  const encoder = createPrefixEncoder(encodePlain);
  let trail = createPersistentList([userMessage('first')]);
  const given: { readonly bytes: readonly Uint8Array[]; readonly text: string }[] = [];
  for (let turn = 0; turn < 200; turn++) {
    const { bytes } = encoder(trail);
    given.push({ bytes, text: encodeFromScratch(trail) });
    trail = appendItem(trail, userMessage('y'.repeat(turn * 10)));
  }
  for (const { bytes, text } of given) assert.equal(Buffer.concat(bytes).toString('utf8'), text);
});

test('[A10] a long history has few pieces, and no piece is copied in every turn', () => {
  const encoder = createPrefixEncoder(encodePlain);
  let trail = createPersistentList([
    userMessage('x'.repeat(700_000)),
    userMessage('y'.repeat(700_000)),
    userMessage('w'.repeat(70_000)),
  ]);
  const [first] = encoder(trail).bytes;
  for (let turn = 0; turn < 3000; turn++) {
    trail = appendItem(trail, userMessage(`turn ${turn} ${'z'.repeat(turn % 90)}`));
    const { bytes } = encoder(trail);
    assert.equal(bytes[0], first);
    assert.ok(bytes.length < 24, `${bytes.length} pieces`);
  }
  for (let turn = 0; turn < 5; turn++) trail = appendItem(trail, userMessage('z'.repeat(900_000)));
  assert.equal(encoder(trail).bytes[0], first);
  assert.equal(Buffer.concat(encoder(trail).bytes).toString('utf8'), encodeFromScratch(trail));
});

test('[A10] a branch shares the common bytes and encodes only different messages', () => {
  const { encode, count } = createCountingEncoder();
  const root = createPersistentList([userMessage('a'), userMessage('b')]);
  encode(root);
  const left = appendItem(root, userMessage('left'));
  encode(left);
  const right = appendItem(root, userMessage('right'));
  assert.equal(encode(right), encodeFromScratch(right));
  assert.equal(count(), 4);
  assert.equal(encode(appendItem(left, userMessage('more'))), encodeFromScratch(appendItem(left, userMessage('more'))));
});

test('any sequence of appends, branches and replacements gives the bytes of a complete encoding', () => {
  const step = fc.tuple(fc.nat({ max: 30 }), fc.constantFrom('push', 'swap', 'send'), fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { encode } = createCountingEncoder();
      const trails: PersistentList<Message>[] = [
        createPersistentList<Message>(),
        createPersistentList([userMessage('one'), userMessage('two')]),
      ];
      for (const [which, how, text] of steps) {
        const trail = trails[which % trails.length] as PersistentList<Message>;
        if (how === 'push') trails.push(appendItem(trail, userMessage(text)));
        else if (how === 'swap' && trail.length > 0) trails.push(replaceLastItem(trail, userMessage(text)));
        else assert.equal(encode(trail), encodeFromScratch(trail));
      }
      for (const trail of trails) assert.equal(encode(trail), encodeFromScratch(trail));
    }),
    { numRuns: 300 },
  );
});

test('a file counts as a fixed number of characters, not by its size', () => {
  const encoder = createPrefixEncoder(encodePlain);
  const image: Message = { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', data: 'A'.repeat(1e6) }] };
  const { chars } = encoder(createPersistentList([image]));
  assert.ok(chars > 3000 && chars < 6000);
});

test('[P12] an image of a tool result counts the same, and only its placeholder if it is not sent', () => {
  const files = [{ type: 'file', mediaType: 'image/png', data: 'A'.repeat(1e6) }] as const;
  const result: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', id: 'a', tool: 'read_file', text: 'a.png', failed: false, files }],
  };
  const charsFor = (imageSupport: boolean | 'unknown'): number =>
    createPrefixEncoder(encodePlain, imageSupport)(createPersistentList([result])).chars;
  assert.ok(charsFor(true) > 3000 && charsFor(true) < 6000);
  for (const imageSupport of [false, 'unknown'] as const)
    assert.ok(charsFor(imageSupport) > 100 && charsFor(imageSupport) < 300);
});
