// Tests the output of `fairlead doctor` in a real terminal: styles are styles, and lines are wrapped at words.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createProgram } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

test('doctor shows colors as colors, and wraps its lines at words', { skip }, async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const terminal = await program.open(['doctor', '--offline'], { columns: 60, rows: 60 });
  const plain = await terminal.waitFor(/\(left with 0\)/);
  assert.doesNotMatch(plain, /␛|\[3\d?m/, 'no escape sequence is shown as text');
  const colored = await terminal.screen({ colors: true });
  assert.match(colored, /␛\[32mok/);
  const lines = plain.split('\n').map((line) => line.trimEnd());
  const continued = lines.filter((line) => line.startsWith(' '.repeat(22)));
  assert.ok(continued.length > 3, plain);
  // A word that was broken at the edge would have a space in it now.
  assert.match(plain.replaceAll(/\s+/g, ' '), /State, data, config and cache are writable: \//);
});

test('messages of commands are wrapped at words in a terminal', { skip }, async (t) => {
  const program = await createProgram(t);
  const terminal = await program.open(['--max-turns', 'many', 'hello'], { columns: 40 });
  const screen = await terminal.waitFor(/\(left with 2\)/);
  assert.match(screen, /^--max-turns must be a whole number above\n0, not "many"\.$/m);
});
