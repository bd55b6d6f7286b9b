// Tests compaction, its diff and its undo, and exports, on a long conversation in the terminal.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, says } from '../src/testing/index.ts';
import { createPromptEnvironment, openPrompt, getSentRequests } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

const lookupCount = 14;

test(
  '[P47, P51] /compact shortens a conversation and shows the changes, keeps the user’s messages, and /compact undo reverts it',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(
      t,
      ({ body, prompt, results }) => {
        if (JSON.stringify(body).includes('keep the notes of an agent'))
          return says('Done: looked often.\nOpen: nothing.');
        return prompt.startsWith('Never') && results.length < lookupCount
          ? calls('read_file', { path: `big-${results.length}.txt` })
          : says(`Heard: ${prompt}`);
      },
      {
        files: Object.fromEntries(
          Array.from({ length: lookupCount }, (_, i) => [`big-${i}.txt`, 'lorem ipsum dolor\n'.repeat(40)]),
        ),
        models: [{ id: 'alpha', tools: true, context: 32_000 }],
      },
    );
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha'], { rows: 60 });
    await prompt.enterAndWait('/compact', /✗ The conversation was not compacted: [^]*Nothing was changed\./);
    await prompt.enterAndWait('/compact diff', /· This conversation was not compacted\./);
    await prompt.enterAndWait('Never touch main.', /^Heard: Never touch main\.$/m);
    await prompt.enterAndWait('and now?', /^Heard: and now\?$/m);
    const before = getSentRequests(environment.server).at(-1)?.messages ?? [];

    await prompt.enterAndWait(
      '/compact the file',
      /· The conversation was compacted: [^\n]*\n\nCompaction: kept[^\n]*\nbefore: 32 messages, about [\d,]+ tokens\nafter: 8 messages/,
    );
    const told = await prompt.waitFor(/The next request has about (\d+) tokens/);
    const estimate = Number(/The next request has about (\d+) tokens/.exec(told)?.[1]);
    await prompt.waitFor(new RegExp(`^alpha .*of 32k \\(${(estimate / 1000).toFixed(1)}k\\)`, 'm'));
    const [, beforeTokens = '', afterTokens = ''] =
      /before: 32 messages, about ([\d,]+) tokens\nafter: 8 messages, about ([\d,]+) tokens/.exec(told) ?? [];
    const [shorter, longer] = [afterTokens, beforeTokens].map((figure) => Number(figure.replaceAll(',', '')));
    assert.ok(
      Number(shorter) < Number(longer) && Number(shorter) < estimate,
      'the estimate has the prompt and the tools too',
    );
    const asked = getSentRequests(environment.server).at(-1)?.messages ?? [];
    assert.match(
      asked.map(({ text }) => text).join('\n'),
      /the file/,
      'the summary request has the instructions of the user',
    );
    await prompt.enterAndWait('what was that rule?', /^Heard: what was that rule\?$/m);
    const after = getSentRequests(environment.server).at(-1)?.messages ?? [];
    assert.ok(after.length < before.length, `${after.length} messages instead of ${before.length}`);
    assert.match(
      after.map(({ text }) => text).join('\n'),
      /Never touch main\.[^]*Done: looked often\.[^]*what was that rule\?/,
    );

    const all = await prompt.enterAndWait('/session show-messages', /── User ──\nwhat was that rule\?/);
    assert.equal(all.match(/^── read_file ──$/gm)?.length, lookupCount, 'the user can still see all messages');
    await prompt.enterAndWait('/compact diff', /(?:^Compaction: kept[^\n]*\nbefore: 32 [^]*){2}/m);
    await prompt.enterAndWait(
      '/compact undo',
      /· The conversation is as it was before the compaction\. The messages since then are on a\s+separate\s+branch/,
    );
    await prompt.enterAndWait('and again?', /^Heard: and again\?$/m);
    assert.deepEqual(getSentRequests(environment.server).at(-1)?.messages.slice(0, before.length), before, 'unchanged');
    await prompt.enterAndWait('/tree', /^1 +"Never touch main\."[^]*^└─ 2 +returned[^]*"and again\?"[^]*← here/m);
  },
);

test('/export writes Markdown, HTML or JSON to the given file and does not overwrite a file', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, ({ prompt }) => says(`Heard **${prompt}**`), {
    files: { 'taken.md': 'mine' },
  });
  const prompt = await openPrompt(t, environment, [
    '--refresh-models',
    '--model',
    'alpha',
    '--session-name',
    'my talk: 1',
  ]);
  const written = (name: string): string => readFileSync(path.join(environment.cwd, name), 'utf8');
  await prompt.enterAndWait('/export', /! There are no messages to export yet\./);
  await prompt.enterAndWait('<b>hello</b>', /^Heard <b>hello<\/b>$/m);
  await prompt.enterAndWait('/export', /· Written to \S+\/work\/my-talk-1\.md/);
  assert.match(written('my-talk-1.md'), /^# my talk: 1\n[^]*<b>hello<\/b>[^]*Heard \*\*<b>hello/);
  await prompt.type('/export ht');
  await prompt.waitFor(/→ html/);
  await prompt.keys('Tab');
  await prompt.type('page.htm');
  await prompt.keys('Enter');
  await prompt.waitFor(/· Written to \S+\/page\.htm/);
  assert.match(written('page.htm'), /^<!doctype html>[^]*&#60;b&#62;hello[^]*Heard <strong>&#60;b&#62;hello/i);
  await prompt.enterAndWait('/export pdf x', /Cannot export as "pdf": the formats are md, html, json\./);
  await prompt.enterAndWait('/export all.json', /· Written to \S+\/all\.json/);
  assert.equal(JSON.parse(written('all.json')).messages.length, 2);
  await prompt.enterAndWait('/export taken.md', /! \S+\/taken\.md already exists\. Choose another name\./);
  assert.equal(written('taken.md'), 'mine');
});
