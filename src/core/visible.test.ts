import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible, visibleLine } from './visible.ts';

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

test('on one line even line breaks and tabs are written out', () => {
  assert.equal(visibleLine('a\nb\tc\r\nd\u202e'), 'a␊b␉c␍␊d<U+202E>');
});

test('attack 70: joiners and selectors show where they make no picture and spell no word', () => {
  assert.equal(visible('a\ufe0fb\u200cc\u034f\u3164'), 'a<U+FE0F>b<U+200C>c<U+034F><U+3164>');
  for (const text of ['می\u200cخواهم', '1️⃣', '👍🏽', '\u3000漢']) assert.equal(visible(text), text);
});
