// Tests of plan mode in a real terminal: the plan is a file, its text is approved, and its steps are carried out and shown.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';
import { createPromptEnvironment, openPrompt, type TerminalPrompt } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';
import { waitUntilArmed } from './support/tui.ts';

const skip = noTerminal();

async function answer(prompt: TerminalPrompt, question: RegExp, ...keys: string[]): Promise<void> {
  await prompt.waitFor(question);
  await waitUntilArmed();
  await prompt.keys(...keys);
}

/** Returns the plan files below a folder. */
const findPlans = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /plans.*\.md$/.test(name))
        .map((name) => path.join(folder, name))
    : [];

test(
  '[A20, A76] /plan writes a plan file and changes nothing; an edit of the file is shown and asked about again; then the steps are carried out',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt, results }) => {
      if (prompt.endsWith('make a.txt')) {
        if (results.length === 0) return calls('write_file', { path: 'early.txt', content: 'x' });
        return says('The plan:\n\n1. Write a.txt\n2. Read it\n');
      }
      if (prompt.includes('Carry out step 1') && results.length === 1)
        return calls('write_file', { path: 'a.txt', content: 'hi' });
      return says(prompt.includes('Carry out step 3') ? 'Step failed: no tests here' : 'Did it.');
    });
    const prompt = await openPrompt(t, environment);
    await prompt.enter('/plan make a.txt');
    await prompt.waitFor(/Carry out this plan\? \(2 steps, hash [0-9a-f]{12}\)/);
    assert.equal(existsSync(path.join(environment.cwd, 'early.txt')), false, 'nothing is written in plan mode');
    const [file = '', ...others] = findPlans(path.dirname(environment.cwd));
    assert.deepEqual(others, []);
    assert.ok(!file.startsWith(environment.cwd), 'the file is not in the project');
    assert.match(readFileSync(file, 'utf8'), /1\. Write a\.txt/);
    appendFileSync(file, '3. Test it\n');
    await answer(prompt, /hash [0-9a-f]{12}\)[^]*1\. Yes, ask/, 'e', 'Enter');
    await answer(prompt, /changed since it was shown[^]*3\. Test it[^]*Carry out this plan\? \(3 steps/, 'e', 'Enter');
    await prompt.waitFor(/✗ 3\. Test it \(no tests here\)[^]*A step failed: 1 steps are not done/);
    assert.equal(readFileSync(path.join(environment.cwd, 'a.txt'), 'utf8'), 'hi');
    await prompt.enterAndWait('/plan', /☑ 1\. Write a\.txt\s+☑ 2\. Read it\s+✗ 3\. Test it/);
    await prompt.enterAndWait('/plan --help', /\/plan <task> plans without changing anything/);
  },
);

test('[A76] --plan runs a task without changing anything and prints the plan; it excludes other modes', async (t) => {
  const program = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('write_file', { path: 'a.txt', content: 'x' }) : says('1. Write a.txt'),
  );
  await program.seedModels('qwen3');
  const { code, out } = await program.call(['--plan', '-p', 'make a.txt']);
  assert.deepEqual([code, out], [0, '1. Write a.txt\n']);
  assert.equal(existsSync(path.join(program.cwd, 'a.txt')), false);
  for (const more of [['--auto-approve'], ['--mode', 'ask']]) {
    const wrong = await program.call(['--plan', ...more, '-p', 'x']);
    assert.match(wrong.err, /--plan and --(?:auto-approve|mode ask) cannot be given together\./);
  }
});
