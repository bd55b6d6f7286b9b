// The bundle in ASCII says what it said before.
import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import * as fc from 'fast-check';
import { inAscii } from '../scripts/build/plain-letters.ts';

const run = (program: string): unknown => vm.runInNewContext(program);

test('a program in ASCII does what it did: texts, templates, patterns, names, and letters escaped for nothing', () => {
  for (const program of [
    `'…' + "’" + \`␀\${'é'}\``,
    `'a\\…b' + '\\\\…'`,
    String.raw`['x–y'.replace(/[–—]/u, '-'), /^[\u{1F600}😀]$/u.test('😀'), /\–/.test('–')].join()`,
    `const größe = 3; größe + 1`,
    `'👩‍💻'.length`,
  ]) {
    const plain = inAscii(program);
    assert.match(plain, /^[\0-\x7f]*$/);
    assert.equal(run(plain), run(program), program);
  }
});

test('whatever a text holds, it stays the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const program = JSON.stringify(text);
      assert.equal(run(inAscii(program)), text);
    }),
  );
});

test('a raw template with other letters stops the build, because an escape would change it', () => {
  assert.throws(() => inAscii('String.raw`…`'), /raw template/);
});
