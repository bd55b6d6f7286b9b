// The read_file tool: text unchanged, so that it can be copied into an edit; images for models with vision; notebooks by cell.
import {
  FairleadError,
  toolOutput,
  escapeInvisible,
  escapeInvisibleLine,
  type FileContent,
  type FilePart,
  type ToolOutput,
  type Provider,
  type Tool,
  type Workspace,
} from '../core/index.ts';
import { parseImage } from './image.ts';
import { imageFilePart, maxShownImages, notShownReason } from './shown-image.ts';
import { notTextError, displayText } from './text.ts';

const maxLines = 2000;
const maxChars = 50_000;

/** Creates the read_file tool. */
export const readFile = (workspace: Workspace): Tool => ({
  name: 'read_file',
  description: 'Read a file: text, image or notebook. Long files come in parts: continue with offset.',
  input: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      offset: { type: 'integer', minimum: 1, description: 'First line, from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'Number of lines.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  effect: 'read',
  untrustedOutput: true,
  async execute(input, { agent }) {
    const { path, ...range } = input as { path: string } & LineRange;
    const content = await workspace.read(path);
    const source = { path: content.path, hash: content.hash };
    const { text } = content;
    if (text === undefined) return imageOutput(path, content, agent?.provider);
    if (/\.ipynb$/i.test(content.path)) {
      const { parseNotebook } = await import('./notebook.ts');
      const book = parseNotebook(text);
      if (book) return notebookOutput(book, { path, range, source, provider: agent?.provider });
    }
    return excerptOutput(displayText(text), range, source);
  },
});

type LineRange = { readonly offset?: number; readonly limit?: number };
type FileSource = { readonly path: string; readonly hash: string };

/** Returns an image, or a sentence that says what the file is instead and what to do. */
function imageOutput(path: string, content: FileContent, provider: Provider | undefined): ToolOutput {
  const { bytes, hash } = content;
  const name = escapeInvisibleLine(path);
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-')
    throw new FairleadError(
      'tool/not-text',
      `${name} is a PDF (${bytes.length} bytes), which cannot be shown: extract its text with a command such as pdftotext, of the package poppler-utils.`,
      { blame: 'model' },
    );
  const image = parseImage(bytes);
  if (!image) throw notTextError(path, bytes.length);
  const { mediaType, width, height } = image;
  const description = `${name}: ${mediaType}, ${width}×${height} pixels, ${bytes.length} bytes.`;
  const why = notShownReason(image, bytes.length, provider);
  if (why !== undefined) return toolOutput({ failed: true, text: `${description} It is not shown: ${why}.` });
  return toolOutput({
    text: description,
    data: { path: content.path, hash, mediaType, width, height },
    files: [imageFilePart(bytes, image, name)],
  });
}

type NotebookRead = {
  readonly path: string;
  readonly range: LineRange;
  readonly source: FileSource;
  readonly provider: Provider | undefined;
};

function notebookOutput(
  { text, images }: { readonly text: string; readonly images: readonly Uint8Array[] },
  { path, range, source, provider }: NotebookRead,
): ToolOutput {
  const excerpt = excerptOutput(text, range, source);
  const numbers = new Set([...excerpt.text.matchAll(/^\(image (\d+): /gm)].map((found) => Number(found[1])));
  const files: FilePart[] = [];
  const notices: string[] = [];
  for (const [i, bytes] of images.entries()) {
    if (!numbers.has(i + 1)) continue;
    const image = parseImage(bytes);
    const why = !image
      ? 'it is not an image'
      : (notShownReason(image, bytes.length, provider) ??
        (files.length < maxShownImages ? undefined : `only ${maxShownImages} are shown at once; read fewer lines`));
    if (image && why === undefined)
      files.push(imageFilePart(bytes, image, `${escapeInvisibleLine(path)}, image ${i + 1}`));
    else notices.push(`Image ${i + 1} is not shown: ${why}.`);
  }
  notices.push('These are the cells of a notebook; the file itself is JSON.');
  return toolOutput({
    ...excerpt,
    text: `${excerpt.text}\n[${notices.join(' ')}]`,
    ...(files.length ? { files } : {}),
  });
}

function excerptOutput(text: string, { offset = 1, limit = maxLines }: LineRange, source: FileSource): ToolOutput {
  if (text === '') return toolOutput({ text: '(The file is empty.)', data: { ...source, lines: 0 } });
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length)
    return toolOutput({ failed: true, text: `There is no line ${offset}: the file has ${lines.length} lines.` });
  const { shown, cut } = fitLines(lines.slice(offset - 1, offset - 1 + Math.min(limit, maxLines)));
  const end = offset + shown.length - 1;
  const body = shown.join('\n');
  const escaped = escapeInvisible(body);
  const notices = [
    ...(cut ? [`Line ${end} is very long and was truncated.`] : []),
    ...(escaped === body ? [] : ['Invisible characters are written as <U+…> or ␛.']),
    ...(offset === 1 && end === lines.length ? [] : [`Lines ${offset}-${end} of ${lines.length}.`]),
    ...(end < lines.length ? [`Continue with offset ${end + 1}.`] : []),
  ];
  const tail = notices.length ? `\n[${notices.join(' ')}]` : '';
  return toolOutput({ text: escaped + tail, data: { ...source, from: offset, to: end, lines: lines.length } });
}

/** Returns as many complete lines as fit; if the first line is too long, its start. */
function fitLines(lines: readonly string[]): { readonly shown: readonly string[]; readonly cut: boolean } {
  let remainingChars = maxChars;
  const count = lines.findIndex((line) => (remainingChars -= line.length + 1) < 0);
  if (count < 0) return { shown: lines, cut: false };
  if (count > 0) return { shown: lines.slice(0, count), cut: false };
  return { shown: [(lines[0] ?? '').slice(0, maxChars)], cut: true };
}
