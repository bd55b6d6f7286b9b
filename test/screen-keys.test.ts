// Tests keys in a real terminal: input during a run, interruption, and quitting.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { calls, says } from '../src/testing/index.ts';
import {
  createPromptEnvironment,
  openPrompt,
  writeFiles,
  getSentRequests,
  type PromptEnvironment,
} from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

/** Returns the user and tool messages of a request, in order. */
const getUserMessages = ({ server }: PromptEnvironment, index: number): readonly string[] =>
  (getSentRequests(server).at(index)?.messages ?? []).slice(1).map(({ role, text }) => `${role}: ${text}`);

test(
  '[J47] while a tool runs, Enter steers: the message comes after its result; Alt+Enter queues a follow-up: it comes after the answer',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ index, prompt }) =>
      index === 0
        ? calls('run_command', { command: 'until [ -e go ]; do sleep 0.1; done; echo slept' })
        : says(`Heard: ${prompt}`),
    );
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--auto-approve']);
    await prompt.enterAndWait('start', /^● run_command until/m);
    await prompt.type('and then the tests');
    await prompt.keys('M-Enter');
    await prompt.waitFor(/^> and then the tests \(follow-up\)[^]*1 queued/m);
    await prompt.enterAndWait('only the docs', /^> only the docs \(steering\)[^]*2 queued/m);
    await prompt.enterAndWait('/rewind', /! Wait until the run has ended, or press Esc\.[^]*^> \/rewind/m);
    await prompt.keys('C-c');
    await prompt.enterAndWait('/tools', /^Tools$/m);
    writeFiles(environment.cwd, { go: '' });
    await prompt.waitFor(/^Heard: only the docs$[^]*^Heard: and then the tests$/m);
    assert.deepEqual(getUserMessages(environment, 1).slice(2), ['tool: slept\n[Exit code: 0.]', 'user: only the docs']);
    assert.deepEqual(getUserMessages(environment, 2).slice(4), [
      'assistant: Heard: only the docs',
      'user: and then the tests',
    ]);
  },
);

test(
  '[J61] Esc interrupts a tool and an answer, the partial text stays, and /continue runs again without a new message',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ index }) => {
      if (index === 0) return calls('run_command', { command: 'echo begun; sleep 60' });
      return index === 1 ? says('never', { delayMs: 60_000 }) : says('Here it is.');
    });
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '--auto-approve']);
    await prompt.enterAndWait('start', /^● run_command echo begun; sleep 60\n +begun$/m);
    await prompt.keys('Escape');
    await prompt.waitFor(/^■ run_command [^]*interrupted[^]*· Interrupted\.[^]*^>\s*\nalpha · /m);
    await prompt.enterAndWait('slow question', /thinking/);
    await pause(300);
    await prompt.keys('Escape');
    await prompt.waitFor(/Interrupted\.[^]*> slow question[^]*Interrupted\.[^]*^>\s*\nalpha · /m);
    await prompt.enterAndWait('/continue', /^Here it is\.$/m);
    assert.deepEqual(getUserMessages(environment, 2), getUserMessages(environment, 1), 'nothing was added');
    assert.match(getUserMessages(environment, 2).at(-1) ?? '', /^user: slow question/);
  },
);

test(
  '[J66] !cmd is shown to the model with the next message, !!cmd never, and @ completes files',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) => says(`Heard: ${prompt}`), {
      files: { 'src/needle.ts': 'x' },
    });
    const prompt = await openPrompt(t, environment);
    await prompt.enterAndWait('!echo to-$((40+2))-you; exit 3', /^✗ shell echo to-[^]*?failed[^]*^ +to-42-you$/m);
    await prompt.enterAndWait(
      '!!echo hid-$((1+1))-den',
      /^✓ shell, not shown to the model echo hid-[^]*^ +hid-2-den$/m,
    );
    await prompt.enterAndWait('!', /! Write a command after the exclamation mark, such as !ls\./);
    await prompt.type('see @need');
    await prompt.waitFor(/^> see @need *\n +→ src\/needle\.ts/m);
    await prompt.keys('Tab');
    await prompt.waitFor(/^> see @src\/needle\.ts *$/m);
    await prompt.keys('Enter');
    await prompt.waitFor(/^Heard: [^]*see @src\/needle\.ts/m);
    const sent = getUserMessages(environment, 0).join('\n');
    assert.match(
      sent,
      /^user: I ran this command myself:\n\$ echo to-\$\(\(40\+2\)\)-you; exit 3\nto-42-you\n+\(exit code 3\)/m,
    );
    assert.match(sent, /see @src\/needle\.ts\n\n<outside-text from="src\/needle\.ts">\nx\n<\/outside-text>$/);
    assert.doesNotMatch(sent, /hid-/);

    await prompt.enter('!echo going; sleep 60');
    await prompt.waitFor(/^● shell echo going[^]*^ +going$/m);
    await prompt.keys('Escape');
    await prompt.waitFor(/^✗ shell echo going[^]*^>\s*\nalpha · /m);
  },
);

test(
  '[J48] a paste and Shift+Enter make one message of several lines, arrow keys recall inputs, and the screen follows a resize',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) =>
      says(`Heard ${prompt.split('\n').length} lines.`),
    );
    const first = await openPrompt(t, environment);
    await first.paste('one\ntwo\n\tthree');
    await first.waitFor(/^> one\n +two\n +→three/m);
    await first.keys('S-Enter');
    await first.type('four');
    await first.keys('Enter');
    await first.waitFor(/^Heard 4 lines\.$/m);
    const long = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n');
    await first.paste(long);
    await first.waitFor(/^> \[paste #1 \+30 lines\]/m);
    await first.keys('Enter');
    await first.waitFor(/^Heard 30 lines\.$/m);
    assert.equal(getSentRequests(environment.server)[1]?.messages.at(-1)?.text, long);
    await first.enterAndWait('last of the day', /^Heard 1 lines\.$/m);
    await first.resize(50, 20);
    await first.waitFor(/^─{50}\n>\s*\nalpha · /m);
    await first.enterAndWait('/exit', /^exit code 0$/m);

    const second = await openPrompt(t, environment, []);
    await second.keys('Up', 'Up');
    await second.waitFor(/^> last of the day *$/m);
    await second.keys('C-c');
    await second.waitFor(/^>\s*\nalpha · /m);
    await second.keys('C-r');
    await second.waitFor(/Earlier inputs[^]*last of the day/);
  },
);

test('[J48] Ctrl+C clears, interrupts, warns, and quits when pressed again; Ctrl+D quits', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, () => says('never', { delayMs: 60_000 }));
  const prompt = await openPrompt(t, environment);
  await prompt.enterAndWait('slow', /thinking/);
  await prompt.type('half a thought');
  await prompt.waitFor(/^> half a thought/m);
  await prompt.keys('C-c');
  await prompt.waitFor(/^>\s*\n[^\n]*(thinking|working)/m);
  await prompt.keys('C-c');
  await prompt.waitFor(/· Interrupted\./);
  await prompt.keys('C-c');
  await prompt.waitFor(/press Ctrl\+C again to quit/);
  await prompt.keys('C-c');
  await prompt.waitFor(/^exit code 0$/m);
  const other = await openPrompt(t, environment);
  await other.keys('C-c');
  await other.waitFor(/press Ctrl\+C again to quit/);
  await other.keys('C-d');
  await other.waitFor(/^exit code 0$/m);
});
