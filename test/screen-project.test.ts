// Tests files of the user and of a project in the terminal: instructions, skills, commands and prompts.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { listShippedPrompts } from '../src/coding-agent/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { waitUntilArmed } from './support/tui.ts';
import { createPromptEnvironment, openPrompt, writeFiles, getSentRequests } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

test(
  'AGENTS.md of the directory and of its parents are shown as loaded and sent, skills are listed by name and loaded on demand, and a Markdown file is a command',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      ({ prompt, results }) => {
        if (prompt !== 'ship it') return says(`Heard: ${prompt}`);
        return results.length ? says('I know how.') : calls('load_skill', { name: 'releasing' });
      },
      {
        files: {
          'AGENTS.md': 'Answer in rhymes.\n',
          'deep/AGENTS.md': 'Dig.\n',
          '.agents/skills/releasing/SKILL.md':
            '---\nname: releasing\ndescription: How to make a release.\n---\nTag it, then push the tag.\n',
          '.fairlead/commands/review.md':
            '---\ndescription: Review a file\nargument-hint: <file>\n---\nReview $ARGUMENTS and nothing else. Price: $$1.\n',
          '.fairlead/commands/broken.md': '---\n: [\n---\nx',
        },
      },
    );
    writeFiles(path.dirname(environment.cwd), {
      'AGENTS.md': 'Be kind.\n',
      'config/fairlead/commands/mine.md': 'Say hello to $1.\n',
    });
    const prompt = await openPrompt(t, environment);
    const greeting = await prompt.waitFor(/· Skills: releasing/);
    assert.match(greeting, /· Instructions loaded: \S+\/AGENTS\.md,\s+\S+\/work\/AGENTS\.md/);
    assert.match(greeting, /! \S+broken\.md: /, 'skipped files are reported');

    await prompt.type('/rev');
    await prompt.waitFor(/→ \/review +Review a file/);
    await prompt.keys('Tab');
    await prompt.type('src/a.ts');
    await prompt.keys('Enter');
    await prompt.waitFor(/^Heard: Review src\/a\.ts and nothing else\. Price: \$1\.$/m);
    await prompt.enterAndWait('/mine you', /^Heard: Say hello to you\.$/m);
    await prompt.enterAndWait('/help', /^\/mine +Say hello to \$1\.\n\/review <file> +Review a file$/m);
    const [system] = getSentRequests(environment.server)[0]?.messages ?? [];
    assert.match(system?.text ?? '', /Be kind\.[^]*Answer in rhymes\.[^]*releasing: How to make a release\./);
    assert.doesNotMatch(system?.text ?? '', /push the tag/, 'a skill is not sent before it is needed');

    await prompt.enterAndWait('ship it', /^✓ load_skill releasing [^]*^I know how\.$/m);
    assert.match(
      getSentRequests(environment.server).at(-1)?.messages.at(-1)?.text ?? '',
      /Tag it, then push the tag\./,
    );
    await prompt.enterAndWait('/reviw', /! There is no command \/reviw; did you mean \/review\?/);
    await prompt.enterAndWait(
      '/cwd deep',
      /· The working directory is \S+\/deep\n· Instructions loaded: [^]*\/deep\/AGENTS\.md/,
    );
  },
);

test(
  '[J65, J66, J73] /promptfile sends a file of the prompts directory, by relative path and with completion; no file outside it',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ prompt }) => says(`Heard: ${prompt}`), {
      files: { 'here.md': 'From the folder.' },
    });
    const prompt = await openPrompt(t, environment);
    const shipped = listShippedPrompts();
    assert.ok(shipped.length > 0 && shipped.length <= 7, 'the list shows them all');
    await prompt.enterAndWait('/promptfile', new RegExp(`Which prompt\\?\\n>\\s*\\n→ ${shipped.join('\\n +')}\\n`));
    await waitUntilArmed();
    await prompt.keys('Escape');
    await prompt.waitFor(/· Nothing was sent\./);
    writeFiles(environment.data, {
      'prompts/daily/standup.md': 'What did I do?\n',
      'prompts/plan.md': 'Make a plan.\n',
    });
    await prompt.type('/promptfile st');
    await prompt.waitFor(/→ daily\/standup\.md/);
    await prompt.keys('Tab');
    await prompt.waitFor(/^> \/promptfile daily\/standup\.md *$/m);
    await prompt.keys('Enter');
    await prompt.waitFor(/^> What did I do\?[^]*^Heard: What did I do\?/m);
    await prompt.enterAndWait('/promptfile', /Which prompt\?\n>\s*\n→ [^]*^ +daily\/standup\.md\n[^]*^ +plan\.md\n/m);
    await prompt.type('plan');
    await waitUntilArmed();
    await prompt.keys('Enter');
    await prompt.waitFor(/^Heard: Make a plan\./m);
    await prompt.enterAndWait(
      '/promptfile ../../../work/here.md',
      /✗ The prompt "\.\.\/[^"]+" is not in \S+\/prompts\./,
    );
    await prompt.enterAndWait('/promptfile here.md', /✗ The prompt "here\.md" /);
    await prompt.enterAndWait('/quit', /^exit code 0$/m);

    const flagged = await openPrompt(t, environment, ['--model', 'alpha', '--interactive', '--prompt-file', 'here.md']);
    await flagged.waitFor(/^Heard: From the folder\.$/m);
  },
);
