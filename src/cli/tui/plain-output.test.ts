// The output of the plain UI: another line never splits a word of an answer.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createTextStyles } from './ansi-style.ts';
import { createPlainOutput } from './plain-output.ts';
import { createWaitingNotice } from './waiting-notice.ts';

test('a line that is printed during an answer does not split a word, and the whole answer is printed', () => {
  let printed = '';
  const output = createPlainOutput((text) => (printed += text), createTextStyles('none'));
  const text = 'what the command printed:\nok 😀 end';
  output.printBlock({ type: 'assistant', id: 'a', text: '', settled: false });
  output.appendText('a', text.slice(0, 20));
  output.printLine('[waiting] thinking');
  for (const letter of text.slice(20).split('')) output.appendText('a', letter);
  output.printBlock({ type: 'assistant', id: 'a', text, settled: true });
  assert.equal(printed, 'what the command \n[waiting] thinking\n[answer continues] printed:\nok 😀 end\n');
});

test('a long text without spaces is printed as it arrives', () => {
  let printed = '';
  const output = createPlainOutput((text) => (printed += text), createTextStyles('none'));
  output.printBlock({ type: 'assistant', id: 'a', text: '', settled: false });
  output.appendText('a', '字'.repeat(60));
  assert.equal(printed, '字'.repeat(60));
});

test('output that arrives delays the waiting notice', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const printed: string[] = [];
  const notice = createWaitingNotice((text) => printed.push(text));
  notice.start('[waiting] thinking');
  t.mock.timers.tick(900);
  notice.refresh();
  t.mock.timers.tick(900);
  assert.deepEqual(printed, []);
  t.mock.timers.tick(100);
  notice.refresh();
  t.mock.timers.tick(5000);
  assert.deepEqual(printed, ['[waiting] thinking']);
});
