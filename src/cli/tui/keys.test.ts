import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilArmed, enterLine, startTui } from '../../../test/support/tui.ts';
import { noTerminal } from '../../../test/support/terminal.ts';

const skip = noTerminal();

test(
  'an entry may have several lines: Ctrl+J, Shift+Enter and a backslash before Enter begin a new one',
  { skip },
  async (t) => {
    const terminal = await startTui(t);
    for (const key of ['C-j', 'S-Enter']) {
      await terminal.type('line');
      await terminal.keys(key);
    }
    await enterLine(terminal, 'third\\');
    await enterLine(terminal, 'last');
    await terminal.waitFor(/heard enter "line\\nline\\nthird\\nlast"/);
  },
);

test('Alt+Enter sends a follow-up, and the arrow keys recall inputs, also of earlier sessions', { skip }, async (t) => {
  const terminal = await startTui(t);
  await terminal.type('afterwards');
  await terminal.keys('M-Enter');
  await terminal.waitFor(/heard follow-up "afterwards"/);
  await terminal.keys('Up', 'Up');
  await terminal.waitFor(/^> a later entry/m);
  await terminal.keys('C-c', 'C-r');
  await terminal.waitFor(/Earlier inputs/);
  await terminal.type('old');
  await terminal.waitFor(/→ an old entry/);
  await waitUntilArmed();
  await terminal.keys('Enter');
  await terminal.waitFor(/^> an old entry/m);
});

test('a large paste is shown as a marker and sent in full', { skip }, async (t) => {
  const terminal = await startTui(t);
  const lines = Array.from({ length: 30 }, (_, line) => `pasted ${line}`);
  await terminal.paste(lines.join('\n'));
  await terminal.waitFor(/^> \[paste #1 \+30 lines\]/m);
  await terminal.keys('Enter');
  await terminal.waitFor(/pasted 0\\npasted 1\\n/);
  await terminal.waitFor(/pasted 29"/);
});

test('`/` and `@` show completions, Tab accepts one', { skip }, async (t) => {
  const terminal = await startTui(t);
  await terminal.type('/m');
  await terminal.waitFor(/→ \/model/);
  await terminal.keys('Tab');
  await terminal.waitFor(/^> \/model *$/m);
  await terminal.keys('C-c');
  await terminal.type('see @R');
  await terminal.waitFor(/→ @README\.md/);
  await terminal.keys('Tab');
  await terminal.waitFor(/^> see @README\.md *$/m);
  await terminal.keys('C-c');
  // A completely typed name is sent, although the list still shows it.
  await terminal.type('read @README.md');
  await terminal.waitFor(/→ @README\.md/);
  await terminal.keys('Enter');
  await terminal.waitFor(/heard enter "read @README\.md"/);
});

test('Esc interrupts a job; twice while idle it rewinds; Shift+Tab toggles the approval mode', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'work 2500');
  await terminal.waitFor(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] a slow tool 1s \(Esc interrupts\)/);
  await terminal.keys('Escape');
  await terminal.waitFor(/heard interrupt/);
  await terminal.waitFor(/^>\nscripted/m);
  await terminal.keys('Escape');
  await terminal.waitFor(/press Esc again/);
  await terminal.keys('Escape', 'Escape');
  await terminal.waitFor(/heard rewind/);
  await terminal.keys('BTab');
  await terminal.waitFor(/heard toggle-approval/);
});

test(
  '[A75] a question shows its exact subject, a choice needs Enter, and Enter or Esc alone gives the default',
  { skip },
  async (t) => {
    const terminal = await startTui(t);
    await enterLine(terminal, 'ask');
    await terminal.waitFor(/rm -rf ␛\[8mhidden<U\+202E>[^]*\? Run bash\? \[y\/N\/a\]/);
    await waitUntilArmed();
    await terminal.keys('a');
    await terminal.waitFor(/^❯ 3\. always$/m);
    assert.doesNotMatch(await terminal.screen(), /answered/);
    await terminal.keys('Enter');
    await terminal.waitFor(/answered a/);
    for (const key of ['Enter', 'Escape']) {
      await enterLine(terminal, 'clear');
      await enterLine(terminal, 'ask');
      await terminal.waitFor(/\[y\/N\/a\]/);
      await waitUntilArmed();
      await terminal.keys(key);
      await terminal.waitFor(/answered n/);
    }
  },
);

for (const [typed, text] of [
  ['a', 'actually no, do not run that'],
  ['y', 'yes but rename it'],
  ['2', '2 files is too many'],
] as const)
  test(
    `[A75] "${text}" typed at a question that takes replies is a reply and never the choice ${typed}`,
    { skip },
    async (t) => {
      const terminal = await startTui(t);
      await enterLine(terminal, 'reply');
      await terminal.waitFor(/or type a reply to the model/);
      await waitUntilArmed();
      for (const character of text) await terminal.type(character);
      await terminal.waitFor(/Enter denies this call and sends your text to the model[^]*^> [^\n]*\w$/m);
      assert.doesNotMatch(await terminal.screen(), /answered|❯/);
      await terminal.keys('Enter');
      await terminal.waitFor(new RegExp(`answered n with "${text}"`));
    },
  );

test(
  '[A75] arrow keys and numbers select a choice, and text for the conversation leaves a question open that takes no reply',
  { skip },
  async (t) => {
    const terminal = await startTui(t);
    await enterLine(terminal, 'ask');
    await terminal.waitFor(/^❯ 2\. no$/m);
    await waitUntilArmed();
    await terminal.type('hello there');
    await terminal.waitFor(/the question stays open/);
    await terminal.keys('Enter');
    await terminal.waitFor(/heard enter "hello there"[^]*^❯ 2\. no$/m);
    await waitUntilArmed();
    await terminal.type('9');
    await terminal.waitFor(/There is no choice 9\./);
    await terminal.keys('Enter', 'C-c');
    await terminal.waitFor(/^> *$/m);
    await waitUntilArmed();
    await terminal.keys('Up');
    await terminal.waitFor(/^❯ 1\. yes$/m);
    await terminal.keys('Down', 'Down');
    await terminal.waitFor(/^❯ 3\. always$/m);
    await terminal.type('1');
    await terminal.waitFor(/^❯ 1\. yes$/m);
    assert.doesNotMatch(await terminal.screen(), /answered/);
    await terminal.keys('Enter');
    await terminal.waitFor(/answered y/);
  },
);

test('a key release event does not answer a question', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'ask');
  await terminal.waitFor(/\[y\/N\/a\]/);
  await waitUntilArmed();
  await terminal.type('\x1b[121;1:3u\x1b[13;1:3u');
  await waitUntilArmed();
  assert.doesNotMatch(await terminal.screen(), /answered/);
  await terminal.type('\x1b[121;1:1u');
  await terminal.waitFor(/^❯ 1\. yes$/m);
  await terminal.type('\x1b[13;1:1u');
  await terminal.waitFor(/answered y/);
});

test('text typed before a question never answers it: it stays in the input field', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'ask');
  // At once, before the question was readable; the Enter after it sends the typed text.
  await terminal.type('y');
  await terminal.type('a');
  await terminal.keys('Enter');
  await terminal.waitFor(/heard enter "ya"/);
  assert.doesNotMatch(await terminal.waitFor(/\[y\/N\/a\]/), /answered/);
  await waitUntilArmed();
  await terminal.keys('y', 'Enter');
  await terminal.waitFor(/answered y/);
});

test('a letter of a draft never answers a question, however slowly the draft is typed', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'ask');
  await terminal.type('is it reall');
  await terminal.waitFor(/The text in the input field is not the answer[^]*^> is it reall/m);
  for (const letter of ['y', ' ', 'a']) {
    // Longer than the idle time of a question.
    await waitUntilArmed();
    await waitUntilArmed();
    await terminal.type(letter);
  }
  assert.doesNotMatch(await terminal.waitFor(/^> is it really a/m), /answered/);
  await terminal.keys('C-c');
  await terminal.waitFor(/^> *$/m);
  await waitUntilArmed();
  await terminal.keys('y', 'Enter');
  await terminal.waitFor(/answered y/);
  await enterLine(terminal, 'ask');
  await terminal.type('is yes');
  await terminal.waitFor(/^> is yes/m);
  await waitUntilArmed();
  await terminal.keys('Escape');
  await terminal.waitFor(/answered n[^]*^> is yes/m);
});

test('a list is filtered by typing and cancelled with Esc', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'pick');
  await terminal.waitFor(/→ alpha +the alpha one/);
  await terminal.type('gam');
  await terminal.waitFor(/→ gamma/);
  await waitUntilArmed();
  await terminal.keys('Enter');
  await terminal.waitFor(/picked gamma/);
  await enterLine(terminal, 'pick');
  await terminal.waitFor(/Esc cancel$/m);
  await terminal.keys('Escape');
  await terminal.waitFor(/picked nothing/);
});

test('questions are queued, and an aborted one gets the default answer', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'questions');
  await terminal.waitFor(/\? First\? \[y/);
  await waitUntilArmed();
  await terminal.keys('y', 'Enter');
  await terminal.waitFor(/\? Second\? \[y/);
  await waitUntilArmed();
  await terminal.keys('a', 'Enter');
  await terminal.waitFor(/answered y and a/);
  await enterLine(terminal, 'given');
  await terminal.waitFor(/given up with n[^]*^>\nscripted/m);
});

test('text put into the input field can be edited and sent', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'fill words put there');
  await terminal.waitFor(/^> words put there *\nscripted/m);
  await enterLine(terminal, ' and more');
  await terminal.waitFor(/heard enter "words put there and more"/);
});
