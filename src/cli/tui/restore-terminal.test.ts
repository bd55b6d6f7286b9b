import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { bundleTuiProgram, waitUntilArmed, enterLine, startTui } from '../../../test/support/tui.ts';
import { noTerminal, openTerminal } from '../../../test/support/terminal.ts';

const program = await bundleTuiProgram();
const skip = noTerminal();

test('Ctrl+C clears the input, then warns, then quits, and the terminal is restored', { skip }, async (t) => {
  const terminal = await openTerminal(t, ['sh', '-c', `'${process.execPath}' '${program}'; stty -a; cat -v`]);
  await terminal.waitFor(/^> *\nscripted/m);
  await terminal.type('half a thought');
  await terminal.waitFor(/half a thought/);
  await terminal.keys('C-c');
  await terminal.waitFor(/^>\nscripted/m);
  await terminal.keys('C-c');
  await terminal.waitFor(/press Ctrl\+C again to quit/);
  await terminal.keys('C-c');
  await terminal.waitFor(/closed[^]* icanon[^]* echo /);
  assert.equal(await terminal.queryTmux('#{cursor_flag}'), '1');
  // A terminal with bracketed paste still on would show the brackets here.
  await terminal.paste('plain paste');
  await terminal.keys('Enter');
  assert.doesNotMatch(await terminal.waitFor(/plain paste\nplain paste/), /200~|half a thought/);
});

for (const [how, code] of [
  ['crash', 1],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  test(`the terminal is restored after ${how}`, { skip }, async (t) => {
    const terminal = await openTerminal(t, [
      'sh',
      '-c',
      `'${process.execPath}' '${program}'; echo code $?; stty -a; cat -v`,
    ]);
    await terminal.waitFor(/^> *\nscripted/m);
    const shell = await terminal.queryTmux('#{pane_pid}');
    const child = execFileSync('pgrep', ['-P', shell], { encoding: 'utf8' });
    if (how === 'crash') await enterLine(terminal, 'crash');
    else process.kill(Number(child), how);
    const screen = await terminal.waitFor(new RegExp(`code ${code}\n[^]* icanon[^]* echo `));
    if (how === 'crash') assert.match(screen, /a crash on purpose/);
    assert.equal(await terminal.queryTmux('#{cursor_flag}'), '1');
    await terminal.paste('plain paste');
    await terminal.keys('Enter');
    assert.doesNotMatch(await terminal.waitFor(/plain paste\nplain paste/), /200~/);
  });
}

test('Ctrl+Z gives the terminal to the shell, and fg restores the screen', { skip }, async (t) => {
  const terminal = await openTerminal(t, ['bash', '--norc', '-i'], { env: { PS1: 'shell$ ' } });
  await terminal.waitFor(/shell\$/);
  await enterLine(terminal, `'${process.execPath}' '${program}'`);
  await terminal.waitFor(/^> *\nscripted/m);
  await terminal.keys('C-z');
  await terminal.waitFor(/Stopped[^]*shell\$/);
  await enterLine(terminal, 'echo in the $((1 + 1))nd shell');
  await terminal.waitFor(/in the 2nd shell/);
  await enterLine(terminal, 'fg');
  await terminal.waitFor(/^>\nscripted/m);
  await enterLine(terminal, 'back again');
  await terminal.waitFor(/heard enter "back again"/);
});

test('another program can use the whole terminal for a while', { skip }, async (t) => {
  const terminal = await startTui(t);
  await enterLine(terminal, 'aside');
  await terminal.waitFor(/^inside/m);
  await enterLine(terminal, 'for the other');
  await terminal.waitFor(/aside done/);
  await enterLine(terminal, 'and on');
  await terminal.waitFor(/heard enter "and on"/);
});

for (const text of ['--deaf', '--deaf --plain']) {
  test(`before a listener is registered, Ctrl+C twice ends the program (${text})`, { skip }, async (t) => {
    const terminal = await openTerminal(t, [
      'sh',
      '-c',
      `'${process.execPath}' '${program}' ${text}; echo code $?; cat`,
    ]);
    await terminal.waitFor(/nobody listens/);
    await terminal.keys('C-c');
    await terminal.waitFor(/press Ctrl\+C again to quit/);
    await terminal.keys('C-c');
    await terminal.waitFor(/^code 130$/m);
  });
}

test('Ctrl+Z without a job-control shell leaves the screen unchanged', { skip }, async (t) => {
  const terminal = await startTui(t);
  await terminal.keys('C-z');
  await waitUntilArmed();
  await enterLine(terminal, 'still here');
  await terminal.waitFor(/heard enter "still here"/);
});
