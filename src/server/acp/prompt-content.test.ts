// Tests of the conversion of ACP prompt content to messages.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parsePromptContent, type PromptContext } from './prompt-content.ts';

const reading: PromptContext = { cwd: '/projects/one', images: true, commands: [] };

test('images are sent only to a model that supports images, whether they arrive as images or as resources', () => {
  const picture = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const;
  const attached = {
    type: 'resource',
    resource: { uri: 'file:///projects/a.png', mimeType: 'image/png', blob: 'BBBB' },
  } as const;
  assert.deepEqual(parsePromptContent([picture, attached], reading), [
    { type: 'file', mediaType: 'image/png', data: 'AAAA' },
    { type: 'file', mediaType: 'image/png', data: 'BBBB' },
  ]);
  for (const block of [picture, attached])
    assert.throws(() => parsePromptContent([block], { ...reading, images: false }), /cannot see images/);
  const archive = { uri: 'file:///a.zip', mimeType: 'application/zip', blob: 'CCCC' };
  assert.throws(
    () => parsePromptContent([{ type: 'resource', resource: archive }], reading),
    /cannot hold application\/zip/,
  );
});

test('links are relative to the working folder, and full URLs if they are outside it', () => {
  const link = (uri: string): string => {
    const [part] = parsePromptContent([{ type: 'resource_link', name: 'it\u202e', uri }], reading);
    return part?.type === 'text' ? part.text : '';
  };
  assert.equal(link('file:///projects/one/docs/a%20b.md'), '[it<U+202E>](docs/a b.md)');
  assert.equal(link('file:///projects/oneself/a.md'), '[it<U+202E>](/projects/oneself/a.md)');
  assert.equal(link('https://example.com/x'), '[it<U+202E>](https://example.com/x)');
  assert.equal(link('file://other-host/a'), '[it<U+202E>](file://other-host/a)');
});
