// Behaviour 1: one tool output with several renderings, selected without a change to the tool.
import assert from 'node:assert/strict';
import { tool, Harness, toolOutput } from 'fairlead';
import { createOutputBundle, renderable, compileRuleSet } from 'fairlead/rules';
import { memoryLog } from 'fairlead/stores';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const context = renderable(
  'CodeContext',
  {},
  renderable('File', { path: 'a.ts' }, renderable('Function', { name: 'one', language: 'ts' }, 'const one = () => 1;')),
);
const outline = tool({
  name: 'outline',
  description: 'Shows what is in the code.',
  effect: 'read',
  inputSchema: { type: 'object' },
  execute: () =>
    toolOutput({ text: 'one file', data: context, notes: [{ key: 'imports', text: 'Imports stand at the top.' }] }),
});
const { renderers } = compileRuleSet({
  name: 'rendering',
  renderers: [
    { as: 'xml', models: ['claude-*'] },
    { as: 'markdown', tools: ['outline'] },
  ],
});

const log = memoryLog();
const provider = scriptedProvider([calls('outline', {}), says('There is one function.')]);
const harness = new Harness({ provider, system: '', tools: [outline], renderers, runDir: null });
await harness.open(log);
await harness.ask('What is there?');

const ended = log.events.find((event) => event.type === 'tool-ended');
assert.equal(ended?.text.split('\n')[0], '# CodeContext');
assert.deepEqual(ended?.data, context);

// The same output for another program: a version, the data, every rendering, the notes.
const bundle = createOutputBundle(toolOutput({ text: 'one file', data: context }));
assert.equal(bundle.protocol, 1);
assert.match(bundle.renderings.xml ?? '', /<File path="a.ts">/);
