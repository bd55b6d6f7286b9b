// Tests files and images in prompts: in the terminal, from the clipboard, and in a one-shot run.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { says } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';
import { createPng } from './support/png.ts';
import { createPromptEnvironment, openPrompt, writeFiles } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();
const models = [{ id: 'alpha', tools: true, images: true }];
const args = ['--refresh-models', '--model', 'alpha'];
const png = createPng(3, 2);

type Part = { readonly type: string; readonly text?: string; readonly image_url?: { readonly url: string } };

test(
  'a prompt with @file sends the contents and the image; the transcript shows their names, also after a resume',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, () => says('Seen.'), {
      models,
      files: { 'a.txt': 'the contents\n' },
    });
    writeFileSync(path.join(environment.cwd, 'pic.png'), png);
    const prompt = await openPrompt(t, environment, [...args, '-n', 'kept']);
    await prompt.enterAndWait('see @a.txt and @pic.png ', /^Seen\.$/m);
    const screen = await prompt.screen();
    assert.match(screen, /^> see @a\.txt and @pic\.png\n {2}\[attached: a\.txt\]\n {2}\[attached: pic\.png\]$/m);
    assert.doesNotMatch(screen, /the contents|outside-text/);
    const { body } = environment.server.requests.at(-1) ?? {};
    const { messages } = body as unknown as { readonly messages: readonly { readonly content: readonly Part[] }[] };
    const parts = messages.at(-1)?.content ?? [];
    assert.match(parts.map(({ text }) => text ?? '').join('\n'), /<outside-text from="a\.txt">\nthe contents/);
    assert.equal(parts.at(-1)?.image_url?.url, `data:image/png;base64,${png.toString('base64')}`);
    await prompt.enterAndWait('/exit', /^exit code 0$/m);
    const resumed = await openPrompt(t, environment, ['--resume', 'kept']);
    await resumed.waitFor(/\[attached: a\.txt\]\n {2}\[attached: pic\.png\]/);
  },
);

test('Ctrl+V attaches the image of the clipboard, or says what is missing', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, () => says('Seen.'), { models });
  const without = await openPrompt(t, environment);
  await without.keys('C-v');
  await without.waitFor(/! To paste an image, install wl-paste, xclip or pngpaste/);
  await without.enterAndWait('/exit', /^exit code 0$/m);
  // A clipboard program as a desktop has it, in a folder outside the working directory.
  const programs = path.join(environment.cwd, '..', 'programs');
  writeFiles(programs, { 'wl-paste': `#!/bin/sh\necho ${png.toString('base64')} | base64 -d\n` });
  chmodSync(path.join(programs, 'wl-paste'), 0o755);
  // Set by env, because tmux removes the variables of the desktop.
  const wrap = ['env', 'WAYLAND_DISPLAY=wayland-0', `PATH=${programs}:${process.env['PATH']}`];
  const prompt = await openPrompt(t, environment, args, { wrap });
  await prompt.type('look ');
  await prompt.keys('C-v');
  await prompt.waitFor(/^> look @\S+\/pasted\//m);
  await prompt.keys('Enter');
  await prompt.waitFor(/\[attached: [^]*\.png\][^]*^Seen\.$/m);
});

test('one-shot: @file in the prompt is attached, @file on standard input is data, and a model without images is named', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  writeFiles(program.cwd, { 'a.txt': 'the contents\n' });
  const sent = (): string => JSON.stringify(program.modelRequests().at(-1)?.body);
  await program.run(['-p', 'see @a.txt']);
  assert.match(sent(), /<outside-text from=[^>]*a\.txt/);
  await program.run(['-p', 'see this'], { input: '@a.txt' });
  assert.doesNotMatch(sent(), /the contents/);
});
