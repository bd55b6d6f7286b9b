// Tests /rewind with files, /fork, /new, /copy, and the diff of an edit after a resume, in a real terminal.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createPromptEnvironment, openPrompt, getSentRequests } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';
import { waitUntilArmed } from './support/tui.ts';

const skip = noTerminal();

const edit = { path: 'a.txt', old_string: 'two', new_string: 'TWO' };
const longPrompt = 'change the second line of the file, and keep every other line exactly as it is now';

test(
  '/rewind restores the files with the conversation, lists only messages of the user in full, and a resumed edit shows its diff',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      ({ prompt, results }) => {
        if (prompt.endsWith(longPrompt) && results.length === 0) return calls('read_file', { path: 'a.txt' });
        if (prompt.endsWith(longPrompt) && results.length === 1) return calls('edit_file', edit);
        return says(prompt.endsWith(longPrompt) ? 'Changed.' : `Heard: ${prompt}`);
      },
      { files: { 'a.txt': 'one\ntwo\nthree\n' } },
    );
    const file = path.join(environment.cwd, 'a.txt');
    const args = ['--refresh-models', '--model', 'alpha', '--auto-approve', '--session-name', 'edited'];
    const first = await openPrompt(t, environment, args, { columns: 110 });
    await first.enterAndWait('hello', /Heard: hello/);
    await first.enterAndWait('!echo note', /note/);
    await first.enterAndWait(longPrompt, /Changed\./);
    assert.equal(readFileSync(file, 'utf8'), 'one\nTWO\nthree\n');
    await first.enterAndWait('/quit', /^To resume "edited": fairlead --resume [\da-f]{8}$/m);

    const second = await openPrompt(t, environment, ['-r', 'edited', '--auto-approve'], { columns: 110 });
    const resumed = await second.waitFor(/edit_file[^]*Changed\./);
    assert.match(resumed, /-two[^]*\+TWO/, 'the diff of the edit is shown again');
    const list = await second.enterAndWait('/rewind', /Go back to before which message\?[^]*hello/);
    assert.match(list, new RegExp(`→ ${longPrompt.slice(0, 70)}`), 'the message is not cut at 30 columns');
    assert.doesNotMatch(list.slice(list.indexOf('Go back')), /I ran this command/);
    await waitUntilArmed();
    await second.keys('Enter');
    await second.waitFor(/Tools changed 1 file since then\. What goes back\?/);
    await waitUntilArmed();
    await second.keys('b', 'Enter');
    await second.waitFor(/Back at that point[^]*restored: \S*a\.txt/);
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\nthree\n');
    await second.waitFor(new RegExp(`^> ${longPrompt.slice(0, 40)}`, 'm'));
  },
);

test(
  '/fork begins another session before a message, /new an empty one, and /copy copies a code block',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) =>
      says(prompt === 'code' ? 'Here:\n\n```sh\necho copied\n```\n' : `Heard: ${prompt}`),
    );
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--session-name', 'base']);
    await prompt.enterAndWait('/copy', /There is no answer to copy yet\./);
    await prompt.enterAndWait('one', /Heard: one/);
    await prompt.enterAndWait('two', /Heard: two/);
    await prompt.enterAndWait('/fork', /Fork before which message\?[^]*→ two/);
    await waitUntilArmed();
    await prompt.keys('Enter');
    await prompt.waitFor(/A fork of "base": "base-fork"\. The original stays as it was\.[^]*^> two/m);
    await prompt.keys('C-c');
    await prompt.enterAndWait('three', /Heard: three/);
    assert.deepEqual(
      getSentRequests(environment.server)
        .at(-1)
        ?.messages.slice(1)
        .map(({ text }) => text),
      ['one', 'Heard: one', 'three'],
    );
    assert.ok(existsSync(path.join(environment.data, 'sessions/session_base-fork.jsonl')));
    await prompt.enterAndWait('code', /echo copied/);
    await prompt.enterAndWait('/copy code 3', /The last answer has 1 code block\./);
    await prompt.enterAndWait('/copy code', /Copied 12 characters \(.*terminal\)/);
    await prompt.enterAndWait('/new', /A new session: "/);
  },
);

test('/copy after /compact copies the last answer, not the text in its place', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, ({ prompt }) =>
    says(`Heard ${prompt}: ${'word '.repeat(300)}end`),
  );
  const prompt = await openPrompt(t, environment);
  for (const each of ['one', 'two', 'six']) await prompt.enterAndWait(each, new RegExp(`Heard ${each}:[^]*end$`, 'm'));
  await prompt.enterAndWait('/compact', /The next request has about \d+ tokens/);
  await prompt.enterAndWait('/copy', new RegExp(`Copied ${'Heard six: '.length + 1503} characters`));
});
