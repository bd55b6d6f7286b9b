// Datasets of comma-separated values: a header row, and one case per row. Fields may be quoted and contain line breaks.
import { createCaseCollector, parseCaseObject, type EvalCase } from './dataset.ts';
import { isExpectationName } from './expectation.ts';

const hint = 'The first row names the columns, such as id,prompt,contains,number,tags; a field with a comma is quoted.';

/** Parses the cases of comma-separated values; throws an error that names the line of the invalid row. */
export function parseCsvDataset(text: string, name: string): readonly EvalCase[] {
  const cases = createCaseCollector(name, text.length, hint);
  const [header, ...rows] = readRows(text.replace(/^\uFEFF/, ''), (line, why) => cases.refuse(line, why));
  if (!header) return cases.end();
  const columns = header.fields.map((field) => field.trim());
  const unknown = columns.find((column) => !isColumn(column));
  if (unknown !== undefined) cases.refuse(header.line, `there is no column ${JSON.stringify(unknown)}`);
  const twice = columns.find((column, i) => columns.indexOf(column) < i);
  if (twice !== undefined) cases.refuse(header.line, `the column ${JSON.stringify(twice)} is there twice`);
  for (const { line, fields } of rows) {
    if (fields.length !== columns.length)
      cases.refuse(line, `it has ${fields.length} fields and the header has ${columns.length}`);
    cases.add(line, toCase(columns, fields));
  }
  return cases.end();
}

const filePrefix = 'file:';
const caseColumns = ['id', 'prompt', 'tags', 'tools', 'must'];

const isColumn = (column: string): boolean =>
  caseColumns.includes(column) || isExpectationName(column) || (column.startsWith(filePrefix) && column.length > 5);

/** An empty field is an absent one. */
function toCase(columns: readonly string[], fields: readonly string[]): EvalCase | string {
  const value: Record<string, unknown> = {};
  const expect: Record<string, unknown> = {};
  const files: Record<string, string> = {};
  for (const [i, column] of columns.entries()) {
    const field = fields[i] ?? '';
    if (field.trim() === '') continue;
    if (column.startsWith(filePrefix)) files[column.slice(filePrefix.length)] = field;
    else if (column === 'id' || column === 'prompt') value[column] = field;
    else if (column === 'tags') value[column] = field.split(/[\s,;]+/).filter((tag) => tag !== '');
    else if (column === 'tools' || column === 'must') value[column] = toBoolean(field);
    else expect[column] = toExpected(column, field);
  }
  return parseCaseObject({ ...value, files, expect });
}

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
};

const toBoolean = (field: string): unknown => {
  const word = field.trim().toLowerCase();
  return Object.hasOwn(booleans, word) ? booleans[word] : field;
};

/** A field of an expectation: JSON if it is one and is not a pattern, otherwise the text. */
function toExpected(column: string, field: string): unknown {
  if (column === 'abstains') return toBoolean(field);
  const isText = column !== 'number' && column !== 'maxSteps' && !/^\s*[[{]/.test(field);
  if (isText || column === 'matches') return field;
  try {
    return JSON.parse(field);
  } catch {
    return field;
  }
}

type Row = { readonly line: number; readonly fields: readonly string[] };

/** Reads the rows; empty lines are skipped. The separator is a comma, or a semicolon or tab if the header has no comma. */
function readRows(text: string, refuse: (line: number, why: string) => never): readonly Row[] {
  const separator = findSeparator(text);
  const rows: Row[] = [];
  let fields: string[] = [];
  let line = 1;
  let start = 1;
  let at = 0;
  const endRow = (): void => {
    if (fields.length > 1 || fields[0] !== '') rows.push({ line: start, fields });
    fields = [];
  };
  while (at < text.length) {
    if (fields.length === 0) start = line;
    let field: string;
    if (text[at] === '"') {
      const quoted = readQuoted(text, at);
      if (!quoted) return refuse(line, 'a quotation mark is not closed');
      ({ field, end: at } = quoted);
      line += quoted.lines;
      const after = text[at];
      if (after !== undefined && after !== separator && after !== '\n' && after !== '\r')
        return refuse(line, 'there is text after a closing quotation mark');
    } else {
      const end = findFieldEnd(text, at, separator);
      field = text.slice(at, end);
      at = end;
    }
    fields.push(field);
    if (text[at] === separator) {
      at++;
      // A separator at the end of the text is followed by an empty field.
      if (at === text.length) fields.push('');
      else continue;
    }
    if (text[at] === '\r') at++;
    if (text[at] === '\n') at++;
    line++;
    endRow();
  }
  return rows;
}

function findSeparator(text: string): string {
  const end = text.search(/[\r\n]/);
  const header = end === -1 ? text : text.slice(0, end);
  return header.includes(',') ? ',' : header.includes(';') ? ';' : header.includes('\t') ? '\t' : ',';
}

function findFieldEnd(text: string, from: number, separator: string): number {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end++;
  return end;
}

/** Reads a quoted field; a quotation mark in it is written twice. */
function readQuoted(
  text: string,
  from: number,
): { readonly field: string; readonly end: number; readonly lines: number } | undefined {
  const parts: string[] = [];
  let start = from + 1;
  for (;;) {
    const quote = text.indexOf('"', start);
    if (quote === -1) return undefined;
    parts.push(text.slice(start, quote));
    if (text[quote + 1] !== '"') {
      const field = parts.join('"');
      return { field, end: quote + 1, lines: field.split('\n').length - 1 };
    }
    start = quote + 2;
  }
}
