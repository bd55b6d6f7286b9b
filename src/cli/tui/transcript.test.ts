import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLayoutStyle } from './layout.ts';
import { createTextStyles } from './ansi-style.ts';
import { createScreenTranscript, type ScreenTranscript } from './transcript.ts';

const call = { type: 'call', id: 'c', tool: 'bash', input: { command: 'make' } } as const;

function empty(): ScreenTranscript {
  return createScreenTranscript(createLayoutStyle(createTextStyles('none'), (code) => code.split('\n')));
}

test('a block with a known id replaces the earlier one', () => {
  const transcript = empty();
  transcript.putBlock({ ...call, status: 'running' });
  transcript.putBlock({ type: 'notice', id: 'n', level: 'info', text: 'after' });
  transcript.putBlock({ ...call, status: 'failed', output: 'no\n' });
  assert.deepEqual(transcript.lines(40), ['', '✗ bash make failed', '  no', '', '· after']);
});

test('lines that scrolled off are not returned again, and text added to their block is', () => {
  const transcript = empty();
  transcript.putBlock({ type: 'assistant', id: 'a', text: 'one\n\ntwo', settled: false });
  assert.deepEqual(transcript.lines(40), ['', 'one', '', 'two']);
  transcript.freeze(3);
  transcript.appendText('a', ' and\n\nthree');
  assert.deepEqual(transcript.lines(40), ['two and', '', 'three']);
  transcript.putBlock({ type: 'assistant', id: 'a', text: 'one\n\ntwo and\n\nthree', settled: true });
  assert.deepEqual(transcript.lines(40), ['two and', '', 'three']);
});

test('the end of a call that scrolled off is shown at the end', () => {
  const transcript = empty();
  transcript.putBlock({ ...call, status: 'running' });
  transcript.putBlock({ type: 'notice', id: 'n', level: 'info', text: 'after' });
  transcript.lines(40);
  transcript.freeze(2);
  assert.deepEqual(transcript.lines(40), ['', '· after']);
  transcript.putBlock({ ...call, status: 'ok' });
  assert.deepEqual(transcript.lines(40), ['', '· after', '', '✓ bash make']);
});

test('a removed block disappears, or a notice says so if it has scrolled off', () => {
  const transcript = empty();
  transcript.putBlock({ type: 'assistant', id: 'a', text: 'wrong', settled: false });
  transcript.removeBlock('a');
  assert.deepEqual(transcript.lines(40), []);
  transcript.putBlock({ type: 'assistant', id: 'b', text: 'one\n\ntwo', settled: false });
  transcript.lines(40);
  transcript.freeze(2);
  transcript.removeBlock('b');
  assert.match(transcript.lines(40).join('\n'), /was discarded/);
});

test('after a resize as many of the last lines as fit are returned again', () => {
  const transcript = empty();
  for (const id of ['a', 'b', 'c']) transcript.putBlock({ type: 'user', id, text: id, how: 'prompt' });
  transcript.freeze(transcript.lines(40).length);
  transcript.refit(40, 3);
  assert.deepEqual(transcript.lines(40), ['> b', '', '> c']);
});

test('reasoning shows its last lines while it streams and its first lines when it is complete', () => {
  const transcript = empty();
  const text = Array.from({ length: 9 }, (_, line) => `thought ${line}`).join('\n');
  transcript.putBlock({ type: 'reasoning', id: 't', text: '', settled: false });
  transcript.appendText('t', text);
  assert.deepEqual(transcript.lines(40), ['', '  thought 6', '  thought 7', '  thought 8']);
  transcript.putBlock({ type: 'reasoning', id: 't', text, settled: true });
  assert.deepEqual(transcript.lines(40).slice(1), [
    '  thought 0',
    '  thought 1',
    '  thought 2',
    '  … 6 more lines (Ctrl+O)',
  ]);
});

test('hidden reasoning takes no line, and is there again when it is shown', () => {
  const style = createLayoutStyle(createTextStyles('none'), (code) => code.split('\n'));
  const transcript = createScreenTranscript(style);
  transcript.putBlock({ type: 'user', id: 'u', text: 'Why?', how: 'prompt' });
  transcript.putBlock({ type: 'reasoning', id: 't', text: 'thought', settled: true });
  transcript.putBlock({ type: 'user', id: 'v', text: 'Go on', how: 'prompt' });
  const shown = transcript.lines(40);
  assert.ok(shown.includes('  thought'));
  style.hidesReasoning = true;
  transcript.relayout();
  assert.deepEqual(transcript.lines(40), ['', '> Why?', '', '> Go on']);
  style.hidesReasoning = false;
  transcript.relayout();
  assert.deepEqual(transcript.lines(40), shown);
});

test('an answer that is replaced by another text shows that text, from the first visible line', () => {
  const transcript = empty();
  const text = Array.from({ length: 30 }, (_, part) => `part ${part}`).join('\n\n');
  transcript.putBlock({ type: 'assistant', id: 'a', text, settled: false });
  transcript.freeze(transcript.lines(40).length - 3);
  assert.deepEqual(transcript.lines(40), ['part 28', '', 'part 29']);
  transcript.putBlock({ type: 'assistant', id: 'a', text: text.replaceAll('part', 'other'), settled: false });
  assert.deepEqual(transcript.lines(40), ['other 28', '', 'other 29']);
  transcript.refit(40, 5);
  assert.deepEqual(transcript.lines(40), ['other 27', '', 'other 28', '', 'other 29']);
});
