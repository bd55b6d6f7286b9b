// Markdown of a model as a tree of plain data: no HTML is ever read, so nothing in the text can become part of the page.
import { inlinesOf, type Inline } from './inline.ts';

/** A block of a text. */
export type Block =
  | { readonly type: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly start?: number; readonly items: readonly (readonly Block[])[] }
  | {
      readonly type: 'table';
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly type: 'rule' };

/** Lists and quotes inside each other beyond this are taken as words: a hostile text must not exhaust the stack. */
const deepest = 8;

/** The blocks of a text. A fence that is still open, as while an answer streams in, is code to the end. */
export const blocksOf = (text: string): readonly Block[] => read(text.replaceAll('\r\n', '\n').split('\n'), 0);

/** What stands after the marks names the language; with marks in it, the line is no fence but code within words. */
const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/;
const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const thematic = /^ {0,3}([-*_])\s*(?:\1\s*){2,}$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const divider = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

function read(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') at += 1;
    else {
      const found = special(lines, at, depth) ?? paragraph(lines, at, depth);
      blocks.push(found.block);
      at = found.next;
    }
  }
  return blocks;
}

type Found = { readonly block: Block; readonly next: number };

function special(lines: readonly string[], at: number, depth: number): Found | undefined {
  const line = lines[at] ?? '';
  const title = heading.exec(line);
  if (fence.test(line)) return code(lines, at);
  if (title)
    return {
      block: { type: 'heading', level: title[1]?.length ?? 1, inlines: inlinesOf(title[2] ?? '') },
      next: at + 1,
    };
  if (thematic.test(line)) return { block: { type: 'rule' }, next: at + 1 };
  if (isTable(lines, at)) return table(lines, at);
  if (depth >= deepest) return undefined;
  if (quote.test(line)) return quoted(lines, at, depth);
  return item.test(line) ? list(lines, at, depth) : undefined;
}

/** Whether a paragraph ends before this line. */
function ends(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at] ?? '';
  if (line.trim() === '' || fence.test(line) || heading.test(line) || thematic.test(line)) return true;
  return isTable(lines, at) || (depth < deepest && (quote.test(line) || item.test(line)));
}

const isTable = (lines: readonly string[], at: number): boolean =>
  (lines[at] ?? '').includes('|') && (lines[at + 1] ?? '').includes('-') && divider.test(lines[at + 1] ?? '');

function code(lines: readonly string[], at: number): Found {
  const [, marks = '', language = ''] = fence.exec(lines[at] ?? '') ?? [];
  const closing = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}\\s*$`);
  const end = lines.findIndex((line, i) => i > at && closing.test(line));
  const inside = lines.slice(at + 1, end < 0 ? undefined : end);
  return { block: { type: 'code', language, text: inside.join('\n') }, next: end < 0 ? lines.length : end + 1 };
}

function quoted(lines: readonly string[], at: number, depth: number): Found {
  let next = at;
  while (next < lines.length && quote.test(lines[next] ?? '')) next += 1;
  const inside = lines.slice(at, next).map((line) => line.replace(quote, ''));
  return { block: { type: 'quote', blocks: read(inside, depth + 1) }, next };
}

/** The items of a list: an item goes on as long as its lines are indented to its words, or empty. */
function list(lines: readonly string[], at: number, depth: number): Found {
  const first = item.exec(lines[at] ?? '')?.[2] ?? '-';
  const isSame = (mark: string): boolean => /\d/.test(mark) === /\d/.test(first);
  const items: (readonly Block[])[] = [];
  let next = at;
  while (next < lines.length) {
    const found = item.exec(lines[next] ?? '');
    if (!found || thematic.test(lines[next] ?? '') || !isSame(found[2] ?? '')) break;
    const indent = found[0].length;
    const inside = [(lines[next] ?? '').slice(indent)];
    for (next += 1; next < lines.length && belongs(lines, next, indent); next += 1)
      inside.push((lines[next] ?? '').slice(Math.min(indent, indentOf(lines[next] ?? ''))));
    items.push(read(inside, depth + 1));
  }
  const start = /^\d/.test(first) ? Number.parseInt(first, 10) : undefined;
  return { block: { type: 'list', ...(start === undefined ? {} : { start }), items }, next };
}

function belongs(lines: readonly string[], at: number, indent: number): boolean {
  const line = lines[at] ?? '';
  if (line.trim() === '')
    return indentOf(lines[at + 1] ?? '') >= Math.min(indent, 2) && (lines[at + 1] ?? '').trim() !== '';
  if (indentOf(line) >= Math.min(indent, 2)) return true;
  return (lines[at - 1] ?? '').trim() !== '' && !item.test(line) && !interrupts(line);
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

const interrupts = (line: string): boolean =>
  fence.test(line) || heading.test(line) || thematic.test(line) || quote.test(line);

function table(lines: readonly string[], at: number): Found {
  let next = at + 2;
  while (next < lines.length && (lines[next] ?? '').includes('|')) next += 1;
  const rows = [at, ...Array.from({ length: next - at - 2 }, (_, i) => at + 2 + i)].map((i) => cells(lines[i] ?? ''));
  const [head = [], ...body] = rows;
  return { block: { type: 'table', head, rows: body }, next };
}

const cells = (line: string): readonly (readonly Inline[])[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inlinesOf(cell.trim().replaceAll('\\|', '|')));

function paragraph(lines: readonly string[], at: number, depth: number): Found {
  let next = at + 1;
  while (next < lines.length && !ends(lines, next, depth)) next += 1;
  const words = lines
    .slice(at, next)
    .map((line) => line.trim())
    .join('\n');
  return { block: { type: 'paragraph', inlines: inlinesOf(words) }, next };
}
