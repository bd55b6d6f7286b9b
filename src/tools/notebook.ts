// Parses a Jupyter notebook: its cells in order, with their text output and images.
import { isObject, stripControlSequences, truncateMiddle } from '../core/index.ts';

/** A notebook as text, and the images that the text refers to by number. */
export type Notebook = { readonly text: string; readonly images: readonly Uint8Array[] };

type RawObject = { readonly [key: string]: unknown };

/** Max characters of one output. */
const maxOutputChars = 4000;

/** Parses a notebook; undefined if the text is not one. */
export function parseNotebook(text: string): Notebook | undefined {
  const cells = parseCells(text);
  if (!cells) return undefined;
  const images: Uint8Array[] = [];
  const cellTexts = cells.map((cell, i) => {
    const outputs = objectList(cell['outputs']).map((each) => formatCellOutput(each, images));
    return [formatCellHeading(cell, i + 1), joinLines(cell['source']), ...outputs]
      .filter((each) => each !== '')
      .join('\n');
  });
  return { text: cellTexts.join('\n\n'), images };
}

/** Notebooks before version 4 stored cells in worksheets. */
function parseCells(text: string): readonly RawObject[] | undefined {
  try {
    const book: unknown = JSON.parse(text);
    return isObject(book) && Array.isArray(book['cells']) ? objectList(book['cells']) : undefined;
  } catch {
    return undefined;
  }
}

const objectList = (value: unknown): readonly RawObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Text is stored as a string or as a list of lines. */
const joinLines = (value: unknown): string =>
  (Array.isArray(value)
    ? value.filter((line) => typeof line === 'string').join('')
    : typeof value === 'string'
      ? value
      : ''
  ).trimEnd();

function formatCellHeading(cell: RawObject, number: number): string {
  const count = cell['execution_count'];
  const kind = typeof cell['cell_type'] === 'string' ? cell['cell_type'] : 'cell';
  return `[${number}] ${kind}${typeof count === 'number' ? `, run as ${count}` : ''}`;
}

function formatCellOutput(output: RawObject, images: Uint8Array[]): string {
  const body =
    output['output_type'] === 'error'
      ? `${joinLines(output['ename'])}: ${joinLines(output['evalue'])}\n${joinLines(output['traceback'])}`
      : output['output_type'] === 'stream'
        ? joinLines(output['text'])
        : formatDisplayData(isObject(output['data']) ? output['data'] : {}, images);
  const shownText = truncateMiddle(stripControlSequences(body).trim(), maxOutputChars);
  return shownText === '' ? '' : `--- output\n${shownText}`;
}

/** Formats display data: its plain text form, and its image as a number. */
function formatDisplayData(data: RawObject, images: Uint8Array[]): string {
  const imageTexts = Object.keys(data).flatMap((type) => {
    if (!type.startsWith('image/') || type === 'image/svg+xml') return [];
    images.push(Buffer.from(joinLines(data[type]), 'base64'));
    return [`(image ${images.length}: ${type})`];
  });
  const plain = joinLines(data['text/plain']) || joinLines(data['text/markdown']) || joinLines(data['text/html']);
  // They are shown only if there is no image.
  const others = Object.keys(data).filter((type) => !type.startsWith('text/'));
  return [plain, ...imageTexts, ...(plain === '' && imageTexts.length === 0 ? others.map((type) => `(${type})`) : [])]
    .filter((each) => each !== '')
    .join('\n');
}
