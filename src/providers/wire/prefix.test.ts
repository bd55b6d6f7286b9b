// A conversation is encoded once: the same bytes as encoding it anew, however it grows and branches, and each message only once.
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
import { prefixEncoder } from './prefix.ts';

const say = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const plain = (message: Message): readonly object[] => [message];

function counting(): { readonly encode: (trail: PersistentList<Message>) => string; readonly count: () => number } {
  let count = 0;
  const encoder = prefixEncoder((message) => {
    count++;
    return plain(message);
  });
  const encode = (trail: PersistentList<Message>): string => Buffer.concat(encoder(trail).bytes).toString('utf8');
  return { encode, count: () => count };
}

const anew = (trail: PersistentList<Message>): string => JSON.stringify(toArray(trail)).slice(1, -1);

test('[A10] a turn encodes its new messages and none of the old', () => {
  const { encode, count } = counting();
  let trail = createPersistentList([say('a'), say('b')]);
  encode(trail);
  for (let turn = 0; turn < 300; turn++) {
    const before = encode(trail);
    trail = appendItem(appendItem(trail, say(`é😀${'x'.repeat(turn)}`)), say('ok'));
    const now = encode(trail);
    assert.ok(now.startsWith(`${before},`));
    assert.equal(now, anew(trail));
  }
  assert.equal(count(), 2 + 600);
});

test('[A10] bytes given out before stay what they were when the conversation grows', () => {
  const encoder = prefixEncoder(plain);
  let trail = createPersistentList([say('first')]);
  const given: { readonly bytes: readonly Uint8Array[]; readonly text: string }[] = [];
  for (let turn = 0; turn < 200; turn++) {
    const { bytes } = encoder(trail);
    given.push({ bytes, text: anew(trail) });
    trail = appendItem(trail, say('y'.repeat(turn * 10)));
  }
  for (const { bytes, text } of given) assert.equal(Buffer.concat(bytes).toString('utf8'), text);
});

test('[A10] a long conversation is in few pieces, and none of them is copied for each turn', () => {
  const encoder = prefixEncoder(plain);
  let trail = createPersistentList([say('x'.repeat(700_000)), say('y'.repeat(700_000)), say('w'.repeat(70_000))]);
  const [first] = encoder(trail).bytes;
  for (let turn = 0; turn < 3000; turn++) {
    trail = appendItem(trail, say(`turn ${turn} ${'z'.repeat(turn % 90)}`));
    const { bytes } = encoder(trail);
    assert.equal(bytes[0], first);
    assert.ok(bytes.length < 24, `${bytes.length} pieces`);
  }
  for (let turn = 0; turn < 5; turn++) trail = appendItem(trail, say('z'.repeat(900_000)));
  assert.equal(encoder(trail).bytes[0], first);
  assert.equal(Buffer.concat(encoder(trail).bytes).toString('utf8'), anew(trail));
});

test('[A10] a branch shares what was sent and encodes only what differs', () => {
  const { encode, count } = counting();
  const root = createPersistentList([say('a'), say('b')]);
  encode(root);
  const left = appendItem(root, say('left'));
  encode(left);
  const right = appendItem(root, say('right'));
  assert.equal(encode(right), anew(right));
  assert.equal(count(), 4);
  assert.equal(encode(appendItem(left, say('more'))), anew(appendItem(left, say('more'))));
});

test('any mixture of growing, branching and replacing gives the bytes of encoding anew', () => {
  const step = fc.tuple(fc.nat({ max: 30 }), fc.constantFrom('push', 'swap', 'send'), fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { encode } = counting();
      const trails: PersistentList<Message>[] = [
        createPersistentList<Message>(),
        createPersistentList([say('one'), say('two')]),
      ];
      for (const [which, how, text] of steps) {
        const trail = trails[which % trails.length] as PersistentList<Message>;
        if (how === 'push') trails.push(appendItem(trail, say(text)));
        else if (how === 'swap' && trail.length > 0) trails.push(replaceLastItem(trail, say(text)));
        else assert.equal(encode(trail), anew(trail));
      }
      for (const trail of trails) assert.equal(encode(trail), anew(trail));
    }),
    { numRuns: 300 },
  );
});

test('a file counts as a page of text, not by its bytes', () => {
  const encoder = prefixEncoder(plain);
  const image: Message = { role: 'user', parts: [{ type: 'file', mediaType: 'image/png', data: 'A'.repeat(1e6) }] };
  const { chars } = encoder(createPersistentList([image]));
  assert.ok(chars > 3000 && chars < 6000);
});

test('[P12] a picture of a result counts as a page too, and only its words where it is not shown', () => {
  const files = [{ type: 'file', mediaType: 'image/png', data: 'A'.repeat(1e6) }] as const;
  const result: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', id: 'a', tool: 'read_file', text: 'a.png', failed: false, files }],
  };
  const charsFor = (sight: boolean | 'unknown'): number =>
    prefixEncoder(plain, sight)(createPersistentList([result])).chars;
  assert.ok(charsFor(true) > 3000 && charsFor(true) < 6000);
  for (const sight of [false, 'unknown'] as const) assert.ok(charsFor(sight) > 100 && charsFor(sight) < 300);
});
