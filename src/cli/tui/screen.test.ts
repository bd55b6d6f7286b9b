import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleTuiProgram, enterLine, startTui } from '../../../test/support/tui.ts';
import { noTerminal, openTerminal, type Terminal } from '../../../test/support/terminal.ts';

const program = await bundleTuiProgram();
const skip = noTerminal();

/** Returns the non-empty lines of the screen. */
async function shown(terminal: Terminal): Promise<string[]> {
  return (await terminal.screen()).split('\n').filter((line) => line.trim() !== '');
}

test('[J48] the screen shows the prompt `> ` with the status below it, and returns to it', { skip }, async (t) => {
  const terminal = await startTui(t);
  assert.match(
    (await shown(terminal)).at(-1) ?? '',
    /^scripted · 12% of 128k \(15\.3k\) · \$0\.0123 · ask before changes · a session$/,
  );
  await enterLine(terminal, 'hello there');
  await terminal.waitFor(/heard enter "hello there"[^]*^>$/m);
});

test('answers are rendered from Markdown with highlighted code, and edits as colored diffs', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'markdown');
  await enterLine(terminal, 'diff');
  await terminal.waitFor(/\+new line/);
  const screen = await terminal.waitFor(/␛\[35mconst␛\[39m .*answer/, 20_000, { colors: true });
  assert.doesNotMatch(screen, /```|\*\*/);
  assert.match(screen, /␛\[32m\+new line/);
  assert.match(screen, /␛\[31m-old line/);
});

test('NO_COLOR turns the colors of the screen off, and FORCE_COLOR turns them on', { skip }, async (t) => {
  const terminal = await startTui(t, { env: { NO_COLOR: '1' } });
  await enterLine(terminal, 'diff');
  await terminal.waitFor(/\+new line/);
  assert.doesNotMatch(await terminal.screen({ colors: true }), /␛\[3[0-8]/);
  const forced = await startTui(t, { env: { NO_COLOR: '1', FORCE_COLOR: '1' } });
  await enterLine(forced, 'diff');
  await forced.waitFor(/\+new line/);
  assert.match(await forced.screen({ colors: true }), /␛\[32m\+new line/);
});

test('the output of a call is folded to its last lines, and Ctrl+O unfolds and folds all', { skip }, async (t) => {
  const terminal = await startTui(t, { rows: 40 });
  await enterLine(terminal, 'call');
  await terminal.waitFor(/✓ bash make all 1\.2s\n {2}… 15 more lines \(Ctrl\+O\)\n {2}out 16/);
  await terminal.keys('C-o');
  await terminal.waitFor(/✓ bash make all 1\.2s\n {2}out 1\n {2}out 2\n/);
  await terminal.keys('C-o');
  await terminal.waitFor(/… 15 more lines/);
});

test('shown text cannot control the terminal', { skip }, async (t) => {
  const terminal = await startTui(t, { rows: 40 });
  const title = await terminal.queryTmux('#{pane_title}');
  await enterLine(terminal, 'evil');
  const screen = await terminal.waitFor(/evil done/);
  assert.equal(await terminal.queryTmux('#{pane_title}'), title);
  assert.match(screen, /^✗ before ␛\]52;c;aGk=␇␛\]0;owned␇␛\[2J/m);
  assert.match(screen, /^> evil$/m, 'the screen was not cleared');
  assert.doesNotMatch(await terminal.screen({ colors: true }), /\u202e|\x9b|␛\[31m *link/);
});

test('20,000 chunks scroll off complete and in order while the user types', { skip }, async (t) => {
  const terminal = await startTui(t, { rows: 30, columns: 100 });
  await enterLine(terminal, 'stream 20000');
  await terminal.type('typed meanwhile');
  await terminal.waitFor(/word19999[^]*^> typed meanwhile/m);
  const text = [...(await terminal.screen({ back: true })).matchAll(/word(\d+)/g)].map(([, word]) => Number(word));
  assert.deepEqual(
    text,
    Array.from({ length: 20_000 }, (_, word) => word),
  );
});

test('of 10,000 blocks at once the last ones are shown, with the number of earlier ones', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'blocks 10000');
  const screen = await terminal.waitFor(/… 9701 earlier blocks[^]*> block number 9701\n[^]*> block number 10000\n/);
  assert.doesNotMatch(screen, /block number 9700/);
});

test(
  'the screen adapts when the terminal is resized, down to 40 columns, wide characters included',
  { skip },
  async (t) => {
    const terminal = await startTui(t, { columns: 100, rows: 30 });
    await enterLine(terminal, 'wide');
    await terminal.waitFor(/👩/);
    await terminal.resize(40, 20);
    await terminal.waitFor(/^─{40}\n>\nscripted · [^\n]*ask before changes/m);
    const [first = ''] = (await shown(terminal)).filter((line) => line.startsWith('漢字'));
    assert.equal(first.length, 20, 'twenty wide characters fill forty columns');
    await terminal.resize(100, 30);
    await terminal.waitFor(/^─{100}\n>\nscripted/m);
    await enterLine(terminal, 'still here');
    await terminal.waitFor(/heard enter "still here"/);
  },
);

test('earlier scrollback stays after a resize and a clear', { skip }, async (t) => {
  const terminal = await openTerminal(t, ['sh', '-c', `seq -f 'before %g' 60; '${process.execPath}' '${program}'`]);
  await terminal.waitFor(/^> *\nscripted/m);
  await terminal.resize(60, 15);
  await terminal.waitFor(/^─{60}\n>\nscripted/m);
  await enterLine(terminal, 'clear');
  await terminal.waitFor(/^>\nscripted/m);
  assert.match(await terminal.screen({ back: true }), /^before 1\nbefore 2\n/m);
});
