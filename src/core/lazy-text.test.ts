// Lazy texts: read like any other text, and passed on undecoded only by their own object.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLazyText, getLazyText, copyText, textOrCharCodes, textLength, type LazyText } from './lazy-text.ts';

function kept(text: string): LazyText & { readonly reads: () => number } {
  let reads = 0;
  const read = (): string => {
    reads++;
    return text;
  };
  return {
    json: new TextEncoder().encode(JSON.stringify(text)),
    jsonLength: JSON.stringify(text).length,
    length: text.length,
    charCodes: undefined,
    read,
    reads: () => reads,
  };
}

test('[A24] a lazy text is read, copied and serialized like any other', () => {
  const part = setLazyText({ type: 'tool-result', text: '', failed: false }, kept('a "b"\n'));
  assert.equal(part.text, 'a "b"\n');
  assert.deepEqual(part, { type: 'tool-result', text: 'a "b"\n', failed: false });
  assert.equal(JSON.stringify(part), '{"type":"tool-result","text":"a \\"b\\"\\n","failed":false}');
  assert.deepEqual({ ...part }, structuredClone(part));
});

test('[A24] its length is known and it is passed on without being decoded', () => {
  const text = kept('long');
  const passed = copyText(setLazyText({}, text), { id: 'c1' });
  assert.equal(textLength(passed), 4);
  assert.equal(getLazyText(passed), text);
  assert.equal(text.reads(), 0);
  assert.deepEqual(passed, { id: 'c1', text: 'long' });
});

test('a copy with another text never passes on the old one', () => {
  const part = setLazyText({}, kept('a secret'));
  const redacted = { ...part, text: '***' };
  assert.equal(getLazyText(redacted), undefined);
  assert.equal(copyText(redacted, {}).text, '***');
  assert.equal(textLength(redacted), 3);
});

test('character codes are used instead of a text if they are available', () => {
  const codes = new Uint8Array([104, 105]);
  assert.equal(textOrCharCodes(setLazyText({}, { ...kept('hi'), charCodes: codes })), codes);
  assert.equal(textOrCharCodes(setLazyText({}, kept('hi'))), 'hi');
  assert.equal(textOrCharCodes({ text: 'hi' }), 'hi');
});
