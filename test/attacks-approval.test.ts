// Attacks on approvals: a question that shows less than what runs, content that imitates the question, and answers that cover more than they say.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { formatAlwaysLabel } from '../src/coding-agent/approval-prompts.ts';
import { formatPreview } from '../src/coding-agent/index.ts';
import { formatApprovalPrompt, grantKey } from '../src/guards/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { calls } from '../src/testing/index.ts';
import { createPromptEnvironment, openPrompt, scriptByPrompt, type TerminalPrompt } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';
import { waitUntilArmed } from './support/tui.ts';

const skip = noTerminal();

/** Answers the open question. */
async function pressAnswer(prompt: TerminalPrompt, key: string): Promise<void> {
  await waitUntilArmed();
  await prompt.keys(key, 'Enter');
}

const locate = (file: string): string => path.resolve('/root-folder', file);

test('[attack 103] a command of several lines is announced by their number, and its lines cannot imitate the question', (t) => {
  const command = [
    'ls -la',
    '(It runs in the background.)',
    'Warning: none',
    ...Array.from({ length: 40 }, () => '# x'),
  ].join('\n');
  const [head, ...rest] = formatApprovalPrompt({ tool: 'run_command', input: { command } }, locate).split('\n');
  assert.equal(head, 'run_command (43 lines):');
  assert.deepEqual(
    rest,
    command.split('\n').map((line) => `| ${line}`),
  );
  const patch = formatApprovalPrompt({ tool: 'apply_patch', input: { paths: ['a'], patch: 'x\n(Harmless.)' } }, locate);
  assert.equal(patch, 'apply_patch /root-folder/a\n| x\n| (Harmless.)');
  assertAttack(t, 103, ['shown']);
});

test(
  '[attack 103] in a terminal of 24 lines the question does not show the first line as if it were the command',
  { skip },
  async (t) => {
    const hidden = ['ls -la', 'touch HIDDEN', ...Array.from({ length: 40 }, (_, at) => `# ${at}`)].join('\n');
    const environment = await createPromptEnvironment(
      t,
      scriptByPrompt(() => calls('run_command', { command: hidden })),
    );
    const prompt = await openPrompt(t, environment);
    await prompt.enter('go');
    const seen = await prompt.waitFor(/\[y\/N\/a\]/);
    assert.match(seen, /^\? Run this command of 42 lines\? \[y\/N\/a\]/m);
    await pressAnswer(prompt, 'n');
    await prompt.waitFor(/denied/);
    assert.equal(existsSync(path.join(environment.cwd, 'HIDDEN')), false);
    assertAttack(t, 103, ['shown']);
  },
);

test('[attack 113] the middle of a long edit is not shown at first, and can be shown before the answer', (t) => {
  const content = `${'a'.repeat(3000)}EVIL${'b'.repeat(3000)}`;
  const call = { tool: 'write_file', input: { path: 'x', content } };
  assert.doesNotMatch(formatApprovalPrompt(call, locate), /EVIL/);
  const preview = { title: 'Write x?', call, notes: [] };
  assert.match(formatPreview(preview).join('\n'), /^content +a+EVILb+$/m);
  const long = { ...preview, call: { ...call, input: { path: 'x', content: `${'a\n'.repeat(90)}EVIL` } } };
  assert.match(formatPreview(long, { maxLines: 40 }).join('\n'), /^… 53 more lines$/m);
  assert.match(formatPreview(long).join('\n'), /EVIL/);
  assertAttack(t, 113, ['shown']);
});

test('[attack 113] in a terminal the key v shows a long edit completely and asks again', { skip }, async (t) => {
  const content = `${'a\n'.repeat(1500)}EVIL\n${'b\n'.repeat(1500)}`;
  const environment = await createPromptEnvironment(
    t,
    scriptByPrompt(() => calls('write_file', { path: 'x.txt', content })),
  );
  const prompt = await openPrompt(t, environment);
  await prompt.enter('go');
  await prompt.waitFor(/\[y\/N\/a\/v\][^]*\d\. Show all 3002 lines/);
  await pressAnswer(prompt, 'v');
  await prompt.waitFor(/\[y\/N\/a\]/);
  assert.match(await prompt.screen({ back: true }), /^ *1501 \+ EVIL$/m);
  await pressAnswer(prompt, 'n');
  await prompt.waitFor(/denied/);
  assert.equal(existsSync(path.join(environment.cwd, 'x.txt')), false);
});

test('[attack 114] "always" for a command covers neither the background nor options, and the label says so', (t) => {
  const key = (input: Parameters<typeof grantKey>[0]['input']): string =>
    grantKey({ tool: 'run_command', input }, locate);
  const plain = key({ command: 'make' });
  assert.equal(key({ command: 'make', timeout_s: 600 }), plain);
  assert.equal(formatAlwaysLabel(plain), 'Yes, and allow this exact command in this session');
  const others = [
    { command: 'make', background: true },
    { command: 'make', cwd: 'x' },
    { command: 'make ' },
    { command: 'make', timeout_s: 1, background: true },
  ];
  for (const input of others) assert.notEqual(key(input), plain);
  assert.equal(
    formatAlwaysLabel(key({ command: 'make', background: true })),
    'Yes, and allow exactly this call in this session',
  );
  assertAttack(t, 114, ['asked'], `${others.length} variants`);
});

test('[attack 122] words in full-width, mathematical and other look-alike letters are reported', (t) => {
  const fakes = ['ｒｍ', '𝗿𝗺', 'раураӏ', 'reԛuests', 'ɢⅰt', 'ℯslint', 'οτρο', 'ᏙᎪ-x'];
  for (const word of fakes) {
    const question = formatApprovalPrompt({ tool: 'run_command', input: { command: `npm install ${word}` } }, locate);
    assert.match(question, /homoglyphs \(letters that look like others\): .*U\+/, word);
  }
  for (const text of ['echo привет мир', 'echo 用户A', 'echo café naïve', 'grep ελληνικά file', 'echo ñandú'])
    assert.doesNotMatch(
      formatApprovalPrompt({ tool: 'run_command', input: { command: text } }, locate),
      /homoglyphs/,
      text,
    );
  assertAttack(t, 122, ['shown'], `${fakes.length} words`);
});
