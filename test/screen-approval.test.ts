// Tests approvals in a real terminal: the exact call, denied by default, and "always" for one kind of call.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { getLockOwner } from '../src/stores/index.ts';
import { calls } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { waitUntil } from './support/cli-harness.ts';
import {
  createPromptEnvironment,
  scriptByPrompt,
  openPrompt,
  getSentRequests,
  type TerminalPrompt,
} from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

/** Runs the prompt as a command; `write: x` writes x into a file. */
const shellScript = scriptByPrompt((text) =>
  text.startsWith('write:')
    ? calls('write_file', { path: 'out.txt', content: text.slice(6) })
    : calls('run_command', { command: text }),
);

/** Answers the open question. */
async function pressAnswer(prompt: TerminalPrompt, ...keys: string[]): Promise<void> {
  await prompt.waitFor(
    /^\? [^\n]+\? \[y\/N\/a\]\n {2}1\. Yes, once\n {2}2\. Yes, and [^\n]+ in this session \(a\)\n[^]*^❯ \d\. No$/m,
  );
  await waitUntilArmed();
  await prompt.keys(...keys);
}

test(
  '[A75, A78] the question shows the exact call, Enter and Esc mean no, and yes counts once',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, shellScript);
    const prompt = await openPrompt(t, environment, [
      '--refresh-models',
      '--model',
      'alpha',
      '--session-name',
      'asked',
    ]);
    const program = (name: string): boolean => existsSync(path.join(environment.cwd, name));

    await prompt.enter('touch enter');
    await pressAnswer(prompt, 'Enter');
    await prompt.waitFor(/^⊘ run_command touch enter denied[^]*^Result: /m);
    await prompt.enter('touch escape');
    await pressAnswer(prompt, 'Escape');
    await prompt.waitFor(/^⊘ run_command touch escape denied[^]*^Result: /m);
    await prompt.enter('touch no');
    await pressAnswer(prompt, 'n', 'Enter');
    await prompt.waitFor(/^⊘ run_command touch no denied[^]*^Result: /m);
    assert.ok(!program('enter') && !program('escape') && !program('no'));

    await prompt.enter('touch yes');
    await pressAnswer(prompt, 'y', 'Enter');
    await prompt.waitFor(/^✓ run_command touch yes · approved[^]*^Result: /m);
    assert.ok(program('yes'));
    await prompt.enter('touch yes');
    await pressAnswer(prompt, 'n', 'Enter');
    await prompt.waitFor(/^⊘ run_command touch yes denied[^]*^Result: /m);

    const asked = getSentRequests(environment.server).length;
    await prompt.enter('touch stopped');
    await pressAnswer(prompt, 'C-c');
    await prompt.waitFor(/^■ run_command touch stopped interrupted[^]*· Interrupted\./m);
    assert.equal(getSentRequests(environment.server).length, asked + 1, 'no further model request was sent');
    assert.ok(!program('stopped'));
    const kept = readFileSync(path.join(environment.data, 'sessions/session_asked.jsonl'), 'utf8');
    assert.equal(kept.match(/"type":"approval-resolved"/g)?.length, 5, 'an interruption is not an answer');

    await prompt.enter('write:first');
    await prompt.waitFor(
      /^ {2}out\.txt \(new file, \+1 -0\)\n {2}1 \+ first\n[^]*^\? Create out\.txt\? \[y\/N\/a\]\n {2}1\. Yes, once\n {2}2\. Yes, and any content for \/…\/out\.txt in this session/m,
    );
    await pressAnswer(prompt, 'y', 'Enter');
    await prompt.waitFor(/^✓ write_file out\.txt/m);
    assert.equal(readFileSync(path.join(environment.cwd, 'out.txt'), 'utf8'), 'first');
  },
);

test(
  '[A75, A76] always covers exactly that command in this session, /permissions revokes it, /auto turns asking off and on',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, shellScript);
    const prompt = await openPrompt(t, environment);
    await prompt.enter('echo mine');
    await pressAnswer(prompt, 'a', 'Enter');
    await prompt.waitFor(
      /· Allowed for this session: run_command: echo mine \(in \S+\)\.\s+\/permissions\s+lists\s+and\s+revokes\./,
    );
    await prompt.waitFor(/^Result: mine$/m);
    await prompt.enterAndWait('echo mine', /^Result: mine$[^]*^Result: mine$/m);
    await prompt.enter('echo mine too');
    await pressAnswer(prompt, 'n', 'Enter');
    await prompt.waitFor(/^⊘ run_command echo mine too denied/m);

    await prompt.enterAndWait('/permissions', /Pick one to revoke it[^]*→ 1\. run_command: echo mine \(in \S/);
    await waitUntilArmed();
    await prompt.keys('Enter');
    await prompt.waitFor(/· Revoked: run_command: echo mine \(in \S/);
    await prompt.enter('echo mine');
    await pressAnswer(prompt, 'a', 'Enter');
    await prompt.waitFor(/(?:^Result: mine$[^]*){3}/m);
    await prompt.enterAndWait('/session new', /· A new session/);
    await prompt.enterAndWait('/permissions', /· No permissions granted yet\./);
    await prompt.enter('echo mine');
    await pressAnswer(prompt, 'n', 'Enter');
    await prompt.waitFor(/^⊘ run_command echo mine denied/m);

    await prompt.enterAndWait('/auto on', /· File changes and commands are approved automatically\.[^]*auto-approve/);
    await prompt.enterAndWait('echo unasked', /^Result: unasked$/m);
    await prompt.enterAndWait('/auto', /(?:· File changes and commands are approved automatically\.[^]*){2}/);
    await prompt.enterAndWait('/auto maybe', /! Use \/auto on or \/auto off\./);
    await prompt.keys('BTab');
    await prompt.waitFor(/· You are asked before files are changed and commands are run\.[^]*ask before changes/);
    await prompt.enter('echo asked');
    await pressAnswer(prompt, 'n', 'Enter');
    await prompt.waitFor(/^⊘ run_command echo asked denied/m);
  },
);

test('[A75] [attack 72] in a question and in a call, control characters are escaped', { skip }, async (t) => {
  const command = 'echo ok \u202e\u001b[2K\u001b]0;owned\u0007\rrm -rf /';
  const environment = await createPromptEnvironment(
    t,
    scriptByPrompt(() => calls('run_command', { command })),
  );
  const prompt = await openPrompt(t, environment);
  await prompt.enter('go');
  const shown = 'echo ok <U+202E>␛[2K␛]0;owned␇␍rm -rf /';
  const seen = await prompt.waitFor(/\[y\/N\/a\]/);
  assert.ok(seen.includes(`\n  $ ${shown}\n`), seen);
  assert.ok(seen.includes(`\n? run_command ${shown} waiting for approval\n`), seen);
  assert.doesNotMatch(await prompt.queryTmux('#{pane_title}'), /owned/);
  await pressAnswer(prompt, 'n', 'Enter');
  await prompt.waitFor(/^⊘ run_command echo ok/m);
});

test(
  '[A53, A112] [fault 30] a command that a kill -9 interrupted is not run again: the user says that it happened, or that it may be run',
  { skip },
  async (t) => {
    const command = 'echo sent >> ledger; kill -9 $(cat pid); sleep 60';
    const environment = await createPromptEnvironment(
      t,
      scriptByPrompt(() => calls('run_command', { command })),
    );
    const ledger = (): string => readFileSync(path.join(environment.cwd, 'ledger'), 'utf8');
    const again = /may or may not have happened[^]*^\? Run run_command again\? \[y\/N\/h\]/m;
    const args = ['--refresh-models', '--model', 'alpha', '--no-sandbox'];
    for (const [i, key] of ['h', 'n'].entries()) {
      const file = path.join(environment.data, `sessions/session_cut-${key}.jsonl`);
      const first = await openPrompt(t, environment, [...args, '--session-name', `cut-${key}`]);
      writeFileSync(path.join(environment.cwd, 'pid'), String(getLockOwner(file)?.pid));
      await first.enter('go');
      await pressAnswer(first, 'y', 'Enter');
      await waitUntil('the program was killed', () => getLockOwner(file) === undefined);
      const next = await openPrompt(t, environment, [...args, '--resume', `cut-${key}`]);
      await next.enterAndWait('/continue', again);
      await waitUntilArmed();
      await next.keys(key, 'Enter');
      await next.waitFor(key === 'h' ? /^Result: The user confirmed/m : /^Result: The program stopped/m);
      assert.equal(ledger(), 'sent\n'.repeat(i + 1));
    }
  },
);

test(
  '[A75, A77] [fault 37] an unanswered question stays open: it is asked again when the session is resumed',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, shellScript);
    const first = await openPrompt(t, environment, [
      '--refresh-models',
      '--model',
      'alpha',
      '--session-name',
      'waiting',
    ]);
    await first.enterAndWait('touch later', /^ {2}\$ touch later\n[^]*^\? Run this command\?/m);
    await first.kill();
    const file = path.join(environment.data, 'sessions/session_waiting.jsonl');
    await waitUntil('the first program is gone', () => getLockOwner(file) === undefined);
    const second = await openPrompt(t, environment, []);
    await second.enterAndWait('/resume waiting', /^> touch later\n[^]*· Resumed "waiting"\./m);
    assert.ok(!existsSync(path.join(environment.cwd, 'later')));
    await pressAnswer(second, 'y', 'Enter');
    await second.waitFor(/^✓ run_command touch later[^]*^Result: /m);
    assert.ok(existsSync(path.join(environment.cwd, 'later')));
  },
);
