// Results of MCP servers as the model gets them: images for models with vision, and calls without properties that have a default.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Json, JsonObject, Provider } from '../../core/index.ts';
import { createPng } from '../../../test/support/png.ts';
import { createInputValidator } from './definition.ts';
import { mcpResultOutput } from './result.ts';

const createProvider = (supportsImages?: boolean): Provider => ({
  family: 'test',
  model: 'test-model',
  ...(supportsImages === undefined ? {} : { supportsImages }),
  stream: () => assert.fail('not called'),
});

const data = createPng(3, 2).toString('base64');
const imageBlock = { type: 'image', data, mimeType: 'image/jpeg' } as const;
const resource = { uri: 'x:y', mimeType: 'image/png', blob: data };
const resourceBlock = { type: 'resource', resource } as const;
const toOutput = (content: CallToolResult['content'], provider?: Provider): ReturnType<typeof mcpResultOutput> =>
  mcpResultOutput('shots', { content }, provider);

test('[P63] images of an MCP server are shown to a model with vision, by their content and not by their declared type', () => {
  const { text, files } = toOutput([imageBlock, resourceBlock, { type: 'text', text: 'two' }], createProvider(true));
  assert.deepEqual(
    files?.map(({ mediaType, data: shown, name }) => [mediaType, shown === data, name]),
    [
      ['image/png', true, 'image 1 of the MCP server shots'],
      ['image/png', true, 'image 2 of the MCP server shots'],
    ],
  );
  assert.match(text, /image\/png, 3×2 pixels, \d+ bytes, shown as image 1\]\n\[.*shown as image 2\]\ntwo/);
});

test('[P63] a model without vision reads why an image is not shown, and so does one that gets too many', () => {
  assert.match(toOutput([imageBlock], createProvider(false)).text, /not shown: test-model does not support images\]/);
  for (const unknown of [createProvider(), undefined])
    assert.match(toOutput([imageBlock], unknown).text, /not shown: it is not known whether/);
  const many = toOutput(
    Array.from({ length: 6 }, () => imageBlock),
    createProvider(true),
  );
  assert.deepEqual([many.files?.length, many.text.match(/only 4 are shown at once/g)?.length], [4, 2]);
  const broken = { ...imageBlock, data: Buffer.from('no image').toString('base64') };
  const cut = { ...imageBlock, data: createPng(3, 2).subarray(0, 45).toString('base64') };
  const damaged = toOutput([broken, cut], createProvider(true));
  assert.equal(damaged.files, undefined);
  assert.match(damaged.text, /\[image, image\/jpeg, 9 bytes\]\n\[.*not shown: it is damaged or truncated\]/);
});

test('[P63] a required property with a default may be left out, at any depth; its type still counts', () => {
  const page = { type: 'object', properties: { size: { default: 1 }, name: {} }, required: ['size', 'name'] };
  const check = createInputValidator({
    type: 'object',
    properties: { scale: { enum: ['css', 'device'], default: 'css' }, page, other: { type: 'string' } },
    required: ['scale', 'page', 'other'],
  });
  assert.equal(check({ other: 'x', page: { name: 'a' } }), undefined);
  assert.match(check({ page: { name: 'a' } }) ?? '', /required property "other"/);
  assert.match(check({ other: 'x', page: {} }) ?? '', /required property "name"/);
  assert.match(check({ other: 'x', page: { name: 'a' }, scale: 'huge' }) ?? '', /enum|scale/);
});

test('[P63] an input that the schema of a server allows is valid, whatever has a default', () => {
  const path = { type: 'string', default: '.' };
  const accepts = (schema: JsonObject, input: Json): void =>
    assert.equal(createInputValidator({ type: 'object', ...schema })(input), undefined, JSON.stringify(schema));
  const branches = ['path', 'url'].map((name) => ({ required: [name], properties: { [name]: path } }));
  accepts({ oneOf: branches }, { path: 'x' });
  accepts({ not: { required: ['path'], properties: { path } } }, { url: 'x' });
  accepts({ if: branches[0] ?? {}, else: { required: ['url'] } }, { url: 'x' });
  accepts({ properties: { like: { const: branches[0] ?? {} } } }, { like: branches[0] ?? {} });
});
