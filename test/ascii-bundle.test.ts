// The ASCII conversion of the bundle does not change its behaviour.
import assert from 'node:assert/strict';
import test from 'node:test';
import vm from 'node:vm';
import * as fc from 'fast-check';
import { escapeNonAscii } from '../scripts/build/ascii.ts';

const runInVm = (program: string): unknown => vm.runInNewContext(program);

test('a program converted to ASCII behaves the same: texts, templates, patterns, names, and needless escapes', () => {
  for (const program of [
    `'…' + "’" + \`␀\${'é'}\``,
    `'a\\…b' + '\\\\…'`,
    String.raw`['x–y'.replace(/[–—]/u, '-'), /^[\u{1F600}😀]$/u.test('😀'), /\–/.test('–')].join()`,
    `const größe = 3; größe + 1`,
    `'👩‍💻'.length`,
  ]) {
    const plain = escapeNonAscii(program);
    assert.match(plain, /^[\0-\x7f]*$/);
    assert.equal(runInVm(plain), runInVm(program), program);
  }
});

test('any text is unchanged by the conversion', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const program = JSON.stringify(text);
      assert.equal(runInVm(escapeNonAscii(program)), text);
    }),
  );
});

test('a raw template with non-ASCII characters stops the build, because an escape would change it', () => {
  assert.throws(() => escapeNonAscii('String.raw`…`'), /raw template/);
});
