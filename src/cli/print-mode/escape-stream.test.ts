import assert from 'node:assert/strict';
import test from 'node:test';
import { escapeInvisible } from '../../core/index.ts';
import { createEscapeStream } from './escape-stream.ts';

const texts = [
  'plain words\n\tand a tab\r\nand a line',
  'a title \u001b]0;owned\u0007 and a return\r',
  'one picture 👩\u200d👩\u200d👧 and one ❤\ufe0f\u200d🔥 and keys 1\ufe0f\u20e3 #\ufe0f',
  'a joiner that hides: a\u200db, a selector that hides: x\ufe0f\ufe0f',
  'joined as it is spelled: \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
  'half a letter \ud83d alone, \ude00 the other',
];

test('[attack 72] streamed text is escaped as the complete text would be, wherever it is split', () => {
  for (const text of texts)
    for (const size of [1, 2, 3, 5, 8]) {
      const pieces = createEscapeStream();
      let shown = '';
      for (let at = 0; at < text.length; at += size) shown += pieces.push(text.slice(at, at + size));
      assert.equal(shown + pieces.end(), escapeInvisible(text), `in pieces of ${size}`);
    }
});
