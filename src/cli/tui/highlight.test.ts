import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createHighlighter } from './highlight.ts';
import { createTextStyles } from './ansi-style.ts';

test('code is shown at once without colors, and highlighted when its language has loaded', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const highlight = createHighlighter(createTextStyles('colors'), resolve);
  const code = 'const a = \'<b> & "c"\';\n/* two\nlines */';
  assert.deepEqual(highlight(code, 'TS'), code.split('\n'));
  await promise;
  const coloured = highlight(code, 'ts');
  assert.equal(coloured[0], '\x1b[35mconst\x1b[39m a = \x1b[32m\'<b> & "c"\'\x1b[39m;');
  assert.deepEqual(coloured.slice(1), ['\x1b[2m/* two\x1b[22m', '\x1b[2mlines */\x1b[22m']);
  assert.deepEqual(coloured.map(stripVTControlCharacters), code.split('\n'));
});

test('an unknown language leaves the code unchanged', () => {
  const highlight = createHighlighter(createTextStyles('colors'), () => assert.fail('nothing is loaded'));
  for (const lang of ['', 'klingon', '__proto__', 'constructor']) assert.deepEqual(highlight('a\nb', lang), ['a', 'b']);
});
