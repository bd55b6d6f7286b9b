// Texts from outside that are made to be slow: each parser takes linear time, or refuses the text. The time limit of a test is its only bound.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseFrontmatter } from '../src/agent/project-files/frontmatter.ts';
import { createEscapeStream } from '../src/cli/print-mode/escape-stream.ts';
import { createMarkdownChunks } from '../src/cli/tui/markdown-chunks.ts';
import { findPrivacyLabel } from '../src/coding-agent/private-sessions.ts';
import { normalizeFileName, stripControlSequences, trimEndChars, yamlBoundError } from '../src/core/index.ts';
import { findAnswerErrors } from '../src/evals/scorers.ts';
import { deceptiveTextWarnings } from '../src/guards/deceptive-text.ts';
import { parseHooks } from '../src/guards/hooks/hook.ts';
import { taskFeatures } from '../src/providers/routing/task-features.ts';
import { parseIgnoreFile } from '../src/core/ignore-file.ts';
import { completesInTime } from '../src/tools/index.ts';
import { parseNotebook } from '../src/tools/notebook.ts';
import { parseFilePatches } from '../src/tools/patch/parse.ts';
import { toMarkdown, type PageNode } from '../src/tools/web/markdown.ts';
import { classifyProviderError, parseErrorBody, parseRetryDelay } from '../src/wire/index.ts';

const size = 1_000_000;
const fill = (unit: string, chars = size): string => unit.repeat(Math.ceil(chars / unit.length));

test('texts with long runs of one character are trimmed in linear time', { timeout: 60_000 }, () => {
  assert.equal(trimEndChars('a..', '.'), 'a');
  assert.equal(normalizeFileName(`${fill('. ')}a. .`), `${fill('. ')}a`);
  assert.deepEqual(findAnswerErrors(`${fill(' !')}x."`, { equals: [`${fill(' !')}X`] }), []);
  assert.equal(
    findPrivacyLabel({ private: false }, { private: false }, { text: `${fill('\n')}private` }),
    undefined,
    'a text without the line',
  );
  assert.ok(findPrivacyLabel({ private: false }, { private: false }, { text: `a\n  private: yes \r\nb` }));
  const stream = createEscapeStream();
  assert.ok((stream.push(`${fill('\r')}a`) + stream.end()).endsWith('a'));
});

test('terminal control sequences without an end are removed in linear time', { timeout: 60_000 }, () => {
  assert.equal(stripControlSequences('a\x1b[31;1mb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b(Be\x9b2Kf'), 'abcdef');
  for (const unit of ['\x1b', '\x1b]', '\x1b]a', '\x1b[', '\x1b[1;', '\x9b', '\x1b(', '\x1bP', '\x1b\x1b]]'])
    assert.ok(!stripControlSequences(fill(unit)).includes('\x1b'), JSON.stringify(unit));
  const outputs = [{ output_type: 'stream', text: fill('\x1b]') }];
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`image/${i}`, 'aa']));
  const cells = [{ outputs }, { outputs: [{ output_type: 'display_data', data }] }];
  assert.equal(parseNotebook(JSON.stringify({ cells }))?.images.length, 100_000);
});

test('YAML with deep nesting on one line is refused before it is parsed', { timeout: 60_000 }, async () => {
  for (const unit of ['? ', '- ', '&a ', '!a ', '? - ', '{? ']) {
    const parsed = await parseFrontmatter(`---\n${fill(unit, 16_000)}\n---\nbody`);
    assert.match('why' in parsed ? parsed.why : '', /^has (frontmatter that|more than)/, unit);
  }
  assert.match(yamlBoundError(fill('?\n')) ?? '', /start with "\?"/);
  assert.equal(yamlBoundError('a:\n  - - b\n  - ? c\n    : !t &x d\ntext: Is it so ? Yes.'), undefined);
  const spaces = await parseFrontmatter(`---\na: b: c${' '.repeat(16_000)}x\n---\n`);
  assert.ok('fields' in spaces);
});

test('patches and ignore files with many entries are parsed in linear time', { timeout: 120_000 }, () => {
  const hunks = parseFilePatches(`--- a/x\n+++ b/x\n${fill('@@ -1,9 +1,9 @@\n a\n', 1_000_000)}`);
  assert.ok((hunks[0]?.patch.hunks.length ?? 0) > 40_000);
  const ignore = parseIgnoreFile(`${fill('[')}\na${fill(' ')}b\nc\\   \n${fill('*a*b\n')}`);
  assert.equal(ignore('c ', false), true);
  assert.equal(ignore('d', false), undefined);
});

test('messages and headers of a model server are classified in linear time', { timeout: 60_000 }, () => {
  for (const unit of ['prompt (', 'prompt', '(', ' ', 'input tokens '])
    assert.equal(classifyProviderError(400, parseErrorBody(fill(unit))).code, 'provider/bad-request');
  const headers = { [fill('ratelimit', 200_000)]: '1' };
  assert.equal(parseRetryDelay(headers, undefined, fill('retry in 1')), undefined);
});

test('the features of a prompt are found in linear time', { timeout: 120_000 }, () => {
  for (const unit of ['a', '\n', 'a-', 'a/', ' at ', '1']) taskFeatures(fill(unit, 500_000));
});

test('a matcher of a hook that does not end counts as a match', { timeout: 60_000 }, () => {
  const group = { matcher: '^(\\w+)+$', hooks: [{ command: 'true' }] };
  const { hooks } = parseHooks({ PreToolUse: [group] }, 'hooks.json', completesInTime);
  assert.equal(hooks[0]?.matches('run_command'), true);
  assert.equal(hooks[0]?.matches('!'), false);
  assert.equal(hooks[0]?.matches(`${'a'.repeat(100)}!`), true);
});

test('base64 and letters in a command are examined in linear time', { timeout: 60_000 }, () => {
  for (const unit of ['QUFB', 'QUFBQUFB ', 'base64 ', ' ', '='])
    deceptiveTextWarnings({ input: { command: `base64 -d ${fill(unit)}` } });
});

test('Markdown for the terminal is split into chunks of bounded length', { timeout: 60_000 }, () => {
  for (const unit of ['-', '- |', '`', 'a ', '\t', '~~~\n']) {
    const lines = `${fill(unit)}\n`;
    for (const text of [lines, `\`\`\`js\n${lines}`]) {
      const { closed } = createMarkdownChunks(text);
      assert.ok(Math.max(...closed.map((chunk) => chunk.text.length)) <= 20_000, JSON.stringify(unit));
    }
  }
});

test('a page is converted to Markdown in linear time', { timeout: 60_000 }, () => {
  const text = (content: string): PageNode => ({ nodeType: 3, textContent: content, childNodes: [] });
  const element = (localName: string, childNodes: readonly PageNode[] = []): PageNode => ({
    nodeType: 1,
    localName,
    textContent: childNodes.map((each) => each.textContent).join(''),
    childNodes,
  });
  const breaks = Array.from({ length: 100_000 }, () => [text(fill(' ', 10)), element('br')]).flat();
  const page = element('body', [element('p', breaks), element('pre', [text(`${fill('` ')}\n${fill('\n')}x`)])]);
  assert.match(toMarkdown(page, 'http://localhost/'), /x\n```$/);
});
