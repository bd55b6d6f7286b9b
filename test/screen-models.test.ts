// Tests the prompt and the model commands in a real terminal: banner, answers, selecting, listing, testing and continuing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { says } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { createPromptEnvironment, openPrompt, getSentRequests } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

test(
  '[J48, J53, J66, A77, A78] it shows a prompt, returns to it after each answer, and /model switches with completion',
  { skip },
  async (t) => {
    const models = [
      { id: 'alpha', tools: true },
      { id: 'beta', tools: true },
      { id: 'mute', tools: false },
    ];
    const environment = await createPromptEnvironment(t, ({ model, prompt }) => says(`${model} heard ${prompt}.`), {
      models,
    });
    const prompt = await openPrompt(t, environment, undefined, { columns: 130 });
    const greeted = await prompt.waitFor(/^─+\n>\s*\nalpha · [^\n]* · ask before changes · \d{4}-\d\d-\d\d_/m);
    assert.match(greeted, /Fairlead with alpha, session "\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d"\. \/help lists the commands/);
    await prompt.enterAndWait('first', /> first\n\nalpha heard first\.\n\n─+\n>\s*\nalpha/);

    await prompt.enterAndWait('/model nowhere', /✗ lm-studio \([^)]*\) has no model "nowhere"[^]*\/refresh-models/);
    await prompt.enterAndWait('/model bad/name', /✗ There is no provider "bad", and lm-studio \([^)]*\) has no model/);
    await prompt.type('/model be');
    await prompt.waitFor(/> \/model be\n +→ beta/);
    await prompt.keys('Tab');
    await prompt.waitFor(/^> \/model beta *$/m);
    await prompt.keys('Enter');
    await prompt.waitFor(/· The next answer comes from beta\.[^]*^beta · /m);
    await prompt.enterAndWait('second', /> second\n\nbeta heard second\.\n\n─+\n>\s*\nbeta/);
    assert.deepEqual(
      getSentRequests(environment.server).map(({ model, messages }) => [model, messages.at(-1)?.text]),
      [
        ['alpha', 'first'],
        ['beta', 'second'],
      ],
    );

    await prompt.enterAndWait(
      '/model',
      /Which model\?\n>\s*\n→ lm-studio\/alpha +this machine\n +lm-studio\/beta +this machine\n +lm-studio\/mute +this machine · cannot call tools\n/,
    );
    await prompt.type('no such model');
    await prompt.waitFor(/> no such model *\n +No matching models\n/);
    await prompt.keys('C-u');
    await prompt.type('alp');
    await prompt.waitFor(/> alp *\n→ lm-studio\/alpha +this machine\n↑/);
    await waitUntilArmed();
    await prompt.keys('Enter');
    await prompt.waitFor(/The next answer comes from alpha\./);

    await prompt.enterAndWait('/continue', /· The last answer was complete; sending "Go on\."\n\nalpha heard Go on\./);
    await prompt.enterAndWait('/model mute', /! mute cannot call tools/);
    await prompt.enterAndWait('/exit', /^exit code 0$/m);
  },
);

test(
  '[J60, J63, J64, J72, A78] /stream toggles, /refresh-models and /test-connection ask the provider, /help lists every command',
  { skip },
  async (t) => {
    const text = Array.from({ length: 40 }, (_, i) => `word${i} `);
    const environment = await createPromptEnvironment(t, () => says(text.join(''), { chunks: text, chunkMs: 40 }));
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha'], { columns: 130 });
    assert.doesNotMatch(await prompt.screen(), /no streaming/, 'streaming is on by default');
    await prompt.enterAndWait('show', /word3 (?![^]*word39)/);
    await prompt.waitFor(/word39\n\n─+\n>\s*\nalpha/);
    await prompt.enterAndWait('/stream', /Streaming off\.[^]*no streaming/);
    await prompt.enter('show again');
    const seen = await prompt.waitFor(/> show again\n[^]*word0 [^]*word39\n\n─+\n>\s*\nalpha/);
    assert.equal(seen.match(/word20 /g)?.length, 2);
    const { body } = environment.server.requests.at(-1) ?? {};
    assert.equal((body as { readonly stream?: unknown }).stream, false, 'a complete answer is asked for');
    await prompt.enterAndWait('/stream', /Streaming on\./);

    environment.server.clearRequests();
    await prompt.enterAndWait('/test-connection', /· lm-studio \(http:[^)]*\) answers \(\d+ ms\) and has 2 models\./);
    await prompt.enterAndWait('/refresh-models', /· 2 models: alpha, beta/);
    assert.equal(environment.server.requests.filter(({ method }) => method === 'GET').length, 2);

    const help = await prompt.enterAndWait('/help', /^Commands$[^]*Ctrl\+D quits\./m);
    const table = /^Commands\n([^]*?)\n\n/m.exec(help)?.[1] ?? '';
    for (const line of table.split('\n'))
      assert.match(line, /^(\/| {28}\S)/, 'text that does not fit stays in its column');
    for (const name of commands.split(' ')) assert.match(help, new RegExp(`^/${name} `, 'm'));

    await environment.server.close();
    await prompt.enterAndWait('/test-connection', /✗ Cannot connect to lm-studio/);
    const failed = await prompt.enterAndWait(
      'are you there',
      /! The model request failed\. \/continue to retry\.[^]*^>\s*\nalpha/m,
    );
    assert.equal(failed.match(/✗ Cannot connect/g)?.length, 2, 'a failure is reported once');
  },
);

const commands =
  'model session stream continue editor refresh-models test-connection promptfile help tools auto save resume cwd clear exit compact cost context rewind tree export permissions undo doctor';
