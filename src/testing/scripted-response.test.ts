// Functions that build scripted answers, and the split of a text into chunks.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { calls, fails, joinResponses, says, sends, thinks } from './index.ts';
import { splitToolArguments, splitText } from './split-text.ts';

test('answers are joined: texts are concatenated, calls are parallel, other fields of the later answer win', () => {
  const joined = says('a', { model: 'm' }).and(calls('x'), says('b', { model: 'n' }), calls('y', { q: 1 }));
  assert.deepEqual(joined, {
    text: 'ab',
    model: 'n',
    calls: [
      { tool: 'x', input: {} },
      { tool: 'y', input: { q: 1 } },
    ],
  });
  assert.deepEqual(joinResponses([thinks('t'), thinks('u')]), { reasoning: 'tu' });
  assert.deepEqual(joinResponses([]), {});
});

test('an answer is plain data: it can be printed, spread and compared', () => {
  assert.deepEqual(says('x'), { text: 'x' });
  assert.deepEqual({ ...fails(500) }, { error: { status: 500 } });
  assert.equal(JSON.stringify(sends({ body: 'b' })), '{"raw":{"body":"b"}}');
});

test('the chunks of a text add up to the text, none is empty, and none ends inside a character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
      (text, how) => {
        const found = splitText(text, how);
        assert.equal(found.join(''), text);
        assert.ok(found.every((piece) => piece !== '' && piece.isWellFormed()));
        assert.equal(splitToolArguments(text).join(''), text);
        if (how !== undefined) assert.ok(found.length <= how + 1);
      },
    ),
  );
  assert.deepEqual(splitText(' two  words \n'), [' two', '  words \n']);
  assert.deepEqual(splitText('abcdef', 3), ['ab', 'cd', 'ef']);
  assert.deepEqual(splitText('abc', ['a', 'bc']), ['a', 'bc']);
  assert.equal(splitText('x'.repeat(10_000)).length, 10);
});
