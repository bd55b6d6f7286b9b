import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatToolInput, toPlainOutput } from './format-call.ts';

test('the input of a call is one line: its first value, then the others by name', () => {
  assert.equal(formatToolInput({ command: 'a\n  b', timeout: 3 }), 'a ⏎ b timeout=3');
  assert.equal(formatToolInput({ n: 1, path: 'x' }), '{"n":1,"path":"x"}');
  assert.equal(formatToolInput({}), '');
  assert.equal(formatToolInput({ text: '\x1b[31m' }), '␛[31m');
  assert.ok(formatToolInput({ text: 'x'.repeat(9999) }).length < 500);
});

test('output is shown as a terminal would show it, without control sequences', () => {
  assert.equal(toPlainOutput('\x1b[32mok\x1b[0m 10%\r 20%\r100%\r\nnext\tx\x07'), '100%\nnext    x␇');
});
