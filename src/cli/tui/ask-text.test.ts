// Tests questions with a text answer, on the screen and in plain mode: choices, free text, no answer, and drafts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { bundleTuiProgram, waitUntilArmed, enterLine, startTui } from '../../../test/support/tui.ts';
import { noTerminal, openTerminal, type Terminal } from '../../../test/support/terminal.ts';
import { parseChoiceAnswer } from './format.ts';

const program = await bundleTuiProgram();
const skip = noTerminal();
const first = /^\? Which port\? …\n +↑↓ fills in a choice · Enter answer · Esc skip the question$/m;
const second = /^\? And why\?\n +Enter answer · Esc skip the question$/m;

async function answer(terminal: Terminal, question: RegExp, keys: () => Promise<void>): Promise<void> {
  await terminal.waitFor(question);
  await waitUntilArmed();
  await keys();
}

test('a number selects that choice, unless the choices are numbers; other text is the answer itself', () => {
  assert.equal(parseChoiceAnswer('2', ['a', 'b']), 'b');
  assert.equal(parseChoiceAnswer('3', ['a', 'b']), '3');
  assert.equal(parseChoiceAnswer('2', ['10', '20']), '2');
  assert.equal(parseChoiceAnswer('both of them', ['a', 'b']), 'both of them');
  assert.equal(parseChoiceAnswer('', ['a']), undefined);
});

test('in a pipe no text question is asked: the next line is the next input', () => {
  const { stdout } = spawnSync(process.execPath, [program], {
    input: 'tell\nhello\n',
    encoding: 'utf8',
    env: { PATH: '' },
  });
  assert.match(stdout, /told undefined and undefined\n> hello\n\[info\] heard enter "hello"\n/);
});

test(
  'text is typed or selected from the choices, one question after the other, and no control character reaches the terminal',
  { skip },
  async (t) => {
    const terminal = await startTui(t, { rows: 40 });
    await enterLine(terminal, 'tell');
    const seen = await terminal.waitFor(first);
    assert.match(seen, /^Which port\?\n\(evil ␛\[2J<U\+202E>\)\n {2}1\. eighty\n {2}2\. another$/m);
    assert.doesNotMatch(seen, /And why/, 'the second question waits');
    await answer(terminal, first, () => terminal.keys('Down', 'Down', 'Up', 'Enter'));
    await answer(terminal, second, () => enterLine(terminal, 'Because, 1 & 2'));
    await terminal.waitFor(/^· told "eighty" and "Because, 1 & 2"$/m);
    await enterLine(terminal, 'still here');
    await terminal.waitFor(/heard enter "still here"/);
  },
);

test('Esc and an abort skip a question, and Enter without text keeps it open', { skip }, async (t) => {
  const terminal = await startTui(t, { rows: 40 });
  await enterLine(terminal, 'tell');
  await answer(terminal, first, () => terminal.keys('Enter', 'Escape'));
  await answer(terminal, second, () => enterLine(terminal, '2'));
  await terminal.waitFor(/^· told undefined and "2"$/m);
  await enterLine(terminal, 'tell given up');
  await terminal.waitFor(/^· told undefined and undefined$/m);
});

test(
  'a draft that was being typed when the question appeared is sent as a prompt, not as an answer',
  { skip },
  async (t) => {
    const terminal = await startTui(t, { rows: 40 });
    await enterLine(terminal, 'later tell');
    await terminal.type('a draft of');
    await terminal.waitFor(/^> a draft of$/m);
    process.kill(Number(await terminal.queryTmux('#{pane_pid}')), 'SIGUSR2');
    await terminal.waitFor(/The text in the input field is not the answer/);
    await waitUntilArmed();
    await enterLine(terminal, ' mine');
    await terminal.waitFor(/heard enter "a draft of mine"/);
    await answer(terminal, first, () => enterLine(terminal, '2'));
    await answer(terminal, second, () => terminal.keys('Escape'));
    await terminal.waitFor(/^· told "another" and undefined$/m);
  },
);

for (const [how, env] of [
  ['edited', {}],
  ['dumb', { TERM: 'dumb' }],
] as const)
  test(`plain mode asks text questions too, in a terminal whose lines are ${how}`, { skip }, async (t) => {
    const terminal = await openTerminal(t, [process.execPath, program, '--plain'], { rows: 40, env });
    await terminal.waitFor(/^>/m);
    await enterLine(terminal, 'tell');
    await answer(
      terminal,
      /^Which port\?\n\(evil ␛\[2J<U\+202E>\)\n {2}1\. eighty\n {2}2\. another\na number or your own answer, empty to skip: *$/m,
      () => enterLine(terminal, '2'),
    );
    await answer(terminal, /^your answer, empty to skip: *$/m, () => enterLine(terminal, 'So it Is'));
    await terminal.waitFor(/told "another" and "So it Is"/);
    await enterLine(terminal, 'tell');
    await answer(terminal, /(empty to skip:[^]*){3}$/m, () => enterLine(terminal, ''));
    await answer(terminal, /(empty to skip:[^]*){4}$/m, () => terminal.keys('C-d'));
    await terminal.waitFor(/told undefined and undefined/);
  });
