// A Jupyter notebook as a person reads it: its cells in order, each with what it wrote and the pictures it drew.
import { stripVTControlCharacters } from 'node:util';
import { isObject, truncateMiddle } from '../core/index.ts';

/** A notebook in words, and the pictures that its words speak of by number. */
export type Notebook = { readonly text: string; readonly pictures: readonly Uint8Array[] };

type Raw = { readonly [key: string]: unknown };

/** Characters of one output that are shown. */
const mostOfOutput = 4000;

/** The notebook that this text is; nothing where it is none. */
export function notebookIn(text: string): Notebook | undefined {
  const cells = cellsIn(text);
  if (!cells) return undefined;
  const pictures: Uint8Array[] = [];
  const shown = cells.map((cell, i) => {
    const outputs = listIn(cell['outputs']).map((each) => outputText(each, pictures));
    return [heading(cell, i + 1), linesIn(cell['source']), ...outputs].filter((each) => each !== '').join('\n');
  });
  return { text: shown.join('\n\n'), pictures };
}

/** Notebooks before version 4 kept their cells in worksheets. */
function cellsIn(text: string): readonly Raw[] | undefined {
  try {
    const book: unknown = JSON.parse(text);
    return isObject(book) && Array.isArray(book['cells']) ? listIn(book['cells']) : undefined;
  } catch {
    return undefined;
  }
}

const listIn = (value: unknown): readonly Raw[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Texts stand there whole or line by line. */
const linesIn = (value: unknown): string =>
  (Array.isArray(value)
    ? value.filter((line) => typeof line === 'string').join('')
    : typeof value === 'string'
      ? value
      : ''
  ).trimEnd();

function heading(cell: Raw, number: number): string {
  const count = cell['execution_count'];
  const kind = typeof cell['cell_type'] === 'string' ? cell['cell_type'] : 'cell';
  return `[${number}] ${kind}${typeof count === 'number' ? `, run as ${count}` : ''}`;
}

function outputText(output: Raw, pictures: Uint8Array[]): string {
  const body =
    output['output_type'] === 'error'
      ? `${linesIn(output['ename'])}: ${linesIn(output['evalue'])}\n${linesIn(output['traceback'])}`
      : output['output_type'] === 'stream'
        ? linesIn(output['text'])
        : dataText(isObject(output['data']) ? output['data'] : {}, pictures);
  const told = truncateMiddle(stripVTControlCharacters(body).trim(), mostOfOutput);
  return told === '' ? '' : `--- output\n${told}`;
}

/** One thing in several forms: the plain one is told, and a picture numbered. */
function dataText(data: Raw, pictures: Uint8Array[]): string {
  const drawn = Object.keys(data).flatMap((type) => {
    if (!type.startsWith('image/') || type === 'image/svg+xml') return [];
    pictures.push(Buffer.from(linesIn(data[type]), 'base64'));
    return [`(picture ${pictures.length}: ${type})`];
  });
  const plain = linesIn(data['text/plain']) || linesIn(data['text/markdown']) || linesIn(data['text/html']);
  const others = Object.keys(data).filter(
    (type) => !type.startsWith('text/') && !drawn.some((each) => each.includes(type)),
  );
  return [plain, ...drawn, ...(plain === '' && drawn.length === 0 ? others.map((type) => `(${type})`) : [])]
    .filter((each) => each !== '')
    .join('\n');
}
