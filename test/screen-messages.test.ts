// Tests editing, rewinding and branching of messages in a real terminal, and writing prompts in an editor.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { says } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import {
  createPromptEnvironment,
  openPrompt,
  writeFiles,
  getSentRequests,
  type PromptEnvironment,
} from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

function noNvim(): string | false {
  try {
    execFileSync('nvim', ['--version'], { stdio: 'ignore' });
    return skip;
  } catch {
    return 'nvim is not installed';
  }
}

/** Creates an editor that is a shell script: each input is saved as `seen.1`, `seen.2` and so on. */
function createScriptedEditor(environment: PromptEnvironment, script: string): Readonly<Record<string, string>> {
  const dir = path.dirname(environment.cwd);
  writeFiles(dir, {
    'editor.sh': [
      `cd '${dir}'; n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n > count; cp "$1" seen.$n`,
      'tmux list-panes 2>/dev/null | wc -l > panes.$n',
      script,
    ].join('\n'),
  });
  return { VISUAL: `sh '${dir}/editor.sh'` };
}

const getLastSent = ({ server }: PromptEnvironment): readonly string[] =>
  (getSentRequests(server).at(-1)?.messages ?? []).slice(1).map(({ role, text }) => `${role}: ${text}`);

test(
  '[J3, J59, J61] /session edit opens the messages in a split, a mistake is listed with its line and opened again, and the edit is a branch that /continue continues',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ index, prompt }) => says(`Answer ${index} to ${prompt}`));
    const env = createScriptedEditor(
      environment,
      `case $n in
  1) sed -i 's/%%% user 1/%%% nobody 1/; s/first words/better words/; /^%%% assistant 2/,$d' "$1";;
  2) sed -i '/^#! /d; s/%%% nobody/%%% user/' "$1";;
esac`,
    );
    const prompt = await openPrompt(t, environment, undefined, { env });
    await prompt.enterAndWait('first words', /^Answer 0 to first words$/m);
    await prompt.enterAndWait('/session edit', /· Saved as a new branch; \/tree shows the old one\./);
    const dir = path.dirname(environment.cwd);
    assert.match(
      readFileSync(path.join(dir, 'seen.1'), 'utf8'),
      /^%%% user 1\nfirst words\n\n%%% assistant 2\nAnswer 0/m,
    );
    const reopened = readFileSync(path.join(dir, 'seen.2'), 'utf8');
    const [, line] = /^#! line (\d+): [^\n]*nobody/.exec(reopened) ?? [];
    assert.equal(reopened.split('\n')[Number(line) - 1], '%%% nobody 1');
    assert.equal(readFileSync(path.join(dir, 'panes.1'), 'utf8').trim(), '2', 'the editor ran in a split');
    assert.match(await prompt.screen(), /^> better words\n\n· Saved/m);
    await prompt.enterAndWait('/continue', /^Answer 1 to better words$/m);
    assert.deepEqual(getLastSent(environment), ['user: better words']);

    await prompt.enterAndWait(
      '/tree',
      /^1 +"first words" +1 answer,[^]*^└─ 2 +edited[^\n]*"better words" +1 answer,[^]*← here/m,
    );
    await prompt.enterAndWait('/tree 1', /· Back on branch 1\./);
    await prompt.waitFor(/^> first words\n\nAnswer 0 to first words\n\n· Back/m);
    await prompt.enterAndWait('more', /^Answer 2 to more$/m);
    assert.deepEqual(getLastSent(environment), [
      'user: first words',
      'assistant: Answer 0 to first words',
      'user: more',
    ]);
    await prompt.enterAndWait('/tree 9', /! There is no branch 9: \/tree lists them\./);
    await prompt.enterAndWait('/session edit', /· Nothing was edited, so the conversation was not changed\./);
  },
);

test(
  '[J62] /editor starts with its argument and sends the saved text, also without tmux; an unchanged text is not sent',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) => says(`Heard: ${prompt}`));
    const env = createScriptedEditor(environment, '[ $n = 2 ] || printf " and more\\nlines" >> "$1"');
    const prompt = await openPrompt(t, environment, undefined, { env });
    await prompt.enterAndWait('/editor begin', /^> begin and more\n +lines\n\nHeard: begin and more\nlines/m);
    assert.deepEqual(getLastSent(environment), ['user: begin and more\nlines']);
    await prompt.enterAndWait('/editor again', /· The prompt was not changed, so nothing was sent\./);
    const alone = await openPrompt(t, environment, ['--model', 'alpha', '--ephemeral'], {
      env,
      wrap: ['env', '-u', 'TMUX'],
    });
    await alone.enterAndWait('/editor in place', /^> in place and more\n +lines\n\nHeard: in place and more/m);
    const panes = readFileSync(path.join(path.dirname(environment.cwd), 'panes.3'), 'utf8');
    assert.equal(panes.trim(), '0', 'the editor did not run in a split');
  },
);

test('[J59, J62] nvim is the default editor', { skip: noNvim() }, async (t) => {
  const environment = await createPromptEnvironment(t, ({ prompt }) => says(`Heard: ${prompt}`));
  const prompt = await openPrompt(t, environment);
  await prompt.enter('/editor draft');
  await prompt.waitFor(/edit\.md|1,1 +All/);
  assert.match(await prompt.queryTmux('#{pane_current_command} #{window_panes}'), /^nvim 2$|^sh 2$/);
  await prompt.type('ccwritten in nvim');
  await prompt.keys('Escape');
  await prompt.enter(':wq');
  await prompt.waitFor(/^Heard: written in nvim$/m);
});

test(
  '[J3] Esc Esc and /rewind go back to before an earlier message, its text is in the input field, and the later messages stay as a branch',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) => says(`Heard: ${prompt}`));
    const prompt = await openPrompt(t, environment);
    await prompt.enterAndWait('one', /^Heard: one$/m);
    await prompt.enterAndWait('two', /^Heard: two$/m);
    await prompt.keys('Escape');
    await prompt.waitFor(/press Esc again to go back to an earlier message/);
    await prompt.keys('Escape');
    await prompt.waitFor(/Go back to before which message\?[^]*^→ two [^]*^ +one /m);
    await waitUntilArmed();
    await prompt.keys('Enter');
    await prompt.waitFor(/· Back at that point\. The old branch is kept: \/tree shows it\.[^]*^> two *$/m);
    assert.doesNotMatch(await prompt.screen(), /Heard: two/);
    await prompt.type(' again');
    await prompt.keys('Enter');
    await prompt.waitFor(/^Heard: two again$/m);
    assert.deepEqual(getLastSent(environment), ['user: one', 'assistant: Heard: one', 'user: two again']);
    await prompt.enterAndWait('/tree', /^1 +"one" +2 answers,[^]*^└─ 2 +went back after "one": "two again"[^]*← here/m);

    await prompt.enterAndWait('/rewind', /Go back to before which message\?/);
    await prompt.keys('Escape');
    await prompt.waitFor(/· Nothing was changed\./);
  },
);
