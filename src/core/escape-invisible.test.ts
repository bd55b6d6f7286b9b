import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeInvisible, escapeInvisibleLine } from './escape-invisible.ts';

test('terminal control characters are escaped: escape sequences, bells, C1 controls, carriage returns', () => {
  assert.equal(escapeInvisible('\x1b]52;c;aGk=\x07'), '␛]52;c;aGk=␇');
  assert.equal(escapeInvisible('a\rb\x08\x7f\x9b31m'), 'a␍b␈␡<U+009B>31m');
});

test('characters that hide or reorder text are escaped: bidirectional controls, zero-width characters, tags, lone surrogates', () => {
  assert.equal(escapeInvisible('rm \u202e/tmp\u2066'), 'rm <U+202E>/tmp<U+2066>');
  assert.equal(escapeInvisible('a\u200bb\ufeff\u{e0041}'), 'a<U+200B>b<U+FEFF><U+E0041>');
  assert.equal(escapeInvisible('a\ud800b'), 'a<U+D800>b');
  assert.equal(escapeInvisible('ls\u200d'), 'ls<U+200D>');
});

test('ordinary text is unchanged: lines, tabs, wide characters, joined emoji', () => {
  for (const text of ['a\n\tb', '漢字 かな', '👩‍💻 ❤️', 'क्‍ष', 'naïve']) assert.equal(escapeInvisible(text), text);
  assert.equal(escapeInvisible('a\r\nb'), 'a\nb');
});

test('in single-line mode line breaks and tabs are escaped too', () => {
  assert.equal(escapeInvisibleLine('a\nb\tc\r\nd\u202e'), 'a␊b␉c␍␊d<U+202E>');
});

test('attack 70: joiners and variation selectors are escaped unless they form an emoji or a word', () => {
  assert.equal(escapeInvisible('a\ufe0fb\u200cc\u034f\u3164'), 'a<U+FE0F>b<U+200C>c<U+034F><U+3164>');
  for (const text of ['می\u200cخواهم', '1️⃣', '👍🏽', '\u3000漢']) assert.equal(escapeInvisible(text), text);
});
