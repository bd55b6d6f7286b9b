// read_file for files other than text: images by their content, notebooks by their cells, and one sentence for the rest.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { errorMessage, type ToolOutput, type Provider, type ToolContext } from '../core/index.ts';
import { localWorkspace } from '../workspace/index.ts';
import { createPng } from '../../test/support/png.ts';
import { parseImage, unsupportedImageReason } from './image.ts';
import { readFile } from './read-file.ts';

type Read = (
  file: string,
  images?: boolean,
  range?: { readonly offset?: number; readonly limit?: number },
) => Promise<ToolOutput>;

/** Reads files with these contents, by default for a model with image support. */
function reader(t: TestContext, files: Readonly<Record<string, string | Buffer>>): Read {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-read-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(root, name), content);
  const tool = readFile(localWorkspace({ roots: [root] }));
  return async (file, images = true, range = {}) => {
    const provider = { family: 'f', model: 'm', supportsImages: images } as Provider;
    const context = { signal: new AbortController().signal, agent: { provider } } as ToolContext;
    const read = Promise.resolve(tool.execute({ path: file, ...range }, context));
    return (await read.catch((error: unknown) => ({ failed: true, text: errorMessage(error) }))) as ToolOutput;
  };
}

const png = createPng(4, 3);
const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([5, 0, 6, 0, 0, 0, 0]), Buffer.from([0x3b])]);
/** A segment to skip, then the frame with its size, then the end. */
const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080007000801011100ffd9', 'hex');
const webp = (kind: string, body: string): Buffer => {
  const rest = Buffer.concat([Buffer.from(`WEBP${kind}`), Buffer.alloc(4), Buffer.from(body, 'hex')]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(rest.length);
  return Buffer.concat([Buffer.from('RIFF'), size, rest]);
};

test('[P12] PNG, JPEG, GIF and WebP are recognized by their content, with their size in pixels', () => {
  const known: readonly (readonly [Buffer, string])[] = [
    [png, 'image/png 4×3'],
    [jpeg, 'image/jpeg 8×7'],
    [gif, 'image/gif 5×6'],
    [webp('VP8X', '00000000090000070000'), 'image/webp 10×8'],
    [webp('VP8L', '2f09c0010000'), 'image/webp 10×8'],
    [webp('VP8 ', '0000009d012a0a000800'), 'image/webp 10×8'],
  ];
  for (const [bytes, about] of known) {
    const image = parseImage(bytes);
    assert.equal(`${image?.mediaType} ${image?.width}×${image?.height}`, about);
    assert.equal(image && unsupportedImageReason(image, bytes.length), undefined, about);
  }
  assert.equal(parseImage(Buffer.from('not a image at all, whatever its name says')), undefined);
});

test('[P12] a truncated image is never shown, because a server would refuse the conversation', () => {
  for (const whole of [png, jpeg, gif, webp('VP8X', '00000000090000070000')])
    for (let end = 0; end < whole.length - 1; end++) {
      const image = parseImage(whole.subarray(0, end));
      if (image)
        assert.match(
          unsupportedImageReason(image, end) ?? '',
          /damaged or truncated/,
          `${image.mediaType} of ${end} bytes`,
        );
    }
});

test('[P12] an image is shown with a line about it, whatever its file name', async (t) => {
  const read = reader(t, { 'a.dat': png });
  const { text, files, data } = await read('a.dat');
  assert.equal(text, `a.dat: image/png, 4×3 pixels, ${png.length} bytes.`);
  assert.deepEqual(files, [{ type: 'file', mediaType: 'image/png', data: png.toString('base64'), name: 'a.dat' }]);
  assert.deepEqual(Object.keys(data as object), ['path', 'hash', 'mediaType', 'width', 'height']);
});

test('[P12] an image that is too large, damaged or not supported by the model gives one sentence, and nothing is shown', async (t) => {
  const read = reader(t, {
    'heavy.png': Buffer.concat([png.subarray(0, -12), Buffer.alloc(3_750_001), png.subarray(-12)]),
    'wide.png': createPng(8001, 1),
    'cut.png': png.subarray(0, 40),
    'a.png': png,
  });
  const sentences: Readonly<Record<string, RegExp>> = {
    'heavy.png': /not shown: it has 3\d+ bytes and at most 3750000 are shown; make a smaller copy/,
    'wide.png': /not shown: it has 8001×1 pixels and at most 8000 on a side/,
    'cut.png': /not shown: it is damaged or truncated\.$/,
  };
  for (const [file, says] of Object.entries(sentences)) {
    const { text, files, failed } = await read(file);
    assert.match(text, says);
    assert.deepEqual([files, failed], [undefined, true]);
  }
  const blind = await read('a.png', false);
  assert.match(
    blind.text,
    /^a\.png: image\/png, 4×3 pixels, \d+ bytes\. It is not shown: m does not support images\.$/,
  );
  assert.equal(blind.files, undefined);
});

test('[P12] for a PDF one sentence says what to do', async (t) => {
  const read = reader(t, { 'a.pdf': Buffer.from('%PDF-1.7\n\0\u00ff') });
  const { text, failed } = await read('a.pdf');
  assert.match(
    text,
    /^a\.pdf is a PDF \(\d+ bytes\), which cannot be shown: extract its text with a command such as pdftotext/,
  );
  assert.equal(failed, true);
});

const cell = (kind: string, source: unknown, outputs?: unknown, count?: number): object => ({
  cell_type: kind,
  source,
  ...(outputs ? { outputs } : {}),
  ...(count === undefined ? {} : { execution_count: count }),
});

const book = JSON.stringify({
  nbformat: 4,
  cells: [
    cell('markdown', ['# Title\n', 'Words.']),
    cell(
      'code',
      'print(1)\nplot()',
      [
        { output_type: 'stream', name: 'stdout', text: ['1\n', '\u001b[31mred\u001b[0m\n'] },
        { output_type: 'display_data', data: { 'image/png': png.toString('base64'), 'text/plain': ['<Figure>'] } },
      ],
      3,
    ),
    cell(
      'code',
      'frame',
      [{ output_type: 'execute_result', data: { 'text/html': ['<table>'], 'text/plain': 'a  b' } }],
      4,
    ),
    cell('code', 'fail()', [
      { output_type: 'error', ename: 'ValueError', evalue: 'no', traceback: ['\u001b[0;31mTraceback\u001b[0m'] },
    ]),
    cell('code', 'chart', [{ output_type: 'display_data', data: { 'application/vnd.chart+json': {} } }]),
    'garbage',
  ],
});

const shown = `[1] markdown
# Title
Words.

[2] code, run as 3
print(1)
plot()
--- output
1
red
--- output
<Figure>
(image 1: image/png)

[3] code, run as 4
frame
--- output
a  b

[4] code
fail()
--- output
ValueError: no
Traceback

[5] code
chart
--- output
(application/vnd.chart+json)
[These are the cells of a notebook; the file itself is JSON.]`;

test('[P12] a notebook is shown by cells with their outputs and images', async (t) => {
  const read = reader(t, { 'a.ipynb': book });
  const { text, files } = await read('a.ipynb');
  assert.equal(text, shown);
  assert.deepEqual(
    files?.map(({ name, data }) => [name, data]),
    [['a.ipynb, image 1', png.toString('base64')]],
  );
  const blind = await read('a.ipynb', false);
  assert.match(blind.text, /\[Image 1 is not shown: m does not support images\. These are the cells/);
  assert.equal(blind.files, undefined);
});

test('[P12] a notebook is paged too, each page with its own images, up to a limit', async (t) => {
  const drawn = { output_type: 'display_data', data: { 'image/png': png.toString('base64') } };
  const cells = Array.from({ length: 6 }, (_, i) => cell('code', `draw(${i})`, [drawn]));
  const read = reader(t, { 'a.ipynb': book, 'many.ipynb': JSON.stringify({ cells }) });
  const piece = await read('a.ipynb', true, { offset: 1, limit: 3 });
  assert.match(
    piece.text,
    /^\[1\] markdown\n# Title\nWords\.\n\[Lines 1-3 of 29\. Continue with offset 4\.\]\n\[These are/,
  );
  assert.equal(piece.files, undefined);
  const many = await read('many.ipynb');
  assert.equal(many.files?.length, 4);
  assert.match(many.text, /Image 5 is not shown: only 4 are shown at once; read fewer lines\. Image 6 is not shown/);
  assert.equal((await read('many.ipynb', true, { offset: 20 })).files?.length, 2);
});

test('[P12] a file that is named like a notebook and is not one is shown as text', async (t) => {
  const read = reader(t, { 'a.ipynb': '{"cells": 1}', 'b.ipynb': '<<<<<<< HEAD\n' });
  assert.equal((await read('a.ipynb')).text, '{"cells": 1}');
  assert.equal((await read('b.ipynb')).text, '<<<<<<< HEAD');
});
