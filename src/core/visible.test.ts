import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible } from './visible.ts';

test('what could drive a terminal is written out: escapes, bells, C1 controls, returns', () => {
  assert.equal(visible('\x1b]52;c;aGk=\x07'), '␛]52;c;aGk=␇');
  assert.equal(visible('a\rb\x08\x7f\x9b31m'), 'a␍b␈␡<U+009B>31m');
});

test('what hides or reorders text is written out: directions, zero widths, tags, lone surrogates', () => {
  assert.equal(visible('rm \u202e/tmp\u2066'), 'rm <U+202E>/tmp<U+2066>');
  assert.equal(visible('a\u200bb\ufeff\u{e0041}'), 'a<U+200B>b<U+FEFF><U+E0041>');
  assert.equal(visible('a\ud800b'), 'a<U+D800>b');
  assert.equal(visible('ls\u200d'), 'ls<U+200D>');
});

test('ordinary text stays as it is: lines, tabs, wide letters, joined emoji', () => {
  for (const text of ['a\n\tb', '漢字 かな', '👩‍💻 ❤️', 'क्‍ष', 'naïve']) assert.equal(visible(text), text);
  assert.equal(visible('a\r\nb'), 'a\nb');
});
