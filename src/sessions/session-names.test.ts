// Session names: any typed name is decoded unchanged, and no file name is unsafe.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import * as fc from 'fast-check';
import {
  formatDateName,
  toSessionFileName,
  findFreeName,
  parseSessionFileName,
  normalizeSessionName,
} from './session-names.ts';

/** Characters that no file name of a session may contain, on any system. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u001f\u007f\u2028\u202A-\u202E<>:"/\\|?*]/;

test('[J93] plain names are used unchanged: session_<name>.jsonl', () => {
  for (const name of ['a', '2026-01-31_23-59-59', 'my session', 'v1.2', 'fix-#12', '漢字 😀 👩‍💻', 'CON', 'x.'])
    assert.equal(toSessionFileName(name), `session_${name}.jsonl`);
});

test('[J93] hostile names stay inside the directory, and are decoded unchanged', () => {
  const names = [
    '../x',
    '..',
    '.',
    'a/b',
    'a\\b',
    'a\0b',
    '.hidden',
    'C:\\x',
    'a:b',
    '%2F',
    '100%',
    '%',
    '"<>|?*',
    'a\u202Eb',
    'a\nb',
    'a\u2028b',
  ];
  for (const name of names) {
    const file = toSessionFileName(`x${name}`);
    assert.doesNotMatch(file, forbidden, name);
    assert.equal(parseSessionFileName(file), `x${name}`);
  }
  for (const name of names) {
    const file = toSessionFileName(name);
    assert.equal(path.dirname(path.join('/folder', file)), '/folder');
    assert.equal(parseSessionFileName(file), name);
  }
});

test('no name produces a file that looks like a side file or a lock of another session', () => {
  for (const name of ['a.jsonl', 'a.jsonl.lock', 'a.jsonl.new-x', 'a.JSONL.index', 'a.jsonl.edited-1']) {
    const file = toSessionFileName(name);
    assert.equal(file.toLowerCase().startsWith(toSessionFileName('a').toLowerCase()), false, file);
    assert.equal(parseSessionFileName(file), name);
  }
});

test('a composed and a decomposed name are the same session; leading and trailing white space is ignored', () => {
  assert.equal(toSessionFileName('cafe\u0301'), toSessionFileName('caf\u00e9'));
  assert.equal(parseSessionFileName('session_cafe\u0301.jsonl'), 'caf\u00e9');
  assert.equal(normalizeSessionName('  a b \n'), 'a b');
});

test('a name that is empty or too long is refused in one sentence', () => {
  for (const name of ['', '   ', '\n\t'])
    assert.throws(() => toSessionFileName(name), { code: 'session/bad-name', message: /not empty/ });
  for (const name of ['x'.repeat(300), '😀'.repeat(60), '/'.repeat(60)])
    assert.throws(() => toSessionFileName(name), {
      code: 'session/bad-name',
      message: /too long for a file: it takes \d+ bytes of at most 150\.$/,
    });
  assert.ok(
    Buffer.byteLength(toSessionFileName('x'.repeat(150))) < 255 - 90,
    'there is space for the suffix of lock files',
  );
});

test('any name survives a round trip, and two names never share a file', () => {
  const names = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({ unit: fc.constantFrom('.', 'j', 's', 'o', 'n', 'l', '%', '2', 'E', '/', 'J'), maxLength: 20 }),
  );
  const tidy = (name: string): string => name.toWellFormed().normalize('NFC').trim();
  fc.assert(
    fc.property(names, names, (a, b) => {
      fc.pre(tidy(a) !== '' && tidy(b) !== '' && encodeURIComponent(tidy(a) + tidy(b)).length < 140);
      const file = toSessionFileName(a);
      assert.equal(parseSessionFileName(file), tidy(a));
      assert.doesNotMatch(file, forbidden);
      assert.equal(file === toSessionFileName(b), tidy(a) === tidy(b));
    }),
    { numRuns: 200 },
  );
});

test('files that are not sessions have no name, and a percent sign written by the user is kept', () => {
  for (const file of ['a.jsonl', 'session_.jsonl', 'session_a.jsonl.lock', 'session_a.json', 'session_a', '.jsonl'])
    assert.equal(parseSessionFileName(file), undefined, file);
  assert.equal(parseSessionFileName('session_50%.jsonl'), '50%');
  assert.equal(parseSessionFileName('session_%FF.jsonl'), '%FF');
});

test('[J29, J54] the default name is the date and time without a colon; the second one in the same second gets a number', () => {
  assert.equal(formatDateName(new Date(2026, 0, 2, 3, 4, 5)), '2026-01-02_03-04-05');
  const taken = new Set(['a', 'a-2', 'a-3']);
  assert.equal(
    findFreeName('a', (name) => taken.has(name)),
    'a-4',
  );
  assert.equal(
    findFreeName('b', (name) => taken.has(name)),
    'b',
  );
});
