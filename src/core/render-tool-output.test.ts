// Renderers: another text for an output, without changing the tool.
import assert from 'node:assert/strict';
import test from 'node:test';
import { replyWithCalls, replyWithText, createCoreFixture } from '../../test/support/core-fixture.ts';
import { toolOutput } from './tool-result.ts';
import type { Renderer, Tool } from './ports.ts';

const weather: Tool = {
  name: 'weather',
  description: 'Tells the weather.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => toolOutput({ text: 'It is 21 degrees.', data: { degrees: 21 } }),
};

const shownBy = async (...renderers: readonly Renderer[]): Promise<string> => {
  const fixture = await createCoreFixture({
    replies: [replyWithCalls('weather'), replyWithText('Warm.')],
    tools: [weather],
    renderers,
  });
  await fixture.run();
  const [ended] = fixture.eventsOfType('tool-ended');
  assert.deepEqual(ended?.data, { degrees: 21 }, 'the data is unchanged');
  return ended.text;
};

test('[M8, M10, M38] one output has several renderings: the first renderer that returns text is used', async () => {
  assert.equal(await shownBy(), 'It is 21 degrees.');
  assert.equal(
    await shownBy(({ data }) => `<weather>${JSON.stringify(data)}</weather>`),
    '<weather>{"degrees":21}</weather>',
  );
  assert.equal(
    await shownBy(
      (_, { tool }) => (tool === 'other' ? 'no' : undefined),
      () => 'second',
    ),
    'second',
  );
  const failing: Renderer = () => {
    throw new Error('no');
  };
  assert.equal(await shownBy(failing), 'It is 21 degrees.', 'a failing renderer leaves the output unchanged');
});
