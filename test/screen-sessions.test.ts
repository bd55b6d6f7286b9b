// Tests session commands in a real terminal: create, name, resume, clone, show, save and quit.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { says } from '../src/testing/index.ts';
import { enterLine, waitUntilArmed } from './support/tui.ts';
import { bin } from './support/program-dirs.ts';
import {
  createPromptEnvironment,
  openPrompt,
  getSentRequests,
  type PromptEnvironment,
} from './support/terminal-prompt.ts';
import { noTerminal, openTerminal } from './support/terminal.ts';

const skip = noTerminal();

const listSessionFiles = ({ data }: PromptEnvironment): readonly string[] =>
  readdirSync(path.join(data, 'sessions'))
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted();

test(
  '[J54, J55, J56, J57, J58, J66, J76, A78] sessions are created, renamed, cloned and resumed with completion, and all messages are shown',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) => says(`You said ${prompt}.`));
    const args = ['--refresh-models', '--model', 'alpha', '--session-name', 'work'];
    // The status line of a narrower window leaves the name of the session out.
    const prompt = await openPrompt(t, environment, args, { columns: 140 });
    await prompt.enterAndWait('one', /You said one\./);

    await prompt.enterAndWait(
      '/session clone',
      /· A copy of "work": "work-clone"\. The original stays as it was\.[^]*work-clone *$/m,
    );
    await prompt.enterAndWait('two', /You said two\./);
    await prompt.enterAndWait('/session rename side: way', /· "work-clone" is now "side: way"\.[^]*side: way *$/m);
    assert.deepEqual(listSessionFiles(environment), ['session_side%3A way.jsonl', 'session_work.jsonl']);
    await prompt.enterAndWait(
      '/session rename work',
      /\? There is already a session named "work"\. Call this one "work-2"\? \[y\/N\]/,
    );
    await waitUntilArmed();
    await prompt.keys('Enter');
    await prompt.waitFor(/· Nothing was changed\./);

    await prompt.enterAndWait('/session new', /· A new session: "\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d"\./);
    assert.doesNotMatch(await prompt.screen(), /You said/, 'the screen is empty');
    await prompt.enterAndWait('fresh', /You said fresh\./);
    assert.deepEqual(
      getSentRequests(environment.server).at(-1)?.messages.slice(1),
      [{ role: 'user', text: 'fresh' }],
      'no history',
    );

    await prompt.type('/session resume wo');
    await prompt.waitFor(/→ work +\d{4}-\d\d-\d\d \d\d:\d\d +one/);
    await prompt.keys('Tab');
    await prompt.waitFor(/^> \/session resume work *$/m);
    await prompt.keys('Enter');
    await prompt.waitFor(/· Resumed "work"\.[^]*work *$/m);
    await prompt.enterAndWait('three', /> one\n\nYou said one\.[^]*> three\n\nYou said three\./);
    assert.deepEqual(
      getSentRequests(environment.server)
        .at(-1)
        ?.messages.slice(1)
        .map(({ text }) => text),
      ['one', 'You said one.', 'three'],
      'the clone did not change the original',
    );

    const fields = (await prompt.screen({ back: true })).match(/^─+\n>/gm);
    assert.equal(fields?.length, 1, 'no field of an earlier screen is left above');

    const page = await prompt.enterAndWait(
      '/session show-messages',
      /── User ──\nthree\n\n── Assistant ──\nYou said three\./,
    );
    assert.match(page, /── User ──\none\n\n── Assistant ──\nYou said one\./);
    await prompt.enterAndWait(
      '/session clone',
      /You said three\.[^]*· A copy of "work": "work-clone"[^]*work-clone\s*$/,
    );
    await prompt.enterAndWait('/session new', /You said three\.[^]*· A new session: "[^]*\d\s*$/);
    await prompt.type('/session resume work');
    await prompt.waitFor(/^> \/session resume work *\n +→ work /m);
    await prompt.keys('Enter');
    await prompt.waitFor(/^> one\n[^]*· Resumed "work"\.\n\n─/m);
    await prompt.enterAndWait('/session bogus', /There is no \/session bogus; there are:\n\/session new/);
  },
);

test(
  '[J56, A77, A78] /save shows the file of the session, /resume returns to it, in this process and in the next',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) => says(`You said ${prompt}.`));
    const first = await openPrompt(t, environment);
    await first.enterAndWait('remember me', /You said remember me\./);
    await first.enterAndWait('/save my talk', /· Every event is already saved in \S+\/session_my\s+talk\.jsonl/);
    await first.enterAndWait('/clear', /· A new session: "/);
    assert.doesNotMatch(await first.screen(), /remember me/);
    await first.enterAndWait('/resume', /Resume which session\?\n>\s*\n→ my talk +\S+ \S+ +remember me/);
    await first.keys('Escape');
    await first.waitFor(/· Still in "\d{4}/);
    const [line = ''] = readFileSync(path.join(environment.data, 'sessions/session_my talk.jsonl'), 'utf8').split('\n');
    const { session: id } = JSON.parse(line) as { readonly session: string };
    await first.enterAndWait(`/resume ${id.slice(0, 8)}`, /· Resumed "my talk"\./);

    const second = await openPrompt(t, environment, ['--ephemeral']);
    await second.enterAndWait('/resume my talk', /✗ [^\n]*my talk[^]*process\s+\(\d+/);
    await first.enterAndWait('/quit', /^exit code 0$/m);
    await second.enterAndWait('/resume my talk', /· Resumed "my talk"\./);
    await second.enterAndWait('go on', /> remember me\n\nYou said remember me\.[^]*You said go on\./);
    await second.enterAndWait('/cwd', /· The working directory is \S+\/work$/m);
    await second.enterAndWait('/cwd ..', /· The working directory is [^\n]*\/fairlead-home-\w+$/m);
    await second.enterAndWait('/cwd nowhere', /✗ There is no folder \S+\/nowhere\./);
    assert.deepEqual(listSessionFiles(environment), ['session_my talk.jsonl']);
  },
);

test(
  'the list of sessions is searched by words in the messages, in the terminal and as plain lines',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) =>
      says(`You said ${prompt}. Keyword-${prompt}.`),
    );
    const args = ['--refresh-models', '--model', 'alpha'];
    const prompt = await openPrompt(t, environment, args, { columns: 140 });
    await prompt.enterAndWait('apple', /Keyword-apple\./);
    await prompt.enterAndWait('/new', /· A new session/);
    await prompt.enterAndWait('pear', /Keyword-pear\./);
    await prompt.enterAndWait('/new', /· A new session/);
    await prompt.enterAndWait(
      '/resume',
      /Resume which session\?[^]*→ pear[^]*apple[^]*Type to search titles, folders and messages/,
    );
    // The word is in an answer, and in no title.
    await prompt.type('keyword-app');
    await prompt.waitFor(/> keyword-app\n→ apple +\d{4}-\d\d-\d\d \d\d:\d\d +You said apple\. Keyword-apple\.\nType/);
    await prompt.type('-none');
    await prompt.waitFor(/No matching sessions/);
    await prompt.keys('BSpace', 'BSpace', 'BSpace', 'BSpace', 'BSpace');
    await prompt.waitFor(/→ apple/);
    await prompt.keys('Enter');
    await prompt.waitFor(/> apple\n[^]*You said apple\.[^]*Resumed/);
    await prompt.keys('C-d');

    const command = [process.execPath, bin, '--no-sandbox', '--plain', '--resume'];
    const { cwd, env } = environment;
    const plain = await openTerminal(t, command, { columns: 140, rows: 40, cwd, env });
    await plain.waitFor(/number or name, or words to search for, empty to cancel: *$/m);
    await waitUntilArmed();
    await enterLine(plain, 'keyword-pear');
    await plain.waitFor(/1\. pear .*You said pear\. Keyword-pear\.\nnumber or name/);
    await waitUntilArmed();
    await enterLine(plain, '1');
    await plain.waitFor(/> pear\n[^]*\[status\]/);
  },
);
