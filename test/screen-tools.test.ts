// Tests the tools of the model in a terminal: how each is shown, what it may not access, and how changes are undone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import type { Json } from '../src/core/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { createPromptEnvironment, openPrompt, writeFiles } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

/** A script that makes these calls one after another for any prompt, and then answers. */
const scriptCalls =
  (...steps: readonly (readonly [string, Json])[]) =>
  ({ results }: { readonly results: readonly string[] }): ScriptedResponse => {
    const [tool, input] = steps[results.length] ?? [];
    return tool === undefined ? says('All done.') : calls(tool, input ?? {});
  };

test(
  '[A73, A76, A77] the model reads, writes, edits, lists, globs, greps and runs commands, and each call is shown as it happens',
  { skip },
  async (t) => {
    const script = scriptCalls(
      ['list_files', { path: '.' }],
      ['glob', { pattern: '**/*.ts' }],
      ['grep', { pattern: 'answer = \\d+' }],
      ['read_file', { path: 'src/sum.ts' }],
      ['edit_file', { path: 'src/sum.ts', old_string: 'answer = 41', new_string: 'answer = 42' }],
      ['write_file', { path: 'notes/new.md', content: 'It is 42.\n' }],
      [
        'run_command',
        { command: 'echo step 1 of 2; until [ -e go ]; do sleep 0.1; done; echo step 2 of 2; cat notes/new.md' },
      ],
    );
    const files = { 'src/sum.ts': 'export const answer = 41;\n', 'readme.txt': 'hello\n' };
    const environment = await createPromptEnvironment(t, script, { files });
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--auto-approve']);
    await prompt.waitFor(/alpha · [^\n]* · auto-approve *$/m);
    await prompt.enter('Fix the sum.');
    await prompt.waitFor(/^● run_command echo step[^\n]*\n +step 1 of 2\n/m);
    writeFiles(environment.cwd, { go: '' });
    const seen = await prompt.waitFor(/^All done\.$/m);
    assert.match(seen, /^✓ list_files \. \d+ms\n(?: +[^\n]+\n)*? +readme\.txt\n/m);
    assert.match(seen, /^✓ glob \*\*\/\*\.ts \d+ms\n +src\/sum\.ts$/m);
    assert.match(seen, /^✓ grep answer = \\d\+ \d+ms\n(?: +[^\n]+\n)*? +[^\n]*answer = 41/m);
    assert.match(seen, /^✓ read_file src\/sum\.ts \d+ms\n +export const answer = 41;$/m);
    assert.match(
      seen,
      /^✓ edit_file src\/sum\.ts [^]*?\n +-export const answer = 41;\n +\+export const answer = 42;$/m,
    );
    assert.match(seen, /^✓ write_file notes\/new\.md [^]*?\n +\+It is 42\.$/m);
    assert.match(seen, /^✓ run_command echo step [^]*?\n +step 2 of 2\n +It is 42\.$/m);
    assert.match(
      await prompt.screen({ colors: true, back: true }),
      /␛\[32m\+export const answer = 42;/,
      'diffs are colored',
    );
    assert.equal(readFileSync(path.join(environment.cwd, 'src/sum.ts'), 'utf8'), 'export const answer = 42;\n');
    assert.equal(readFileSync(path.join(environment.cwd, 'notes/new.md'), 'utf8'), 'It is 42.\n');

    const tools = await prompt.enterAndWait('/tools', /^Tools$[^]*run_command +asks/m);
    for (const free of ['read_file', 'list_files', 'glob', 'grep'])
      assert.match(tools, new RegExp(`^${free} +free `, 'm'));
    for (const asks of ['write_file', 'edit_file']) assert.match(tools, new RegExp(`^${asks} +asks `, 'm'));

    await prompt.enterAndWait('/context', /^Context: \d[^]*Largest tool results:[^]*Cache: /m);
    await prompt.enterAndWait('/cost', /^Total: \$0\.0000, 8 turns, 80 tokens in, 40 out$/m);

    await prompt.enterAndWait('/undo', /Restore 2 changes\?[^]*\[y\/N\]/);
    await waitUntilArmed();
    await prompt.keys('y', 'Enter');
    await prompt.waitFor(
      /^deleted: \S+\/notes\/new\.md\nrestored: \S+\/src\/sum\.ts\nThe effects of commands are not undone\.$/m,
    );
    assert.equal(readFileSync(path.join(environment.cwd, 'src/sum.ts'), 'utf8'), files['src/sum.ts']);
    assert.ok(!existsSync(path.join(environment.cwd, 'notes/new.md')));
    await prompt.enterAndWait('/undo', /No file was changed by a tool since your last message\./);
  },
);

test(
  '[A74] files outside the working directory are neither read nor written, even with automatic approval',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      scriptCalls(
        ['read_file', { path: '../secret.txt' }],
        ['write_file', { path: '../planted.txt', content: 'x' }],
        ['edit_file', { path: '/etc/hostname', old_string: 'a', new_string: 'b' }],
        ['grep', { pattern: 'hidden', path: '..' }],
      ),
    );
    writeFiles(path.dirname(environment.cwd), { 'secret.txt': 'hidden words\n' });
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--auto-approve']);
    await prompt.enterAndWait('Look around.', /^All done\.$/m);
    const seen = await prompt.screen({ back: true });
    for (const tool of ['read_file', 'write_file', 'edit_file', 'grep'])
      assert.match(seen, new RegExp(`^✗ ${tool} [^\\n]* failed[^\\n]*\\n +[^\\n]*outside`, 'm'));
    assert.doesNotMatch(seen, /hidden words/);
    assert.ok(!existsSync(path.join(path.dirname(environment.cwd), 'planted.txt')));
  },
);
