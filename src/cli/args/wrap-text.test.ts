// Tests that messages are wrapped at words.
import assert from 'node:assert/strict';
import test from 'node:test';
import { wrapText } from './wrap-text.ts';

test('a long line is wrapped at words, a short one and a long word stay as they are', () => {
  assert.equal(wrapText('one two three four five six', 10), 'one two\nthree four\nfive six');
  assert.equal(wrapText('short\nlines', 10), 'short\nlines');
  assert.equal(wrapText('x http://a.example/very-long y', 12), 'x\nhttp://a.example/very-long\ny');
});

test('continued lines are indented to their text or to their column', () => {
  const row = `ok    commands      ${'word '.repeat(12).trim()}`;
  for (const line of wrapText(row, 50).split('\n').slice(1)) assert.match(line, /^ {20}word/);
  assert.match(wrapText(`  ${'word '.repeat(20).trim()}`, 40), /\n {2}word/);
});

test('nothing is lost and no line is longer than the width', () => {
  const text = 'The quick brown fox jumps over the lazy dog, again and again, until it is tired of it.';
  for (let width = 22; width < 90; width++) {
    const wrapped = wrapText(text, width);
    assert.equal(wrapped.replaceAll(/\s+/g, ' '), text);
    assert.ok(wrapped.split('\n').every((line) => line.length <= width));
  }
});
