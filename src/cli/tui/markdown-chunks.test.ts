import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createMarkdownChunks, type MarkdownChunk } from './markdown-chunks.ts';

function all(text: string): readonly MarkdownChunk[] {
  const pieces = createMarkdownChunks(text);
  const open = pieces.open();
  return open === undefined ? pieces.closed : [...pieces.closed, open];
}

const line = fc.constantFrom(
  'words',
  '',
  '',
  '# title',
  '```ts',
  '```',
  '~~~',
  '- item',
  '  more of it',
  '| a | b |',
  ' ',
);

test('the chunks do not depend on how the text is split into appends', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, cuts) => {
      const text = lines.join('\n');
      const pieces = createMarkdownChunks();
      let from = 0;
      for (const cut of cuts) {
        pieces.append(text.slice(from, from + cut));
        from += cut;
      }
      pieces.append(text.slice(from));
      assert.deepEqual(
        [...pieces.closed, pieces.open()],
        [...createMarkdownChunks(text).closed, createMarkdownChunks(text).open()],
      );
    }),
  );
});

test('no word is lost or repeated', () => {
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const numbered = lines.map((one, index) => (/[a-z]/.test(one) && !one.startsWith('`') ? `${one} ${index}` : one));
      const words = (text: string): readonly string[] => text.match(/\d+/g) ?? [];
      const shown = all(numbered.join('\n')).map(({ text }) => text);
      assert.deepEqual(words(shown.join('\n')), words(numbered.join('\n')));
    }),
  );
});

test('chunks end at blank lines outside fences, and indented lines stay with their list', () => {
  assert.deepEqual(
    all('one\ntwo\n\n- item\n\n  more\n\n```js\na\n\nb\n```\nend').map(({ type, text, blankBefore }) => [
      type,
      text,
      blankBefore,
    ]),
    [
      ['text', 'one\ntwo', false],
      ['text', '- item\n\n  more', true],
      ['code', 'a\n\nb', true],
      ['text', 'end', true],
    ],
  );
});

test('a fence is open until a fence of the same kind closes it', () => {
  assert.deepEqual(
    all('````md\n```\nx\n```\n````\nafter').map(({ type, text, lang }) => [type, text, lang]),
    [
      ['code', '```\nx\n```', 'md'],
      ['text', 'after', ''],
    ],
  );
});

test('a very long line and a very long fence are split, so that each chunk stays small', () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`).join(' ');
  const cut = all(words);
  assert.ok(cut.every(({ text }) => text.length <= 4000));
  assert.equal(cut.map(({ text }) => text).join(' '), words);
  const code = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join('\n');
  const lines = all(`\`\`\`\n${code}\n\`\`\``);
  assert.ok(lines.every(({ text }) => text.split('\n').length <= 80));
  assert.equal(lines.map(({ text }) => text).join('\n'), code);
});

test('the fence line is hidden while it is being written', () => {
  assert.deepEqual(
    all('text\n```ts').map(({ text }) => text),
    ['text'],
  );
  assert.deepEqual(
    all('```ts\ncode\n```').map(({ text }) => text),
    ['code'],
  );
});

test('a long table continues with the same header', () => {
  const rows = Array.from({ length: 500 }, (_, index) => `| row ${index} | x |`);
  const pieces = all(`| a | b |\n|---|:-:|\n${rows.join('\n')}`);
  assert.ok(pieces.length > 1);
  for (const { text } of pieces) assert.ok(text.startsWith('| a | b |\n|---|:-:|\n| row'));
  assert.deepEqual(
    pieces.flatMap(({ text }) => text.split('\n').slice(2)),
    rows,
  );
});
