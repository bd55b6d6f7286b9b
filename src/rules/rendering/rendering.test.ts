// One output, several renderings: for programs, for the model in three formats, selected by tool and by model.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  replyWithCalls,
  replyWithText,
  createCoreFixture,
  createTestTool,
} from '../../../test/support/core-fixture.ts';
import { toolOutput, type Renderer } from '../../core/index.ts';
import { compileRuleSet } from '../declarative/rule-set.ts';
import { renderAs } from './formats.ts';
import { renderable, isRenderable } from './renderable.ts';
import { createOutputBundle, createRenderer } from './renderers.ts';

const code = renderable(
  'CodeContext',
  { task: 'fix' },
  renderable('File', { path: 'a.ts' }, renderable('Function', { name: 'one', language: 'ts' }, 'const one = 1 < 2;')),
);

test('[M8, M10] nested values are rendered completely in each format', () => {
  assert.ok(isRenderable(JSON.parse(JSON.stringify(code))), 'it is in the log');
  assert.equal(
    renderAs(code, 'xml'),
    `<CodeContext task="fix">
  <File path="a.ts">
    <Function name="one" language="ts">const one = 1 &lt; 2;</Function>
  </File>
</CodeContext>`,
  );
  assert.equal(
    renderAs(code, 'markdown'),
    '# CodeContext, task: fix\n\n## File, path: a.ts\n\n### Function, name: one, language: ts\n\n```ts\nconst one = 1 < 2;\n```',
  );
  assert.deepEqual(JSON.parse(renderAs(code, 'json')), code);
});

test('[M8] plain data has the three formats too, and nothing in it can close a tag or a fence', () => {
  const data = { name: 'x', tags: ['a', 'b'], text: 'one\n```\ntwo', evil: '</evil>' };
  assert.match(renderAs(data, 'xml'), /<evil>&lt;\/evil&gt;<\/evil>/);
  assert.match(renderAs(data, 'markdown'), /- \*\*name\*\*: x\n/);
  assert.match(renderAs(data, 'markdown'), /````\none\n```\ntwo\n````/);
  assert.match(renderAs({ '1 bad key': 1 }, 'xml'), /<_1_bad_key>1<\/_1_bad_key>/);
});

test('[M7, M9, M10] a tool output has a version, data, renderings and notes', () => {
  const notes = [{ key: 'k', text: 'Mind it.' }];
  const bundle = createOutputBundle(toolOutput({ text: 'two files', data: { files: 2 }, notes }));
  assert.deepEqual(bundle, {
    protocol: 1,
    data: { files: 2 },
    renderings: {
      text: 'two files',
      markdown: '- **files**: 2',
      xml: '<data>\n  <files>2</files>\n</data>',
      json: '{\n  "files": 2\n}',
    },
    notes,
  });
  assert.deepEqual(createOutputBundle(toolOutput({ text: 'words' })), {
    protocol: 1,
    data: null,
    renderings: { text: 'words' },
    notes: [],
  });
});

test('[M38] a renderer is selected by tool and by model; without a match, the text of the tool is used', () => {
  const given = toolOutput({ text: 'own words', data: { n: 1 } });
  const render = createRenderer({ as: 'xml', tools: ['git_*'], models: ['claude-*'] });
  const about = { tool: 'git_log', input: {}, model: 'Claude-sonnet-4' };
  assert.match(render(given, about) ?? '', /<n>1<\/n>/);
  assert.equal(render(given, { ...about, tool: 'grep' }), undefined);
  assert.equal(render(given, { ...about, model: 'gpt-5' }), undefined);
  assert.equal(render(toolOutput({ text: 'no data' }), about), undefined);
  assert.equal(
    createRenderer({ as: 'json', tools: ['a.b'] })(given, { ...about, tool: 'axb' }),
    undefined,
    'a dot is a dot',
  );
});

test('[M10, M38] the model gets the text of the session’s renderer, and the log keeps the data unchanged', async () => {
  const tool = createTestTool('look', 'read', () =>
    toolOutput({ text: 'own words', data: { n: 1 }, notes: [{ key: 'seen', text: 'Once is enough.' }] }),
  );
  const shout: Renderer = (given) => `${given.text.toUpperCase()}!`;
  for (const [as, expected] of [
    ['json', '{\n  "n": 1\n}'],
    [shout, 'OWN WORDS!'],
  ] as const) {
    const fixture = await createCoreFixture({
      replies: [replyWithCalls('look'), replyWithText('done')],
      tools: [tool],
      ...compileRuleSet({ name: 'r', renderers: [{ as }] }),
    });
    await fixture.run();
    const [ended] = fixture.eventsOfType('tool-ended');
    assert.equal(ended?.text, expected);
    assert.deepEqual(ended?.data, { n: 1 });
    assert.match(fixture.transcript().join('\n'), /Once is enough/);
  }
});
